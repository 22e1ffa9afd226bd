package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/fbo-node/fbo/evaluator"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// runOptions are the flags of run.
type runOptions struct {
	dir          string
	evals        int
	parallel     int
	trialTimeout time.Duration
	listen       []string
	peers        []string
	hubs         []string
	mdns         bool
	allow        string
	imports      importFlags
	suggest      string
	seed         uint64
	seeded       bool
	json         bool
	metrics      string
	logLevel     string
}

func newRun() *cobra.Command {
	var o runOptions
	command := &cobra.Command{
		Use:   "run TASK [flags] -- COMMAND [ARGS…]",
		Short: "Tune the objective that COMMAND measures, together with peers",
		Long: `Tune the objective that COMMAND measures, together with the peers on the same task.

COMMAND runs once per trial. It finds the parameters as {name} in its arguments,
as FBO_PARAM_<NAME> and, as one JSON object, FBO_PARAMS in its environment. The
last non-empty line that it prints must be a number, or an object such as
{"value": 0.25}. Anything else, a non-zero exit code or a timeout makes the trial
failed; its standard error is kept in the data directory.

Ctrl-C stops cleanly; the same command continues where it stopped.`,
		Example: `  fbo-node run task.yaml --evals 50 -- python train.py --lr {learning_rate}
  fbo-node run task.yaml --peer /ip4/192.0.2.7/udp/4001/quic-v1/p2p/12D3Koo… -- ./measure`,
		Args: runArguments,
		RunE: func(command *cobra.Command, args []string) error {
			o.seeded = command.Flags().Changed("seed")
			return o.run(command.Context(), args[0], args[1:])
		},
	}
	flags := command.Flags()
	addDataDir(command, &o.dir)
	flags.IntVar(&o.evals, "evals", 0, "evaluations by this node in all, earlier runs included (default: until Ctrl-C)")
	flags.IntVar(&o.parallel, "parallel", 1, "evaluations at the same time")
	flags.DurationVar(&o.trialTimeout, "trial-timeout", 0, "stop an evaluation after this time, such as 10m (default: never)")
	flags.StringArrayVar(&o.listen, "listen", nil, "multiaddress to listen on, repeatable (default: the ports of the last start, at first any free ones, by QUIC and TCP)")
	flags.StringArrayVar(&o.peers, "peer", nil, "address of another node, as it prints it, repeatable")
	flags.StringArrayVar(&o.hubs, "hub", nil, "address of a hub, as it prints it, through which nodes find and reach each other, repeatable")
	flags.BoolVar(&o.mdns, "mdns", true, "find nodes on the local network")
	addAllow(command, &o.allow)
	o.imports.add(flags)
	flags.StringVar(&o.suggest, "suggest", "", "file of designs that you hold for good, .csv or .json, for the strategies constrained-gp and density")
	flags.Uint64Var(&o.seed, "seed", 0, "make this node's random decisions repeatable (default: different every time)")
	flags.BoolVar(&o.json, "json", false, "print one JSON object per event")
	flags.StringVar(&o.metrics, "metrics", "", "serve Prometheus metrics at this address, such as 127.0.0.1:9464 (default: not)")
	addLogLevel(command, &o.logLevel)
	return command
}

func runArguments(command *cobra.Command, args []string) error {
	dash := command.ArgsLenAtDash()
	switch {
	case len(args) == 0 || dash == 0:
		return usagef("run: the task file is missing: %s", command.UseLine())
	case dash < 0 && len(args) == 1, dash == len(args):
		return usagef("run: the command is missing; write it after --, as in `fbo-node run %s -- ./measure {x}`", args[0])
	case dash != 1:
		return usagef("run: write one task file, then --, then the command: %s", command.UseLine())
	}
	return nil
}

func (o runOptions) validate() error {
	switch {
	case o.evals < 0:
		return usagef("--evals %d: accepted are 1 and more (0: until Ctrl-C)", o.evals)
	case o.parallel < 1:
		return usagef("--parallel %d: accepted are 1 and more", o.parallel)
	case o.trialTimeout < 0:
		return usagef("--trial-timeout %v: accepted are positive times (0: never)", o.trialTimeout)
	}
	if _, err := node.ParsePeers(o.peers); err != nil {
		return usagef("--peer: %w", err)
	}
	if _, err := node.ParseHubs(o.hubs); err != nil {
		return usagef("--hub: %w", err)
	}
	if err := node.CheckListen(o.listen); err != nil {
		return usagef("--listen: %w", err)
	}
	if err := checkMetricsAddress(o.metrics); err != nil {
		return err
	}
	return setLogLevel(o.logLevel)
}

// run checks everything that the user gave before it touches the network.
func (o runOptions) run(ctx context.Context, file string, args []string) error {
	if err := o.validate(); err != nil {
		return err
	}
	allowed, err := readAllow(o.allow)
	if err != nil {
		return err
	}
	t, err := readTask(file)
	if err != nil {
		return err
	}
	dir, err := resolveDataDir(o.dir)
	if err != nil {
		return err
	}
	command, err := evaluator.New(t.Space, args, filepath.Join(dir, "trials", t.ID().String()))
	if err != nil {
		return usageError{err}
	}
	earlier, err := o.imports.read(t.Space)
	if err != nil {
		return err
	}
	suggested, err := o.suggestions(t)
	if err != nil {
		return usageError{err}
	}
	show := newProgress(os.Stdout, t, o.json)
	n := &node.Node{
		Dir: dir, Listen: o.listen, Peers: o.peers, Hubs: o.hubs, MDNS: o.mdns, Allow: allowed, Log: logger(), OnWarning: show.warning,
	}
	err = o.tune(ctx, t, n, command, o.join(show, suggested), earlier, show)
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		show.interrupted()
		return nil
	}
	return err
}

func (o runOptions) tune(ctx context.Context, t *task.Task, n *node.Node, command *evaluator.Command, join node.JoinOptions, earlier imported, show *progress) (err error) {
	var metrics *metricsServer
	if o.metrics != "" {
		if metrics, err = serveMetrics(o.metrics); err != nil {
			return err
		}
		defer metrics.close()
		n.Metrics = metrics.registry
	}
	if err := n.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.Close()) }()
	session, err := n.Join(ctx, t, join)
	if err != nil {
		return err
	}
	defer func() {
		// A session that failed says so again; once is enough.
		if closed := session.Close(); closed != nil && !errors.Is(err, closed) {
			err = errors.Join(err, closed)
		}
	}()
	stopControl, err := serveControl(n.Dir, session)
	if err != nil {
		show.warning(fmt.Sprintf("status and history cannot be asked for while this node runs: %v", err))
	} else {
		defer stopControl()
	}
	show.started(n)
	if metrics != nil {
		show.metrics(metrics.url())
	}
	if added, err := session.Import(ctx, earlier.trials); err != nil {
		return err
	} else if earlier.file != "" {
		show.imported(earlier, added)
	}
	watching, stopWatching := context.WithCancel(ctx)
	defer stopWatching()
	go show.watch(watching, session, o.mdns || len(o.peers)+len(o.hubs) > 0)

	ended := session.RunTrials(ctx, o.evaluate(command), node.RunOptions{
		Evals: o.evals, Parallel: o.parallel, TrialTimeout: o.trialTimeout,
	})
	stopWatching()
	if ended == nil {
		show.budgetSpent(o.evals)
	}
	if err := show.summary(context.WithoutCancel(ctx), session); err != nil && !errors.Is(ended, err) {
		return errors.Join(ended, err)
	}
	return ended
}

// suggestions reads what the user holds for good.
func (o runOptions) suggestions(t *task.Task) ([]task.Design, error) {
	switch {
	case o.suggest == "":
		return nil, nil
	case !slices.Contains([]string{"constrained-gp", "density"}, t.Strategy.Type):
		return nil, fmt.Errorf("--suggest: the task's strategy is %s; suggested designs are used by constrained-gp and density", t.Strategy.Type)
	}
	return readSuggestions(o.suggest, t.Space)
}

func (o runOptions) join(show *progress, suggested []task.Design) node.JoinOptions {
	options := node.JoinOptions{Suggested: suggested, OnEvent: show.event}
	if o.seeded {
		options.Seed = &o.seed
	}
	return options
}

func (o runOptions) evaluate(command *evaluator.Command) node.Evaluator {
	return func(ctx context.Context, trial strategy.Trial) (strategy.Outcome, error) {
		result, err := command.Evaluate(ctx, trial.ID, trial.Design)
		return strategy.Outcome{Value: result.Value, Constraints: result.Constraints}, err
	}
}
