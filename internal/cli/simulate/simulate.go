// Package simulate contains the command that simulates strategies on federations.
package simulate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/lab/experiment"
	"github.com/fbo-node/fbo/lab/family"
	"github.com/fbo-node/fbo/lab/trained"
	"github.com/fbo-node/fbo/strategy/all"
)

// usualDelay is the default time that a share takes to reach a peer.
const usualDelay = 50 * time.Millisecond

type options struct {
	family     string
	strategies []string
	surrogate  string
	features   int
	plan       experiment.Plan
	scenario   string
	points     []string

	workers     int
	dir         string
	fresh       bool
	otherBuilds bool
	json        bool
	csv         string
	raw         string
	plot        string
	command     string // that produces the same result
}

// families returns the families with formulas, those with trainings, and that of the user's
// programs.
func families(programs *trained.Programs) family.Catalogue {
	return append(append(family.Kinds(), trained.Kinds()...), programs.Kind())
}

// noPrograms returns programs for descriptions of families, which run none.
func noPrograms() *trained.Programs { return trained.NewPrograms(context.Background(), 1, nil) }

// New returns the command simulate.
func New() *cobra.Command {
	var o options
	command := &cobra.Command{
		Use:   "simulate",
		Short: "Measure on simulated federations how much peers help",
		Args:  base.Exactly(0),
		RunE: func(command *cobra.Command, _ []string) error {
			o.command = commandLine(command)
			return o.run(command.Context(), command.OutOrStdout(), os.Stderr)
		},
	}
	o.addFlags(command.Flags())
	command.Long = help()
	return command
}

func (o *options) addFlags(flags *pflag.FlagSet) {
	flags.SortFlags = false // the order below is that of --help and of the command in a table
	flags.StringVar(&o.family, "family", "", "what the agents' objectives are drawn from, NAME or NAME:KEY=VALUE,…")
	flags.StringArrayVar(&o.strategies, "strategy", nil, "what is compared, NAME or NAME:KEY=VALUE,…, several separated by commas (or --strategy again)")
	flags.IntVar(&o.plan.Agents, "agents", 20, "agents per federation")
	flags.IntVar(&o.plan.Evaluations, "evals", 50, "evaluations per agent")
	flags.IntVar(&o.plan.Repeats, "repeats", 30, "federations, each played with every strategy")
	flags.Uint64Var(&o.plan.Seed, "seed", 1, "seed of everything random")
	flags.StringVar(&o.surrogate, "surrogate", "exact", "exact, rff or shared-latent, and settings as in the task file's section, lists with semicolons: exact:kernel=se")
	flags.IntVar(&o.features, "features", 0, "number of shared features (default: the task file's)")
	flags.IntVar(&o.plan.Initial, "initial-designs", 3, "random designs at an agent's start")
	flags.BoolVar(&o.plan.Dealt, "dealt-designs", false, "all agents have starting designs of one Latin hypercube; otherwise each has its own, most of which begin at the centre")
	flags.StringVar(&o.plan.Control, "control", "", "the strategy that the others are compared with, or best-alone: whichever of ts and logei is better at each checkpoint (default: the first of type ts, else the first)")
	flags.StringSliceVar(&o.points, "checkpoints", nil, "numbers of evaluations that the table shows (default 10,15,25,50); the last one is added")
	flags.StringVar(&o.scenario, "scenario", "", "YAML `FILE` about the network and the agents' times, see above")
	flags.IntVar(&o.plan.Parallel, "parallel", 1, fmt.Sprintf("evaluations that each agent makes at a time, 1 to %d: it asks for this number of designs at once, and for further ones when all have ended", experiment.MaxParallel))
	flags.BoolVar(&o.plan.Asynchronous, "asynchronous", false, "with --parallel: agents ask for a design as soon as an evaluation has ended, and evaluations last from nothing to twice as long as on average, at random")
	flags.BoolVar(&o.plan.Fairness, "fairness", false, "also tell how regrets are spread over agents; strategies with a roster always do")
	flags.BoolVar(&o.plan.OneDesign, "one-design", false, "also report the regret of one design for all agents: of the average of their objectives, at the designs that they recommend")
	flags.IntVar(&o.workers, "workers", 0, "runs at a time; changes no result (default: one per processor)")
	flags.StringVar(&o.dir, "out", "", "directory that keeps finished runs (default "+describeSimulateDir()+")")
	flags.BoolVar(&o.fresh, "fresh", false, "forget the finished runs of these settings, of all strategies and builds of this program")
	flags.BoolVar(&o.otherBuilds, "other-builds", false, "use finished runs of other builds of this program, which may compute differently, and mark them")
	flags.BoolVar(&o.json, "json", false, "print one JSON object instead of a table")
	flags.StringVar(&o.csv, "csv", "", "also write regrets to this file, a row per strategy and evaluation")
	flags.StringVar(&o.raw, "raw", "", "also write the data behind them to this CSV file, a row per strategy, federation, agent and evaluation")
	flags.StringVar(&o.plot, "plot", "", "also draw regret curves to this file, .svg or .png; needs the program "+plotter+", see above")
}

func help() string {
	var b strings.Builder
	b.WriteString(`simulate draws federations of agents with related objectives and plays every strategy
on each of them, with the same starting designs, noise and network. It prints
regrets with their standard errors over federations and compares each strategy with
the control. Results depend on the seed, not on the number of processors.

Finished runs are kept; the same command, after an interruption or with more
repeats or strategies, computes only what is missing.

Strategies are those of a task file (ts, logei, fts, peer-prior, …) with its keys as
settings, as in fts:mode=one-shot,share_after=10, and the baselines
` + strings.Join(experiment.Baselines(), ", ") + `.
Those with a roster (fair) have the agents on it, mediator=first makes the first of them the
mediator, and understate=X makes it report values that are worse by X. Those that share, without
a roster, can have adversaries=N beside the agents; attack=KIND names what these share: ` + strings.Join(experiment.Attacks(), ", ") + `.
On tables with learning curves, stop=forecast, asha or median stops evaluations early.

The families limits and gramacy have constraints, and table and command those of their
task file. Strategies that take none are refused there; those that do: ` + strings.Join(takingConstraints(), ", ") + `
and random. Regrets are then of the best feasible designs, and the table says how soon
one was found.

--plot needs a program that is no part of this one, since it would make it a
quarter larger: in the source of this project, cd benchmarks && go build -o ` + plotter + ` ./plot,
and put it beside fbo-node or on the PATH.

A scenario file has any of these keys, each in a line:

  delay: 50ms            time that a share takes to reach a peer; an evaluation takes ` + experiment.EvaluationTime.String() + `
  jitter: 0s             at most this much more, at random
  loss: 0                the chance that a delivery fails and is tried again within 30s, below 1
  degree: 0              how many others an agent receives from; 0: all
  partition: 100s-200s   in this span agents with even numbers and those with odd ones
                         exchange no messages (default: never)
  join_within: ` + fmt.Sprintf("%-10v", experiment.EvaluationTime) + `agents join at random within this span
  min_evals: 0           agents have budgets of their own, at random from this to --evals; 0: all have
                         --evals
  max_slowdown: 1        agents take up to this many times as long per evaluation, at random; 1 to ` + strconv.Itoa(experiment.MaxSlow) + `
  straggler: 1           the last agent takes this many times as long per evaluation, 1 to ` + strconv.Itoa(experiment.MaxSlow) + `
  churn: 0               the part of the time that each agent is away, a minute at a time on average; up to ` + fmt.Sprint(experiment.MaxChurn) + `

Families and their settings:
`)
	writeFamilies(&b, families(noPrograms()).List())
	return strings.TrimRight(b.String(), "\n")
}

// writeFamilies lists the families; those with the same settings are listed together.
func writeFamilies(w io.Writer, all []family.Info) {
	sameKeys := func(a, b family.Info) bool {
		return slices.EqualFunc(a.Keys, b.Keys, func(x, y family.Key) bool { return reflect.DeepEqual(x, y) })
	}
	for i, info := range all {
		fmt.Fprintf(w, "\n  %s: %s\n", info.Name, info.About)
		if i+1 < len(all) && sameKeys(info, all[i+1]) {
			continue
		}
		for _, key := range info.Keys {
			byDefault := ""
			if key.Default != "" {
				byDefault = ", default " + key.Default
			}
			fmt.Fprintf(w, "      %s (%s%s): %s\n", key.Name, key.Accepts(), byDefault, key.Meaning)
		}
	}
}

func (o *options) run(ctx context.Context, out, messages io.Writer) (err error) {
	programs := trained.NewPrograms(ctx, max(o.workers, 0), base.SupervisorLine())
	defer programs.Close()
	plan, err := cancellable(ctx, func() (experiment.Plan, error) { return o.complete(programs) })
	switch {
	case err != nil && ctx.Err() != nil:
		return errors.New("interrupted before the first run")
	case err != nil:
		return base.BadUsage(err)
	}
	plotterPath, err := o.findPlotter()
	if err != nil {
		return base.BadUsage(err)
	}
	if err := o.checkFiles(); err != nil {
		return base.BadUsage(err)
	}
	dir, err := o.directory()
	if err != nil {
		return err
	}
	store, err := experiment.OpenStore(dir, plan, experiment.StoreOptions{Build: buildName(), OtherBuilds: o.otherBuilds, Fresh: o.fresh})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if foreign := store.Foreign(plan); foreign > 0 && !o.otherBuilds {
		fmt.Fprintf(messages, "%d of %d runs are there from other builds of this program, which may compute differently: they are made anew, and kept; --other-builds uses them\n",
			foreign, plan.Repeats*len(plan.Strategies))
	}
	show := newProgress(messages, base.IsTerminal(messages))
	err = experiment.Run(programs.Context(), plan, store, experiment.Options{Workers: o.workers, Progress: show.update})
	done := show.end()
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return fmt.Errorf("interrupted: %d of %d runs are finished and kept in %s; the same command goes on from there%s",
			done.Runs, plan.Repeats*len(plan.Strategies), store.Path(), o.exceptFresh())
	}
	if err != nil {
		return err
	}
	report, err := experiment.NewReport(plan, store, o.command)
	if err != nil {
		return err
	}
	if o.raw != "" { // first, because drawing may fail
		if err := writeToFile("raw", o.raw, func(w io.Writer) error { return experiment.WriteRaw(w, plan, store) }); err != nil {
			return err
		}
	}
	return o.output(ctx, out, report, plotterPath)
}

// cancellable returns the result of f, or the error of a context that ended more than a second
// before. In the latter case f continues: the process is about to end.
func cancellable[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := f()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
	}
	select {
	case r := <-done:
		return r.value, r.err
	case <-time.After(time.Second):
		return *new(T), ctx.Err()
	}
}

func (o *options) exceptFresh() string {
	if o.fresh {
		return " without --fresh"
	}
	return ""
}

// complete returns the plan of the flags.
func (o *options) complete(programs *trained.Programs) (experiment.Plan, error) {
	p := o.plan
	if o.workers < 0 {
		return p, fmt.Errorf("--workers %d: expected 0 or more", o.workers)
	}
	var err error
	if o.family == "" {
		return p, fmt.Errorf("--family is missing, expected %s", strings.Join(familyNames(), ", "))
	}
	if p.Family, err = families(programs).Parse(o.family); err != nil {
		return p, fmt.Errorf("--family: %w", err) // the error names the value
	}
	for _, text := range o.strategies {
		specs, err := experiment.ParseSpecs(text)
		if err != nil {
			return p, fmt.Errorf("--strategy %s: %w", text, err)
		}
		p.Strategies = append(p.Strategies, specs...)
	}
	if p.Surrogate, err = experiment.ParseSpec(o.surrogate); err != nil {
		return p, fmt.Errorf("--surrogate %s: %w", o.surrogate, err)
	}
	if o.features != 0 {
		if slices.ContainsFunc(p.Surrogate.Settings, func(s experiment.Setting) bool { return s.Key == "features" }) {
			return p, fmt.Errorf("--features %d: --surrogate %s says features too, expected one of both", o.features, o.surrogate)
		}
		p.Surrogate = p.Surrogate.With("features", strconv.Itoa(o.features))
	}
	if o.plan.Initial == 0 {
		return p, errors.New("--initial-designs 0: expected 1 or more")
	}
	if o.plan.Parallel == 0 {
		return p, fmt.Errorf("--parallel 0: expected 1 to %d", experiment.MaxParallel)
	}
	read, err := o.readScenario(&p)
	if err != nil {
		return p, err
	}
	for _, text := range o.points {
		t, err := strconv.Atoi(text)
		if err != nil {
			return p, fmt.Errorf("--checkpoints %s: expected whole numbers, separated by commas", text)
		}
		p.Checkpoints = append(p.Checkpoints, t)
	}
	p, err = p.Complete()
	return p, read.explain(err)
}

// readScenario sets the network and the agents' times of a plan: the defaults, or those of a file.
func (o *options) readScenario(p *experiment.Plan) (read scenario, err error) {
	p.Network.Delay, p.JoinWithin, p.MaxSlowdown, p.Straggler = usualDelay, experiment.EvaluationTime, 1, 1
	if o.scenario == "" {
		return read, nil
	}
	if read, err = readScenario(o.scenario, p); err != nil {
		return read, err
	}
	// A plan replaces 0 by the default, so that a given 0 is an error here.
	for _, given := range []struct {
		key     string
		zero    bool
		problem string
	}{
		{"max_slowdown", p.MaxSlowdown == 0, fmt.Sprintf("0: expected 1 to %d", experiment.MaxSlow)},
		{"straggler", p.Straggler == 0, fmt.Sprintf("0: expected 1 to %d", experiment.MaxSlow)},
		{"join_within", p.JoinWithin == 0, fmt.Sprintf("0s: expected more than 0s, up to %v", experiment.MaxJoinWithin)},
	} {
		if given.zero {
			return read, read.explain(&experiment.ScenarioError{Key: given.key, Problem: given.problem})
		}
	}
	return read, nil
}

func familyNames() []string {
	var names []string
	for _, info := range families(noPrograms()).List() {
		names = append(names, info.Name)
	}
	return names
}

func (o *options) directory() (string, error) {
	if o.dir != "" {
		return o.dir, nil
	}
	return defaultSimulateDir()
}

func defaultSimulateDir() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", base.Usagef("no directory for finished runs: %w; set --out", err)
	}
	return filepath.Join(cache, "fbo", "simulate"), nil
}

func describeSimulateDir() string {
	dir, err := defaultSimulateDir()
	if err != nil {
		return "none on this system"
	}
	return strconv.Quote(dir)
}

// commandLine returns the command with the flags that were set, without those that only set where
// results go.
func commandLine(command *cobra.Command) string {
	line := command.CommandPath()
	add := func(name, value string) {
		if strings.ContainsAny(value, " \t'\"$&;|<>*?()\\`") {
			value = "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
		}
		line += " --" + name + " " + value
	}
	command.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Changed {
			return
		}
		switch f.Name {
		case "out", "fresh", "other-builds", "json", "csv", "raw", "plot", "workers":
		case "strategy", "checkpoints":
			add(f.Name, strings.Join(f.Value.(pflag.SliceValue).GetSlice(), ","))
		case "fairness", "asynchronous", "one-design":
			line += " --" + f.Name + "=" + f.Value.String()
		default:
			add(f.Name, f.Value.String())
		}
	})
	return line
}

// buildName returns a name that distinguishes builds of this program, also those of changed
// sources.
func buildName() string {
	path, err := os.Executable()
	if err != nil {
		return "unknown"
	}
	file, err := os.Open(path)
	if err != nil {
		return "unknown"
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "unknown"
	}
	return hex.EncodeToString(hash.Sum(nil)[:6])
}

// takingConstraints returns the names of the strategies that accept tasks with constraints.
func takingConstraints() (names []string) {
	for _, s := range all.Strategies() {
		if s.Constraints {
			names = append(names, s.Name)
		}
	}
	return names
}
