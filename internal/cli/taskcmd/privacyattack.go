package taskcmd

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/past"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/lab/attack"
)

// attackOptions are the flags of privacy --attack.
type attackOptions struct {
	file string
	plan attack.Plan
}

func (o *attackOptions) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.file, "attack", "", "attack what nodes of the task in this `FILE` share, in simulated federations of three, or of as many nodes as the smallest sum has")
	flags.IntSliceVar(&o.plan.Observations, "observations", []int{5, 10, 30}, fmt.Sprintf("with --attack: how many the attacked node has, each 3 to %d", attack.MaxObservations))
	flags.Float64SliceVar(&o.plan.Noises, "noise", []float64{0, 0.1}, "with --attack: deviations of the noise of evaluations, where objectives have about 1")
	flags.Lookup("noise").DefValue = "[0,0.1]" // pflag would print it with six decimals
	flags.IntVar(&o.plan.Repeats, "repeats", 3, "with --attack: federations for each noise")
	flags.Uint64Var(&o.plan.Seed, "seed", 1, "with --attack: seed of everything random")
	flags.StringVar(&o.plan.Filter, "filter", "", "with --attack: only attacks with this `TEXT` in their name")
}

// check refuses flags without their attack, and the reverse.
func (o *attackOptions) check(flags *pflag.FlagSet, args []string) error {
	if o.file != "" {
		if len(args) > 0 {
			return base.Usagef("--attack %s names the task; expected no TASK beside it", o.file)
		}
		return nil
	}
	for _, name := range []string{"observations", "noise", "repeats", "seed", "filter"} {
		if flags.Changed(name) {
			return base.Usagef("--%s applies only with --attack", name)
		}
	}
	return nil
}

func (o *attackOptions) run(ctx context.Context, dir string, out, progress io.Writer, asJSON bool) error {
	t, err := past.FindTask(ctx, dir, o.file)
	if err != nil {
		return err
	}
	o.plan.Task = t
	if err := o.plan.Check(); err != nil {
		return base.BadUsage(err)
	}
	o.plan.Done = func(noise float64, repeat int) {
		fmt.Fprintf(progress, "noise %g: federation %d of %d attacked\n", noise, repeat+1, o.plan.Repeats)
	}
	report, err := o.plan.Run(ctx)
	if err != nil {
		return err
	}
	if asJSON {
		return base.PrintJSON(out, report)
	}
	writeAttacks(out, report, t.Strategy.Type)
	return nil
}

func writeAttacks(out io.Writer, r attack.Report, strategy string) {
	nodes := "three"
	if r.Nodes != 3 {
		nodes = strconv.Itoa(r.Nodes)
	}
	fmt.Fprintf(out, "task %q, strategy %s: one node of %s attacked, in %s for each noise, seed %d\n",
		r.Task, strategy, nodes, sanitize.Count(r.Repeats, "federation"), r.Seed)
	if len(r.Kinds) == 0 {
		fmt.Fprintln(out, "the node has shared nothing that these attacks read")
		return
	}
	fmt.Fprintf(out, "an input is found by a guess within %g of the unit cube's side in every coordinate, which is how distances are measured\n", attack.Near)
	noise, observations, known := -1.0, 0, ""
	for _, line := range r.Lines {
		if line.Noise != noise || line.Observations != observations {
			noise, observations = line.Noise, line.Observations
			known = line.Known()
			fmt.Fprintf(out, "\nnoise %g, after %d observations\n  baseline, from the estimated optimum: %s\n", noise, observations, known)
		}
		fmt.Fprintf(out, "  %s", line.Text())
		if here := line.Known(); here != known { // in other federations, for example if peers affect the node's designs
			fmt.Fprintf(out, "; baseline, from the estimated optimum: %s", here)
		}
		fmt.Fprintln(out)
	}
}
