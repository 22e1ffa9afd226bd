// Package democmd contains the command that shows several nodes at work on this machine, and the
// training that they tune.
package democmd

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/strategy/all"
)

// ordinaryTask is an ordinary task file without a strategy.
//
//go:embed demo.yaml
var ordinaryTask string

func taskText(strategy string) string {
	return fmt.Sprintf("%sstrategy: {type: %s}\n", ordinaryTask, strategy)
}

// The data of a site.
const (
	samples = 200 // 30 % of them for validation
	common  = 1   // similar sites draw their samples from one distribution
)

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
	evals      int
	seed       uint64
	seeds      int
	strategy   string
	dir        string
	dissimilar bool
	regret     bool
	json       bool
	web        bool
}

// Defaults of the flags. The seeds take less than a minute.
const (
	defaultEvals = 10
	defaultSeeds = 5
)

// New returns the command demo.
func New() *cobra.Command {
	var o options
	command := &cobra.Command{
		Use:   "demo",
		Short: "Show several nodes on this machine that tune a real training together",
		Long: `demo tunes the hyperparameters of a logistic regression on four sites with similar
data. Each site has a node, which is a process of its own with a journal, and they
are connected by libp2p on this machine.

Scene one: three sites start together and evaluate in rounds.
Scene two: a fourth site joins when they have finished. It makes half as many
evaluations.

Each site has a control: the same site alone, by the strategy alone, with the same
data, seed and starting designs. The demo compares the two.

Both scenes have the same results in every run of a seed on one machine. In scene
one this is due to the rounds: no site chooses before it has all shares of the round
before. Nodes that you start yourself do not wait like this. In the demo, and only
there, the identities of nodes derive from the seed.`,
		Args: base.Exactly(0),
		RunE: func(command *cobra.Command, _ []string) error {
			if !command.Flags().Changed("seeds") && (o.web || o.dir != "") {
				o.seeds = 1
			}
			return o.run(command.Context(), command.OutOrStdout())
		},
	}
	flags := command.Flags()
	flags.IntVar(&o.evals, "evals", defaultEvals, "evaluations of each of the three sites; the fourth makes half as many")
	flags.Uint64Var(&o.seed, "seed", 1, "seed of the data, the identities and the random decisions")
	flags.IntVar(&o.seeds, "seeds", defaultSeeds, "number of runs, with this seed and those after it; 1 by default with --web or --data-dir")
	base.AddChoice(flags, &o.strategy, "strategy", Strategies()[0], Strategies(), "how nodes with peers choose their designs")
	flags.BoolVar(&o.dissimilar, "dissimilar", false, "sites with a data distribution and labels of their own")
	flags.BoolVar(&o.regret, "regret", false, "search for the lowest loss of each site too, which takes minutes, and print regrets with standard errors over the seeds")
	flags.StringVar(&o.dir, "data-dir", "", "new directory for the nodes' files (default: a temporary one, removed at the end)")
	flags.BoolVar(&o.web, "web", false, "show an overview of all nodes in a browser of this machine until Ctrl-C")
	flags.BoolVar(&o.json, "json", false, "print one JSON object at the end; progress goes to standard error")
	return command
}

func (o options) joinerEvals() int { return (o.evals + 1) / 2 }

func (o options) validate() error {
	switch {
	case o.evals < 1:
		return base.Usagef("--evals %d: expected 1 or more", o.evals)
	case o.seeds < 1:
		return base.Usagef("--seeds %d: expected 1 or more", o.seeds)
	case o.seeds > 1 && o.dir != "":
		return base.Usagef("--data-dir keeps one run: expected --seeds 1, not %d", o.seeds)
	case o.seeds > 1 && o.web:
		return base.Usagef("--web shows one run: expected --seeds 1, not %d", o.seeds)
	}
	return nil
}

func (o options) run(ctx context.Context, out io.Writer) error {
	if err := o.validate(); err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("demo: find this program: %w", err)
	}
	if o.dir != "" {
		if err := os.Mkdir(o.dir, 0o700); err != nil {
			return base.Usagef("--data-dir must be a new directory: %w", err)
		}
	}
	show := out
	if o.json {
		show = os.Stderr
	}
	d := &demo{o, program, show, time.Now(), Report{Strategy: o.strategy, Similar: !o.dissimilar}}
	fmt.Fprintf(show, "Scene one: three sites start together, %s each, by %s.\n", sanitize.Count(o.evals, "evaluation"), o.strategy)
	fmt.Fprintf(show, "Scene two: a fourth joins when they have finished, %s. Seeds:", sanitize.Count(o.joinerEvals(), "evaluation"))
	for i := range o.seeds {
		if err := d.play(ctx, o.seed+uint64(i), out); err != nil {
			return err
		}
	}
	return nil
}

// demo holds the results of the seeds.
type demo struct {
	options
	program string
	show    io.Writer
	begin   time.Time
	report  Report
}

// play runs one seed, and after the last one prints the report. With an overview it then waits
// until the user ends it.
func (d *demo) play(ctx context.Context, seed uint64, out io.Writer) (err error) {
	dir, remove, err := d.temporary()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	f, err := newFederation(d.options, d.program, dir, seed)
	if err != nil {
		return err
	}
	f.warn = func(text string) { fmt.Fprintf(os.Stderr, "\nwarning: %s\n", sanitize.Lines(text)) }
	f.started = func(*site) {}
	if d.web {
		closePage, err := d.overview(ctx, f)
		if err != nil {
			return err
		}
		defer closePage()
	}
	defer func() {
		if ended := f.end(); err == nil {
			err = ended
		}
	}()
	if err := f.play(ctx); err != nil {
		return err
	}
	fmt.Fprintf(d.show, " %d", seed)
	if err := d.add(ctx, f); err != nil || len(d.report.Seeds) < d.seeds {
		return err
	}
	fmt.Fprintln(d.show, ".")
	d.report.Seconds = math.Round(time.Since(d.begin).Seconds()*10) / 10
	d.report.summarize()
	if d.json {
		err = base.PrintJSON(out, d.report)
	} else {
		d.report.write(out)
	}
	if d.web && err == nil {
		fmt.Fprintln(d.show, "The overview stays until Ctrl-C.")
		<-ctx.Done()
	}
	return err
}

// add adds the results of a seed to the report.
func (d *demo) add(ctx context.Context, f *federation) error {
	r := seedReport{Seed: f.seed}
	if d.regret {
		fmt.Fprint(d.show, " (search for the lowest losses")
	}
	for i := range f.peers {
		one := siteReport{WithPeers: f.peers[i].run, Alone: f.solo[i].run}
		if d.regret {
			lowest, err := lowestLoss(ctx, f.peers[i], min(last(one.WithPeers.Curve), last(one.Alone.Curve)))
			if err != nil {
				return err
			}
			one.Lowest = &lowest
			fmt.Fprintf(d.show, ", site %d", i+1)
		}
		r.Sites = append(r.Sites, one)
	}
	if d.regret {
		fmt.Fprint(d.show, ")")
	}
	d.report.Seeds = append(d.report.Seeds, r)
	return nil
}
