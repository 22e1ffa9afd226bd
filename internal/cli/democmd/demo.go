// Package democmd contains the commands that run several nodes on this machine, and the training
// that they tune.
package democmd

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
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// taskText is an ordinary task file without a strategy.
//
//go:embed demo.yaml
var taskText []byte

// Strategies returns the names of the strategies that use peers' shares and need neither a privacy
// budget nor a roster: the nodes of the demo have no names before they run.
func Strategies() (names []string) {
	for _, r := range all.Strategies() {
		if r.Shares() && !r.Private && !r.Roster {
			names = append(names, r.Name)
		}
	}
	return names
}

type options struct {
	nodes    int
	evals    int
	samples  int
	seed     uint64
	seeds    int
	strategy string
	dir      string
	json     bool
	web      bool
}

// New returns the command demo.
func New() *cobra.Command {
	var o options
	command := &cobra.Command{
		Use:   "demo",
		Short: "Watch several nodes on this machine tune a real training together",
		Long: `demo starts several nodes as separate processes on this machine. Each has its own
identity, journal and data, and they tune the hyperparameters of a logistic
regression together. They come one after the other, each when the one before has
made half of its evaluations; a keeper holds for the later what the earlier have
learned. With strategies that only listen to nodes that are there, all begin at
once. Then the same nodes do it again, each alone with the strategy alone, with
the same seeds, starting points and number of evaluations, so that you can compare.

With --seeds N there are N runs, with data and random decisions of N seeds, and a table.
With --web the first and the last node have a page each, until Ctrl-C.`,
		Args: base.Exactly(0),
		RunE: func(command *cobra.Command, _ []string) error {
			return o.run(command.Context(), command.OutOrStdout())
		},
	}
	flags := command.Flags()
	flags.IntVar(&o.nodes, "nodes", 8, "how many nodes")
	flags.IntVar(&o.evals, "evals", 10, "evaluations per node")
	flags.IntVar(&o.samples, "samples", 200, "samples in the data of a node, 30 % of them for validation")
	flags.Uint64Var(&o.seed, "seed", 1, "seed of the data and of random decisions; what depends on timing, and on the nodes' keys, which are new each time, still varies")
	flags.IntVar(&o.seeds, "seeds", 1, "how many runs, with this seed and those after it")
	flags.StringVar(&o.strategy, "strategy", Strategies()[0], "how the nodes choose their designs: "+strings.Join(Strategies(), ", "))
	flags.StringVar(&o.dir, "data-dir", "", "new directory for what the nodes keep (default: a temporary one, removed at the end)")
	flags.BoolVar(&o.web, "web", false, "show the page of the first node in a browser of this machine, print the link to that of the last, and keep both after the end")
	flags.BoolVar(&o.json, "json", false, "print one JSON object at the end; progress goes to standard error")
	return command
}

func (o options) validate() error {
	switch {
	case o.nodes < 1 || o.nodes > 32:
		return base.Usagef("--nodes %d: accepted are 1 to 32", o.nodes)
	case o.evals < 1:
		return base.Usagef("--evals %d: accepted are 1 and more", o.evals)
	case o.samples < 20 || o.samples > 100_000:
		return base.Usagef("--samples %d: accepted are 20 to 100000", o.samples)
	case o.seeds < 1:
		return base.Usagef("--seeds %d: accepted are 1 and more", o.seeds)
	case o.seeds > 1 && o.dir != "":
		return base.Usagef("--data-dir keeps one run; it cannot be given with --seeds %d", o.seeds)
	case o.seeds > 1 && o.web:
		return base.Usagef("--web shows one run; it cannot be given with --seeds %d", o.seeds)
	case !slices.Contains(Strategies(), o.strategy):
		return base.Usagef("--strategy %q: accepted are %s", o.strategy, strings.Join(Strategies(), ", "))
	}
	return nil
}

func (o options) run(ctx context.Context, out io.Writer) error {
	if err := o.validate(); err != nil {
		return err
	}
	show := out
	if o.json {
		show = os.Stderr
	}
	if o.seeds > 1 {
		return o.runSeeds(ctx, show, out)
	}
	screen := newScreen(show, base.IsTerminal(show), o.nodes)
	return o.play(ctx, screen, func(r Report) error {
		if o.json {
			return base.PrintJSON(out, r)
		}
		screen.end()
		r.write(out)
		return nil
	})
}

// runSeeds plays one seed after the other, with a line for each.
func (o options) runSeeds(ctx context.Context, show, out io.Writer) error {
	fmt.Fprintf(show, "%d nodes, %d evaluations each, by %s; mean best validation loss, smaller is better.\n", o.nodes, o.evals, o.strategy)
	fmt.Fprintln(show, seedsHeader)
	var all SeedsReport
	for i := range o.seeds {
		one := o
		one.seed += uint64(i)
		err := one.play(ctx, newScreen(io.Discard, false, o.nodes), func(r Report) error {
			all.add(r)
			_, err := fmt.Fprintln(show, r.line())
			return err
		})
		if err != nil {
			return fmt.Errorf("seed %d: %w", one.seed, err)
		}
	}
	if o.json {
		return base.PrintJSON(out, all)
	}
	fmt.Fprint(out, all.text())
	return nil
}

// play makes one run, together and alone, and passes the result to tell. With pages it returns when
// the user ends it.
func (o options) play(ctx context.Context, screen *screen, tell func(Report) error) (err error) {
	d, err := o.prepare()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.cleanUp()) }()
	d.screen = screen
	pages, leave := context.WithCancel(ctx)
	d.pages = pages
	defer func() { leave(); d.staying.Wait() }()
	fmt.Fprintf(screen.out, "%d nodes tune %d hyperparameters, each on its own data, by %s.\n", o.nodes, d.task.Space.Len(), o.strategy)
	begin := time.Now()
	together, err := d.together(ctx)
	if err != nil {
		return err
	}
	alone, err := d.alone(ctx)
	if err != nil {
		return err
	}
	if err := tell(newReport(d.task, o.seed, time.Since(begin), together, alone)); err != nil || !o.web {
		return err
	}
	fmt.Fprintln(screen.out, "The pages stay until Ctrl-C.")
	<-ctx.Done()
	return nil
}

// federation holds the nodes of one run of the demo.
type federation struct {
	options
	task    *task.Task
	program string
	cleanUp func() error
	screen  *screen

	pages   context.Context // until nodes with a page end
	staying sync.WaitGroup  // these nodes
}

func demoText(strategy string) []byte {
	return fmt.Appendf(nil, "%sstrategy: {type: %s}\n", taskText, strategy)
}

func (o options) prepare() (*federation, error) {
	d := &federation{options: o, cleanUp: func() error { return nil }}
	var err error
	if d.program, err = os.Executable(); err != nil {
		return nil, fmt.Errorf("demo: find this program: %w", err)
	}
	if d.task, err = all.Strategies().Parse("demo.yaml", demoText(o.strategy)); err != nil {
		return nil, err
	}
	if d.dir == "" {
		if d.dir, err = os.MkdirTemp("", "fbo-demo-"); err != nil {
			return nil, fmt.Errorf("demo: %w", err)
		}
		d.cleanUp = func() error { return os.RemoveAll(d.dir) }
	} else if err = os.Mkdir(d.dir, 0o700); err != nil {
		return nil, base.Usagef("--data-dir must be a new directory: %w", err)
	}
	for _, together := range []bool{true, false} {
		text := demoText(o.strategy)
		if !together {
			text = demoText("alone")
		}
		if err := os.WriteFile(d.taskFile(together), text, 0o600); err != nil {
			return nil, errors.Join(fmt.Errorf("demo: %w", err), d.cleanUp())
		}
	}
	return d, nil
}

func (d *federation) taskFile(together bool) string {
	return filepath.Join(d.dir, kind(together)+".yaml")
}

func kind(together bool) string {
	if together {
		return "together"
	}
	return "alone"
}

// together runs the nodes as peers: the next one starts when one has made half of its evaluations.
// If nodes cannot use shares of nodes that have ended, all start at once.
func (d *federation) together(ctx context.Context) ([]nodeSummary, error) {
	d.screen.begin(true)
	keeper, end, err := d.keeper(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	first := 1
	if base.UnusableReason(d.task) != "" {
		first = d.nodes
	}
	return d.all(ctx, keeper, first, (d.evals+1)/2)
}

// alone runs all nodes at once, without peers.
func (d *federation) alone(ctx context.Context) ([]nodeSummary, error) {
	d.screen.begin(false)
	return d.all(ctx, "", d.nodes, 0)
}

// all runs all nodes and returns their summaries. The first ones start at once, and one more when
// another has made this number of evaluations.
func (d *federation) all(ctx context.Context, keeper string, first, evaluations int) ([]nodeSummary, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	type ended struct {
		node    int
		summary nodeSummary
		err     error
	}
	results, next := make(chan ended), make(chan struct{}, d.nodes)
	for range first {
		next <- struct{}{}
	}
	var err error
	summaries := make([]nodeSummary, d.nodes)
	begun, running := 0, 0
	for running > 0 || err == nil && begun < d.nodes {
		select {
		case <-next:
			if err != nil || begun == d.nodes {
				continue
			}
			go func(i int) {
				summary, err := d.node(ctx, i, keeper, func(made int) {
					if made == evaluations {
						next <- struct{}{}
					}
				})
				results <- ended{i, summary, err}
			}(begun)
			begun, running = begun+1, running+1
		case e := <-results:
			running--
			summaries[e.node] = e.summary
			if e.err != nil && err == nil {
				err = e.err
				cancel(err)
			}
		}
	}
	return summaries, err
}

// local returns the flags that limit a node to this machine and to its given peers.
func local() []string {
	return []string{"--json", "--mdns=false", "--listen", "/ip4/127.0.0.1/udp/0/quic-v1", "--listen", "/ip4/127.0.0.1/tcp/0"}
}

// arguments returns the arguments that a user would type to start this node.
func (d *federation) arguments(i int, keeper string) []string {
	together := keeper != ""
	arguments := append([]string{"run", d.taskFile(together), "--data-dir", filepath.Join(d.dir, fmt.Sprintf("%s-%d", kind(together), i)),
		"--evals", strconv.Itoa(d.evals), "--seed", strconv.FormatUint(d.seed*1000+uint64(i), 10)}, local()...)
	if together {
		arguments = append(arguments, "--peer", keeper)
	}
	if i == 0 {
		arguments = append(arguments, "--wait-for-peers", "0") // no node has shares yet
	}
	if together && d.hasPage(i) {
		arguments = append(arguments, "--web", "--keep-after")
	}
	return append(arguments, "--", d.program, "train", "--node", strconv.Itoa(i), "--seed", strconv.FormatUint(d.seed, 10),
		"--samples", strconv.Itoa(d.samples), "--majority", "0.8", "--standardize", "--momentum", "0.8", "--learning-rate", "{learning_rate}", "--l2", "{l2}",
		"--batch-size", "{batch_size}", "--optimizer", "{optimizer}")
}
