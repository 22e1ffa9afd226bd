package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// demoTask is an ordinary task file, but for the strategy.
//
//go:embed demo.yaml
var demoTask []byte

// demoStrategies are those that listen to peers and need neither a promise of privacy nor a
// roster: the nodes of the demo have no names before they run.
func demoStrategies() (names []string) {
	for _, r := range all.Strategies() {
		if r.Exchanges != nil && !r.Private && !r.Roster {
			names = append(names, r.Name)
		}
	}
	return names
}

type demoOptions struct {
	nodes    int
	evals    int
	seed     uint64
	strategy string
	dir      string
	json     bool
}

func newDemo() *cobra.Command {
	var o demoOptions
	command := &cobra.Command{
		Use:   "demo",
		Short: "Watch several nodes on this machine tune a real training together",
		Long: `demo starts several nodes as separate processes on this machine. Each has its own
identity, journal and data, and they tune the hyperparameters of a logistic
regression together. Then the same nodes do it again, each alone, with the same
starting points and the same number of evaluations, so that you can compare.`,
		Args: exactly(0),
		RunE: func(command *cobra.Command, _ []string) error {
			return o.run(command.Context(), command.OutOrStdout())
		},
	}
	flags := command.Flags()
	flags.IntVar(&o.nodes, "nodes", 4, "how many nodes")
	flags.IntVar(&o.evals, "evals", 20, "evaluations per node")
	flags.Uint64Var(&o.seed, "seed", 1, "seed of the data and of all random decisions; what depends on timing still varies")
	flags.StringVar(&o.strategy, "strategy", demoStrategies()[0], "how the nodes choose their designs: "+strings.Join(demoStrategies(), ", "))
	flags.StringVar(&o.dir, "data-dir", "", "new directory for what the nodes keep (default: a temporary one, removed at the end)")
	flags.BoolVar(&o.json, "json", false, "print one JSON object at the end; progress goes to standard error")
	return command
}

func (o demoOptions) validate() error {
	switch {
	case o.nodes < 1 || o.nodes > 32:
		return usagef("--nodes %d: accepted are 1 to 32", o.nodes)
	case o.evals < 1:
		return usagef("--evals %d: accepted are 1 and more", o.evals)
	case !slices.Contains(demoStrategies(), o.strategy):
		return usagef("--strategy %q: accepted are %s", o.strategy, strings.Join(demoStrategies(), ", "))
	}
	return nil
}

func (o demoOptions) run(ctx context.Context, out io.Writer) (err error) {
	if err := o.validate(); err != nil {
		return err
	}
	d, err := o.prepare()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.cleanUp()) }()
	show := out
	if o.json {
		show = os.Stderr
	}
	d.screen = newScreen(show, isTerminal(show), o.nodes)
	fmt.Fprintf(show, "%d nodes, each with its own data, tune %q together by %s: %s over %d parameters, %d evaluations each.\n",
		o.nodes, d.task.Name, o.strategy, d.task.Goal, d.task.Space.Len(), o.evals)
	begin := time.Now()
	together, err := d.phase(ctx, true)
	if err != nil {
		return err
	}
	fmt.Fprintln(show, "Now the same nodes, each alone, with the same starting points:")
	alone, err := d.phase(ctx, false)
	if err != nil {
		return err
	}
	report := newReport(d.task, time.Since(begin), together, alone)
	if o.json {
		return printJSON(out, report)
	}
	report.write(out)
	return nil
}

// demo is one run of the demo.
type demo struct {
	demoOptions
	task     *task.Task
	taskFile string
	program  string
	cleanUp  func() error
	screen   *screen
}

func (o demoOptions) prepare() (*demo, error) {
	d := &demo{demoOptions: o, cleanUp: func() error { return nil }}
	var err error
	if d.program, err = os.Executable(); err != nil {
		return nil, fmt.Errorf("demo: find this program: %w", err)
	}
	text := fmt.Appendf(nil, "%sstrategy: {type: %s}\n", demoTask, o.strategy)
	if d.task, err = all.Strategies().Parse("demo.yaml", text); err != nil {
		return nil, err
	}
	if d.dir == "" {
		if d.dir, err = os.MkdirTemp("", "fbo-demo-"); err != nil {
			return nil, fmt.Errorf("demo: %w", err)
		}
		d.cleanUp = func() error { return os.RemoveAll(d.dir) }
	} else if err = os.Mkdir(d.dir, 0o700); err != nil {
		return nil, usagef("--data-dir must be a new directory: %w", err)
	}
	d.taskFile = filepath.Join(d.dir, "task.yaml")
	if err := os.WriteFile(d.taskFile, text, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("demo: %w", err), d.cleanUp())
	}
	return d, nil
}

// phase runs all nodes, as peers of the first one or each alone, and returns
// their summaries.
func (d *demo) phase(ctx context.Context, together bool) ([]nodeSummary, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	d.screen.begin(together)
	type ended struct {
		node    int
		summary nodeSummary
		err     error
	}
	results := make(chan ended)
	begin := func(i int, peer string, ready func(address string)) {
		go func() {
			summary, err := d.node(ctx, i, together, peer, ready)
			results <- ended{i, summary, err}
		}()
	}
	if together {
		address := make(chan string, 1)
		begin(0, "", func(a string) { address <- a })
		var first string
		select {
		case first = <-address:
		case e := <-results:
			return nil, e.err
		}
		for i := 1; i < d.nodes; i++ {
			begin(i, first, func(string) {})
		}
	} else {
		for i := range d.nodes {
			begin(i, "", func(string) {})
		}
	}
	summaries := make([]nodeSummary, d.nodes)
	var err error
	for range d.nodes {
		e := <-results
		summaries[e.node] = e.summary
		if e.err != nil && err == nil {
			err = e.err
			cancel(err)
		}
	}
	return summaries, err
}

// arguments are what a user would type to start this node.
func (d *demo) arguments(i int, dir, peer string) []string {
	arguments := []string{"run", d.taskFile, "--json", "--mdns=false",
		"--wait-for-peers", "0", // all begin together, with the starting points that they have alone
		"--listen", "/ip4/127.0.0.1/udp/0/quic-v1", "--listen", "/ip4/127.0.0.1/tcp/0",
		"--data-dir", dir, "--evals", strconv.Itoa(d.evals), "--seed", strconv.FormatUint(d.seed*1000+uint64(i), 10)}
	if peer != "" {
		arguments = append(arguments, "--peer", peer)
	}
	return append(arguments, "--", d.program, "train", "--node", strconv.Itoa(i), "--seed", strconv.FormatUint(d.seed, 10),
		"--learning-rate", "{learning_rate}", "--l2", "{l2}", "--momentum", "0.8",
		"--batch-size", "{batch_size}", "--optimizer", "{optimizer}")
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
