package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/fbo-node/fbo/lab/experiment"
)

// report is what simulate --json wrote to a file, and the name that the command line
// gives to it.
type report struct {
	experiment.Report
	name, path string
}

// load reads arguments of the form NAME=FILE. There is at least one report, and all can be
// compared.
func load(arguments []string) ([]report, error) {
	if len(arguments) == 0 {
		return nil, errors.New("no reports given, expected NAME=REPORT.json, one or more")
	}
	var all []report
	for _, argument := range arguments {
		name, path, found := strings.Cut(argument, "=")
		if !found || name == "" || path == "" {
			return nil, fmt.Errorf("%s: expected NAME=REPORT.json", argument)
		}
		r, err := read(path)
		if err != nil {
			return nil, err
		}
		r.name = name
		for _, other := range all {
			if err := r.beside(other); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
		}
		all = append(all, r)
	}
	return all, nil
}

func read(path string) (report, error) {
	r := report{path: path}
	text, err := os.ReadFile(path)
	if err != nil {
		return r, err
	}
	if len(text) == 0 {
		return r, fmt.Errorf("%s: empty; has the simulation ended?", path)
	}
	if err := json.Unmarshal(text, &r.Report); err != nil {
		return r, fmt.Errorf("%s: not a result of simulate --json: %w", path, err)
	}
	if err := r.check(); err != nil {
		return r, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// check finds what cannot be summed up in a single report.
func (r report) check() error {
	if len(r.Strategies) == 0 || len(r.Checkpoints) == 0 {
		return errors.New("a result without strategies or checkpoints")
	}
	compared := false
	for _, s := range r.Strategies {
		if len(s.Compared) == 0 && s.Strategy == r.Control {
			continue
		}
		compared = true
		var at []int
		for _, c := range s.Compared {
			at = append(at, c.Evaluations)
			if ratio := float64(c.Ratio); !(ratio > 0) || math.IsInf(ratio, 1) {
				return fmt.Errorf("%s has no ratio after %d evaluations", s.Strategy, c.Evaluations)
			}
		}
		if !slices.Equal(at, r.Checkpoints) {
			return fmt.Errorf("%s is compared after %s evaluations, but the checkpoints are %s", s.Strategy, list(at), list(r.Checkpoints))
		}
	}
	if !compared {
		return errors.New("a result with no strategy but the control")
	}
	return nil
}

// beside finds what keeps two reports from being units of one summary.
func (r report) beside(other report) error {
	switch {
	case r.name == other.name:
		return fmt.Errorf("the name %s is that of %s too", r.name, other.path)
	case r.Control != other.Control:
		return fmt.Errorf("the control is %s, but %s in %s", r.Control, other.Control, other.path)
	case !slices.Equal(r.Checkpoints, other.Checkpoints):
		return fmt.Errorf("the checkpoints are %s, but %s in %s", list(r.Checkpoints), list(other.Checkpoints), other.path)
	case r.Family == other.Family && r.Seed == other.Seed:
		return fmt.Errorf("family and seed are those of %s, which would count twice", other.path)
	}
	return nil
}

// compared returns a strategy's comparisons with the control, one per checkpoint; nil where
// it is not in the report.
func (r report) compared(strategy string) []experiment.Comparison {
	for _, s := range r.Strategies {
		if s.Strategy == strategy {
			return s.Compared
		}
	}
	return nil
}
