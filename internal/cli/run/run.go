// Package run contains the commands that start a node or a hub, and the servers beside them: run,
// serve, keep, hub, web.
package run

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/past"
	"github.com/fbo-node/fbo/internal/cli/trialfile"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// options are the flags of run.
type options struct {
	dir              string
	evals            int
	maxObservations  int
	evalsGiven       bool
	cost             float64
	costGiven        bool
	stopRegret       float64
	stopGiven        bool
	timeLimit        time.Duration
	timeGiven        bool
	maxFailures      int
	maxFailuresGiven bool
	parallel         int
	trialTimeout     time.Duration
	worker           bool
	network          networkOptions
	invite           string
	wait             time.Duration
	keepAfter        bool
	imports          trialfile.Flags
	priorDesigns     string
	enqueue          string
	seed             uint64
	seeded           bool
	json             bool
	metrics          string
	page             string
	logLevel         string

	joined *joined // what a string of join names; nil: run
}

// New returns the command run.
func New() *cobra.Command {
	var o options
	command := &cobra.Command{
		Use:   "run TASK [flags] -- COMMAND [ARGS…]",
		Short: "Tune the objective that COMMAND measures, together with peers",
		Long: `Tune the objective that COMMAND measures, together with the peers on the same task.

COMMAND runs once per trial. It finds the parameters as {name} in its arguments,
as FBO_PARAM_<NAME> and, as one JSON object, FBO_PARAMS in its environment. The
last non-empty line that it prints must be a number, or an object such as
{"value": 0.25}. Anything else, a non-zero exit code or a timeout makes the trial
failed; fbo-node log shows what it printed.

With --worker COMMAND is started once and stays. It reads one JSON line per trial,
{"trial": 7, "parameters": {…}}, and answers with one: {"trial": 7, "value": 0.25}.

Before its result COMMAND may print values by step, {"step": 3, "value": 0.41}. The
section stop of the task file stops evaluations early that are worse than others.

With "cost" in the result, {"value": 0.25, "cost": 3.5}, or in values by step, the
trial has a cost in a unit of yours, such as seconds or euros, and --cost limits the sum.

The run ends at --evals, --cost, --for or --stop-regret, whichever comes first, or with
Ctrl-C; the same command continues where it stopped.`,
		Example: `  fbo-node run task.yaml --evals 50 -- python train.py --lr {learning_rate}
  fbo-node run task.yaml --evals 50 --worker -- python worker.py
  fbo-node run task.yaml --peer /ip4/192.0.2.7/udp/4001/quic-v1/p2p/12D3Koo… -- ./measure`,
		Args: runArguments,
		RunE: func(command *cobra.Command, args []string) error {
			o.note(command)
			return o.run(command.Context(), args[0], args[1:])
		},
	}
	o.add(command)
	base.AddInvite(command, &o.invite)
	return command
}

// note records which flags are set, where the value alone does not show it.
func (o *options) note(command *cobra.Command) {
	given := command.Flags().Changed
	o.seeded, o.evalsGiven, o.maxFailuresGiven = given("seed"), given("evals"), given("max-failures")
	o.stopGiven, o.timeGiven, o.costGiven = given("stop-regret"), given("for"), given("cost")
}

// add adds the flags that run and join have in common.
func (o *options) add(command *cobra.Command) {
	flags := command.Flags()
	base.AddDataDir(command, &o.dir)
	flags.IntVar(&o.evals, "evals", 0, "evaluations with an outcome or stopped early by this node in all, earlier runs included; 0: none (default: until Ctrl-C)")
	flags.Float64Var(&o.cost, "cost", 0, "start no evaluation once the costs that this node's evaluations report reach this, earlier runs included (default: no limit)")
	flags.DurationVar(&o.timeLimit, "for", 0, "start no evaluation later than this after the beginning of this run, such as 8h; running ones end as usual (default: never)")
	flags.Float64Var(&o.stopRegret, "stop-regret", 0, "end when the best design lacks at most this of the best there is, in the objective's units, as far as this node's model knows (default: never)")
	flags.IntVar(&o.maxFailures, "max-failures", 0, "stop after this many failed evaluations in this run (default: when the first 10 fail, later 20 in a row that were expected to complete)")
	flags.IntVar(&o.parallel, "parallel", 1, "evaluations at the same time")
	flags.DurationVar(&o.trialTimeout, "trial-timeout", 0, "stop an evaluation after this time, such as 10m (default: never)")
	flags.BoolVar(&o.worker, "worker", false, "COMMAND stays and evaluates one trial after the other, each a line of its standard input")
	addNetwork(command, &o.network)
	flags.DurationVar(&o.wait, "wait-for-peers", node.DefaultWait, "time that the first design of a new node waits at most for what peers know; 0: not at all")
	flags.BoolVar(&o.keepAfter, "keep-after", false, "after the evaluations store and send shares as a keeper, until Ctrl-C")
	o.imports.Add(flags)
	flags.StringVar(&o.priorDesigns, "prior-designs", "", "file of designs that you expect to be good, .csv or .json, for the strategies "+strings.Join(priorDesignStrategies(), " and "))
	flags.StringVar(&o.enqueue, "enqueue", "", "file of designs to evaluate first, such as your current settings, .csv or .json")
	addMaxObservations(flags, &o.maxObservations)
	flags.Uint64Var(&o.seed, "seed", 0, "make this node's random decisions repeatable (default: different every time)")
	flags.BoolVar(&o.json, "json", false, "print one JSON object per event")
	flags.StringVar(&o.metrics, "metrics", "", "serve Prometheus metrics at this address, such as 127.0.0.1:9464 (default: not)")
	addPage(flags, &o.page)
	base.AddLogLevel(command, &o.logLevel)
	base.FromEnvironment(command, "evals", "cost", "for", "max-failures", "parallel", "trial-timeout", "wait-for-peers", "keep-after", "max-observations", "json", "metrics", "web")
}

func runArguments(command *cobra.Command, args []string) error {
	return checkArguments(command, args, "task file", "task")
}

// checkArguments checks the arguments of run or join: one argument, which errors name, --, a command.
func checkArguments(command *cobra.Command, args []string, missing, one string) error {
	name, dash := command.Name(), command.ArgsLenAtDash()
	switch {
	case len(args) == 0 || dash == 0:
		return base.Usagef("%s: the %s is missing: %s", name, missing, command.UseLine())
	case dash < 0 && len(args) == 1, dash == len(args):
		return base.Usagef("%s: the command is missing; write it after --, as in `fbo-node %s %s -- ./measure {x}`", name, name, shown(args[0]))
	case dash < 0:
		return base.Usagef("%s: -- is missing before the command: write `fbo-node %s %s -- %s`", name, name, shown(args[0]), strings.Join(args[1:], " "))
	case dash != 1:
		return base.Usagef("%s: write one %s, then --, then the command: %s%s", name, one, command.UseLine(), base.Surplus(args[1:dash]))
	}
	return nil
}

// shown returns an argument for an error, which must not quote the secret of a string.
func shown(argument string) string {
	if strings.HasPrefix(strings.ToLower(argument), "fbo-join-") {
		return "STRING"
	}
	return argument
}

func (o options) validate() error {
	switch {
	case o.evals < 0:
		return base.Usagef("--evals %d: expected 0 or more (without --evals: until Ctrl-C)", o.evals)
	case o.stopGiven && !(o.stopRegret > 0 && !math.IsInf(o.stopRegret, 1)):
		return base.Usagef("--stop-regret %g: expected numbers above 0, in the objective's units", o.stopRegret)
	case o.costGiven && !(o.cost > 0 && !math.IsInf(o.cost, 1)):
		return base.Usagef("--cost %g: expected numbers above 0, in the unit of the costs that the command reports", o.cost)
	case o.timeGiven && o.timeLimit <= 0:
		return base.Usagef("--for %v: expected times above 0 such as 90s, 30m or 8h", o.timeLimit)
	case o.maxFailuresGiven && o.maxFailures < 1:
		return base.Usagef("--max-failures %d: expected 1 or more", o.maxFailures)
	case o.parallel < 1:
		return base.Usagef("--parallel %d: expected 1 or more", o.parallel)
	case o.trialTimeout < 0:
		return base.Usagef("--trial-timeout %v: expected positive times (0: never)", o.trialTimeout)
	case o.wait < 0:
		return base.Usagef("--wait-for-peers %v: expected positive times such as 10s (0: not at all)", o.wait)
	case o.keepAfter && !o.evalsGiven && !o.costGiven && !o.stopGiven && !o.timeGiven:
		return base.Usagef("--keep-after needs --evals, --cost, --for or --stop-regret, without which the evaluations do not end")
	}
	if err := checkMaxObservations(o.maxObservations); err != nil {
		return err
	}
	if err := o.network.validate(); err != nil {
		return err
	}
	if err := checkMetricsAddress(o.metrics); err != nil {
		return err
	}
	if err := checkPage(o.page); err != nil {
		return err
	}
	return base.SetLogLevel(o.logLevel)
}

// run checks all user input before it uses the network.
func (o options) run(ctx context.Context, file string, args []string) error {
	if err := o.validate(); err != nil {
		return err
	}
	allowed, err := base.ReadAllow(o.network.allow)
	if err != nil {
		return err
	}
	t, err := o.findTask(ctx, file)
	if err != nil {
		return err
	}
	if l := t.Space.Listing(); l.Absent() {
		return base.Usagef("%s: it has the digest of a table of %s and not the table, which a node needs to choose: take the task file that names it", file, sanitize.Count(l.Len(), "design"))
	}
	if o.stopGiven && t.Several() {
		return base.Usagef("--stop-regret: the task has %d objectives, which have no single best design; expected a task with one", len(t.Objectives))
	}
	if o.stopGiven && t.Constrained() {
		return base.Usagef("--stop-regret: the task has constraints, of which the bound of the regret takes no notice; expected tasks without")
	}
	dir, err := base.ResolveDataDir(o.dir)
	if err != nil {
		return err
	}
	if err := checkRoster(t, dir); err != nil {
		return err
	}
	if err := o.network.recall(dir, t); err != nil {
		return err
	}
	show := newDisplay(os.Stdout, t, o.json)
	program, err := o.prepare(t, dir, args)
	if err != nil {
		return err
	}
	defer program.end()
	earlier, err := o.imports.Read(t)
	if err != nil {
		return err
	}
	join, err := o.join(t)
	if err != nil {
		return base.BadUsage(err)
	}
	show.disclosed = past.FindDisclosures(ctx, dir, t, earlier.Trials)
	n := o.network.node(dir, allowed, show.Warning)
	n.MaxObservations = o.maxObservations
	join.OnEvent, join.OnFailure = show.Event, endsCommand
	if file == "-" {
		file = t.ID().String()
	}
	err = o.explainGivingUp(file, t, o.tune(ctx, t, n, program, join, earlier, show))
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		show.interrupted()
		return nil
	}
	return err
}

// findTask returns the task that join has received, or that the argument of run names.
func (o options) findTask(ctx context.Context, wanted string) (*task.Task, error) {
	if o.joined != nil {
		return o.joined.task, nil
	}
	return past.FindTask(ctx, o.dir, wanted)
}

func (o options) tune(ctx context.Context, t *task.Task, n *node.Node, program prepared, join node.JoinOptions, earlier trialfile.Imported, show *display) (err error) {
	m, err := takePart(ctx, n, t, join, o.metrics, o.page, show)
	defer func() { err = m.close(err) }()
	if err != nil {
		return err
	}
	session := m.session
	show.started(ctx, n, session)
	show.continued(session)
	if o.evalsGiven && o.evals > 0 {
		show.budget(t, o.evals)
	}
	if err := show.resumes(ctx, session, o); err != nil {
		return err
	}
	if m.metrics != nil {
		show.metrics(m.metrics.url())
	}
	if m.page != "" {
		show.page(m.page)
	}
	if added, err := session.Import(ctx, earlier.Trials); err != nil {
		return err
	} else if earlier.File != "" {
		show.imported(earlier, added)
	}
	if err := show.standing(ctx, session, o); err != nil {
		return err
	}
	defer show.Leave()
	watching, stopWatching := context.WithCancel(ctx)
	defer stopWatching()
	go show.watch(watching, session, o.network.seeks())

	ended := o.runTrials(ctx, session, program.by(session.Report, show.Warning))
	if ended == nil {
		ended = errors.Join(show.whyEnded(ctx, session, o), settle(ctx, session))
	}
	stopWatching()
	if err := show.summary(ctx, session); err != nil && !errors.Is(ended, err) {
		return errors.Join(ended, err)
	}
	if ended == nil && o.keepAfter {
		return keepAfter(ctx, session, show)
	}
	return ended
}

// runTrials evaluates trials until the run ends.
func (o options) runTrials(ctx context.Context, session *node.Session, evaluate node.Evaluator) error {
	if o.evalsGiven && o.evals == 0 { // RunOptions interprets 0 as no limit
		return ctx.Err()
	}
	return session.RunTrials(ctx, evaluate, node.RunOptions{
		Evals: o.evals, Cost: o.cost, StopRegret: o.stopRegret, TimeLimit: o.timeLimit, MaxFailures: o.maxFailures, Parallel: o.parallel, TrialTimeout: o.trialTimeout,
	})
}

// explainGivingUp adds to the error of a run that gave up where to look and how to continue.
func (o options) explainGivingUp(file string, t *task.Task, err error) error {
	if errors.Is(err, node.ErrNoCost) {
		return fmt.Errorf("--cost %g: the evaluations of this run have ended without a cost; expected a last line such as {\"value\": 0.25, \"cost\": 3.5}, or values by step such as {\"step\": 3, \"value\": 0.41, \"cost\": 1.2}", o.cost)
	}
	var gaveUp *node.GaveUpError
	if !errors.As(err, &gaveUp) {
		return err
	}
	look := fmt.Sprintf("fbo-node log %s %d", base.ShellQuote(file), gaveUp.Trial)
	if o.dir != "" {
		look += " --data-dir " + base.ShellQuote(o.dir)
	}
	help := "the same command tries again, --max-failures N lets more fail"
	if t.Failures == task.IgnoreFailures && gaveUp.Worked {
		help += "; without failures: ignore in the task file designs where evaluations fail are avoided"
	}
	return fmt.Errorf("%w; `%s` shows its output; %s", err, look, help)
}

// priorDesignStrategies returns the names of the strategies that use prior designs.
func priorDesignStrategies() (names []string) {
	for _, r := range all.Strategies() {
		if r.PriorDesigns {
			names = append(names, r.Name)
		}
	}
	return names
}

// readPriorDesigns reads the designs that the user expects to be good.
func (o options) readPriorDesigns(t *task.Task) ([]task.Design, error) {
	switch {
	case o.priorDesigns == "":
		return nil, nil
	case !base.RegistrationOf(t).PriorDesigns:
		return nil, fmt.Errorf("--prior-designs: the task's strategy is %s; prior designs are used by %s", t.Strategy.Type, strings.Join(priorDesignStrategies(), " and "))
	}
	return trialfile.ReadDesigns("prior-designs", o.priorDesigns, t.Space)
}

// join returns the options of the flags about the node's part in the task.
func (o options) join(t *task.Task) (options node.JoinOptions, err error) {
	if options.Wait = o.wait; o.wait == 0 {
		options.Wait = -1 // in JoinOptions, 0 means the default
	}
	options.Importing = o.imports.File != ""
	if o.seeded {
		options.Seed = &o.seed
	}
	if o.joined != nil {
		options.Invitation = o.joined.invitation
	} else if options.Invitation, err = base.ReadInvite(o.invite, t); err != nil {
		return options, err
	}
	if options.PriorDesigns, err = o.readPriorDesigns(t); err != nil || o.enqueue == "" {
		return options, err
	}
	options.Enqueue, err = trialfile.ReadDesigns("enqueue", o.enqueue, t.Space)
	return options, err
}
