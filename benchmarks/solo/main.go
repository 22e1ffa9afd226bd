package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/fbo-node/fbo/benchmarks/internal/build"
)

func main() {
	if os.Getenv(workerVariable) != "" {
		exit(work(os.Stdin, os.Stdout))
	}
	c, err := parseFlags(os.Args[1:], os.Stderr)
	if err != nil {
		os.Exit(2) // the flag set has said why
	}
	exit(c.carryOut(os.Stdout, os.Stderr))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "solo:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// config is what the command line asks for.
type config struct {
	functions, methods []string
	seeds, first       int
	evals              int
	out, python        string
	against            string
	workers            int
	coreMinutes        float64
	tableOnly          bool
	command            string // to repeat, as the user wrote it
}

const (
	defaultMethods = "random,quasi,goptuna-tpe,goptuna-cmaes,ts-exact,ts-rff,logei-exact,logei-rff"
	maxSeeds       = 10000
	maxEvals       = 10000
)

func parseFlags(arguments []string, stderr io.Writer) (config, error) {
	var known []string
	for _, p := range problems() {
		known = append(known, p.name)
	}
	c := config{command: "go run ./solo " + strings.Join(arguments, " ")}
	set := flag.NewFlagSet("solo", flag.ContinueOnError)
	set.SetOutput(stderr)
	functions := set.String("functions", strings.Join(known, ","), "functions, by comma; those of ten and twenty floats run only if named, such as levy20 and hartmann6in20")
	methods := set.String("methods", defaultMethods, "methods, by comma; STRATEGY-SURROGATE may go on with +KEY=VALUE of the task file")
	set.IntVar(&c.seeds, "seeds", 30, "how many seeds")
	set.IntVar(&c.first, "first-seed", 1, "the first seed")
	set.IntVar(&c.evals, "evals", 100, "evaluations per run")
	set.StringVar(&c.out, "out", "results.jsonl", "file of results; runs that it holds are not repeated")
	set.StringVar(&c.python, "python", os.Getenv(pythonVariable), "a Python with BoTorch and Optuna, for the methods botorch, optuna-gp and turbo; the default is the variable "+pythonVariable)
	set.StringVar(&c.against, "against", "", "the method whose regrets the others' are summed up in ratio to; none unless given")
	set.IntVar(&c.workers, "workers", runtime.GOMAXPROCS(0), "worker processes, each on one core")
	set.Float64Var(&c.coreMinutes, "core-minutes", 30, "start no further run after so much processor time; the same command goes on")
	set.BoolVar(&c.tableOnly, "table", false, "only print the table of what the file holds")
	if err := set.Parse(arguments); err != nil {
		return c, err
	}
	c.functions, c.methods = strings.Split(*functions, ","), strings.Split(*methods, ",")
	if set.NArg() > 0 {
		return c, complain(stderr, fmt.Errorf("argument %q: only flags are accepted", set.Arg(0)))
	}
	return c, complain(stderr, c.validate())
}

func complain(stderr io.Writer, err error) error {
	if err != nil {
		fmt.Fprintln(stderr, "solo:", err)
	}
	return err
}

func (c config) validate() error {
	for _, name := range c.functions {
		if _, err := problemNamed(name); err != nil {
			return err
		}
	}
	for _, name := range c.methods {
		if _, err := methodNamed(name); err != nil {
			return err
		}
	}
	if !c.tableOnly && slices.ContainsFunc(c.methods, inPython) {
		if err := checkPython(c.python); err != nil {
			return err
		}
	}
	switch {
	case c.seeds < 1 || c.seeds > maxSeeds:
		return fmt.Errorf("--seeds %d: expected 1 to %d", c.seeds, maxSeeds)
	case c.first < 0:
		return fmt.Errorf("--first-seed %d: expected 0 or more", c.first)
	case c.evals < 1 || c.evals > maxEvals:
		return fmt.Errorf("--evals %d: expected 1 to %d", c.evals, maxEvals)
	case c.workers < 1:
		return fmt.Errorf("--workers %d: expected 1 or more", c.workers)
	case c.against != "" && !slices.Contains(c.methods, c.against):
		return fmt.Errorf("--against %s: expected one of --methods", c.against)
	case !(c.coreMinutes > 0):
		return fmt.Errorf("--core-minutes %g: must be above 0", c.coreMinutes)
	}
	return nil
}

// jobs lists the runs seed by seed, so that a table of fewer seeds is complete
// when time runs out.
func (c config) jobs() []job {
	var all []job
	for seed := range c.seeds {
		for _, function := range c.functions {
			for _, method := range c.methods {
				all = append(all, job{function, method, uint64(c.first + seed), c.evals})
			}
		}
	}
	return all
}

func (c config) carryOut(stdout, stderr io.Writer) error {
	all, err := openResults(c.out)
	if err != nil {
		return err
	}
	defer all.Close()
	name, err := build.Name()
	if err != nil {
		return err
	}
	var missing []job
	for _, j := range c.jobs() {
		if !all.has(j) {
			missing = append(missing, j)
		}
	}
	if c.tableOnly {
		return printTable(stdout, c, all, len(missing), name)
	}
	p := &pool{results: all, build: name, python: c.python, limit: c.coreMinutes * 60, report: func(r result, left int) {
		fmt.Fprintf(stderr, "%-16s %-14s seed %-3d regret %-10.4g %6.1f s, %d runs to start\n", r.Function, r.Method, r.Seed, r.Regret[r.Evals-1], r.Seconds, left)
	}}
	left, err := p.run(missing, c.workers)
	if err != nil {
		return err // what is done is in the file
	}
	return printTable(stdout, c, all, left, name)
}
