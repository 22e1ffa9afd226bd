package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/fbo-node/fbo/benchmarks/internal/build"
	"github.com/fbo-node/fbo/benchmarks/internal/python"
	"github.com/fbo-node/fbo/benchmarks/internal/runs"
)

const (
	// pythonVariable names the Python when no flag does.
	pythonVariable = "FBO_PYTHON"

	maxSeeds = 10000
)

func main() {
	c, err := parseFlags(os.Args[1:], os.Stderr)
	if err != nil {
		os.Exit(2) // the flag set has printed why
	}
	if err := c.carryOut(os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "robust:", err)
		os.Exit(1)
	}
}

// config is what the command line asks for.
type config struct {
	rows         []row // with those that they are compared with
	methods      []string
	seeds, first int
	json, python string
	parallel     int
	command      string // to repeat, as the user wrote it
	notRun       map[string]error
}

func methodNames() []string { return []string{fboName, randomName, tpeName, gpName} }

func parseFlags(arguments []string, stderr io.Writer) (config, error) {
	c := config{command: "go run ./robust " + strings.Join(arguments, " "), notRun: map[string]error{}}
	set := flag.NewFlagSet("robust", flag.ContinueOnError)
	set.SetOutput(stderr)
	pattern := set.String("rows", "", "regular expression of the rows to run, which are GROUP/NAME (default: all)")
	methods := set.String("methods", strings.Join(methodNames(), ","), "methods, by comma")
	set.IntVar(&c.seeds, "seeds", 10, "number of seeds")
	set.IntVar(&c.first, "first-seed", 1, "the first seed")
	set.StringVar(&c.json, "json", "", "file of results, a line of JSON per run; runs that it holds are not repeated (default: none)")
	set.StringVar(&c.python, "python", os.Getenv(pythonVariable), "a Python with Optuna, and with torch for gp; the default is the variable "+pythonVariable)
	set.IntVar(&c.parallel, "parallel", runtime.GOMAXPROCS(0), "number of runs at once")
	if err := set.Parse(arguments); err != nil {
		return c, err
	}
	c.methods = strings.Split(*methods, ",")
	err := c.validate(set, *pattern)
	if err != nil {
		fmt.Fprintln(stderr, "robust:", err)
	}
	return c, err
}

func (c *config) validate(set *flag.FlagSet, pattern string) error {
	wanted, err := regexp.Compile(pattern)
	switch {
	case err != nil:
		return fmt.Errorf("--rows: %w", err)
	case set.NArg() > 0:
		return fmt.Errorf("argument %q: expected flags only", set.Arg(0))
	case c.seeds < 1 || c.seeds > maxSeeds:
		return fmt.Errorf("--seeds %d: expected 1 to %d", c.seeds, maxSeeds)
	case c.first < 0:
		return fmt.Errorf("--first-seed %d: expected 0 or more", c.first)
	case c.parallel < 1:
		return fmt.Errorf("--parallel %d: expected 1 or more", c.parallel)
	}
	for _, method := range c.methods {
		if !slices.Contains(methodNames(), method) {
			return fmt.Errorf("--methods: %q is not known; expected some of %s", method, strings.Join(methodNames(), ", "))
		}
	}
	all := rows()
	needed := map[string]bool{}
	for _, r := range all {
		if wanted.MatchString(r.name) {
			needed[r.name], needed[r.clean] = true, true
		}
	}
	c.rows = slices.DeleteFunc(all, func(r row) bool { return !needed[r.name] })
	if len(c.rows) == 0 {
		return fmt.Errorf("--rows %q: no row has such a name", pattern)
	}
	return nil
}

// results are those of the runs so far, in a file if one is named.
type results struct {
	mu    sync.Mutex
	file  *runs.File[job, result]
	byKey map[job]result
}

// Key implements runs.Result.
func (r result) Key() job { return r.job }

// Length implements runs.Result.
func (r result) Length() int { return r.Evals }

// Check implements runs.Result.
func (r result) Check() error {
	if r.Row == "" || r.Method == "" || r.Evals < 1 {
		return errors.New("expected a run with a row, a method and evaluations")
	}
	return nil
}

func (all *results) get(j job) (result, bool) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.file != nil {
		return all.file.Get(j)
	}
	r, ok := all.byKey[j]
	return r, ok
}

func (all *results) add(r result) error {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.file != nil {
		return all.file.Add(r)
	}
	all.byKey[r.job] = r
	return nil
}

func (c config) carryOut(stdout, stderr io.Writer) error {
	name, err := build.Name()
	if err != nil {
		return err
	}
	all := &results{byKey: map[job]result{}}
	if c.json != "" {
		if all.file, err = runs.Open[job, result](c.json); err != nil {
			return err
		}
		defer all.file.Close()
	}
	for _, method := range c.methods {
		if method == tpeName || method == gpName {
			if err := checkOptuna(c.python, method); err != nil {
				c.notRun[method] = err
				fmt.Fprintf(stderr, "%s is not run: %v\n", method, err)
			}
		}
	}
	if err := c.runAll(all, name, stderr); err != nil {
		return err // what is done is in the file
	}
	return table{c, all, name}.print(stdout)
}

// jobs lists the runs seed by seed.
func (c config) jobs(build string) []job {
	var all []job
	for seed := range c.seeds {
		for _, r := range c.rows {
			for _, method := range c.methods {
				if c.notRun[method] == nil && (method != gpName || r.gp || !strings.HasPrefix(r.name, objective)) {
					all = append(all, job{r.name, method, uint64(c.first + seed), build})
				}
			}
		}
	}
	return all
}

func (c config) runAll(all *results, build string, stderr io.Writer) error {
	missing := make(chan job)
	failed := make(chan error, c.parallel)
	var workers sync.WaitGroup
	for range c.parallel {
		workers.Go(func() {
			shared := &python.Shared{Path: c.python, Script: script}
			defer shared.Stop()
			for j := range missing {
				r, err := j.do(shared)
				if err == nil {
					err = all.add(r)
				}
				if err != nil {
					failed <- err
					return
				}
				fmt.Fprintf(stderr, "%s %s seed %d\n", j.Row, j.Method, j.Seed)
			}
		})
	}
	err := c.feed(all, build, missing, failed)
	close(missing)
	workers.Wait()
	if err == nil && len(failed) > 0 {
		err = <-failed
	}
	return err
}

// feed sends the runs that are missing, until one fails.
func (c config) feed(all *results, build string, missing chan<- job, failed <-chan error) error {
	for _, j := range c.jobs(build) {
		if _, ok := all.get(j); ok {
			continue
		}
		select {
		case missing <- j:
		case err := <-failed:
			return err
		}
	}
	return nil
}
