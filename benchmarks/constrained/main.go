package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/fbo-node/fbo/benchmarks/internal/python"
	"github.com/fbo-node/fbo/lab/family"
	"github.com/fbo-node/fbo/strategy/all"
)

func main() {
	c, err := parseFlags(os.Args[1:], os.Stderr)
	if err != nil {
		os.Exit(2) // the flag set has said why
	}
	if err := c.carryOut(os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "constrained:", err)
		os.Exit(1)
	}
}

// config is what the command line asks for.
type config struct {
	families, methods []string
	draws, first      int
	evals             int
	out, python       string
	control           string
	floor             float64
	tableOnly         bool
	command           string // to repeat, as the user wrote it
}

const (
	defaultFamilies = "limits:noise=0;limits:noise=0,c=2;limits:d=6,noise=0;limits:d=6,noise=0,c=2"
	maxDraws        = 10_000
	maxEvals        = 1000
)

func parseFlags(arguments []string, stderr io.Writer) (config, error) {
	c := config{command: "go run ./constrained " + strings.Join(arguments, " ")}
	set := flag.NewFlagSet("constrained", flag.ContinueOnError)
	set.SetOutput(stderr)
	families := set.String("families", defaultFamilies, "families of fbo-node simulate that have constraints and no noise, by semicolon")
	methods := set.String("methods", "random,logei,botorch", "methods, by comma: random, botorch and strategies of the task file that take constraints")
	set.IntVar(&c.draws, "draws", 30, "how many draws of each family")
	set.IntVar(&c.first, "first-draw", 1, "the number of the first draw, which is its seed")
	set.IntVar(&c.evals, "evals", 30, "evaluations per run")
	set.StringVar(&c.out, "out", "constrained/results/limits.jsonl", "file of results; runs that it holds are not repeated")
	set.StringVar(&c.python, "python", "python3", "a Python that has BoTorch; needed when a run of botorch is missing")
	set.StringVar(&c.control, "control", botorchName, "the method that the others are compared with")
	set.Float64Var(&c.floor, "floor", 1e-6, "regrets below this count as this in ratios, where an objective's standard deviation is about 1")
	set.BoolVar(&c.tableOnly, "table", false, "only print the table of what the file holds")
	if err := set.Parse(arguments); err != nil {
		return c, err
	}
	c.families, c.methods = strings.Split(*families, ";"), strings.Split(*methods, ",")
	err := c.validate()
	if set.NArg() > 0 {
		err = fmt.Errorf("argument %q: only flags are accepted", set.Arg(0))
	}
	if err != nil {
		fmt.Fprintln(stderr, "constrained:", err)
	}
	return c, err
}

func (c *config) validate() error {
	for i, spec := range c.families {
		f, err := family.Kinds().Parse(spec)
		if err != nil {
			return fmt.Errorf("--families: %w", err)
		}
		if len(f.Constraints) == 0 {
			return fmt.Errorf("--families: family %q has no constraints; expected those that have", spec)
		}
		c.families[i] = f.Name
	}
	for _, name := range c.methods {
		if r, ok := all.Strategies().Named(name); name != botorchName && name != randomName && !(ok && r.Constraints) {
			return fmt.Errorf("--methods: method %q is not known or takes no constraints; accepted: random, botorch, and strategies that do, as logei", name)
		}
	}
	switch {
	case c.draws < 1 || c.draws > maxDraws:
		return fmt.Errorf("--draws %d: expected 1 to %d", c.draws, maxDraws)
	case c.first < 0:
		return fmt.Errorf("--first-draw %d: expected 0 or more", c.first)
	case c.evals < 1 || c.evals > maxEvals:
		return fmt.Errorf("--evals %d: expected 1 to %d", c.evals, maxEvals)
	case !(c.floor > 0):
		return fmt.Errorf("--floor %g: must be above 0", c.floor)
	case !slices.Contains(c.methods, c.control):
		return fmt.Errorf("--control %s: expected one of --methods", c.control)
	}
	return nil
}

// carryOut plays what is missing, draw by draw so that a stop leaves whole draws, and
// prints the table.
func (c config) carryOut(out, progress io.Writer) error {
	kept, err := openResults(c.out)
	if err != nil {
		return err
	}
	defer kept.Close()
	if !c.tableOnly {
		if err := c.run(kept, progress); err != nil {
			return err
		}
	}
	return printTable(out, c, kept)
}

func (c config) run(kept results, progress io.Writer) error {
	var rival *python.Process // started when a run needs it
	defer func() { rival.Stop() }()
	for i := range c.draws {
		for _, spec := range c.families {
			for _, method := range c.methods {
				j := job{Family: spec, Method: method, Draw: uint64(c.first + i), Evals: c.evals}
				if kept.has(j) {
					continue
				}
				if method == botorchName && rival == nil {
					var err error
					if rival, err = startProposer(c.python); err != nil {
						return err
					}
				}
				r, err := j.do(rival)
				if err != nil {
					return err
				}
				if err := kept.Add(r); err != nil {
					return err
				}
				fmt.Fprintf(progress, "draw %d of %s by %s: %.1f s\n", j.Draw, j.Family, j.Method, r.Seconds)
			}
		}
	}
	return nil
}
