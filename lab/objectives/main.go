// Command objectives evaluates designs of a federation of `fbo-node simulate` whose members have
// several objectives. Optimisers in other languages then have the same objectives, as in
// python/benchmarks/several.py:
//
//	go build -o /tmp/objectives ./lab/objectives
//	/tmp/objectives --family network --seed 9201 --repeat 0
//
// Its first line describes the problem, of which all objectives are minimised:
//
//	{"coordinates":5,"reference":[0.8,4],"hypervolume":2.1}
//
// Each line of input is a point of the unit cube, such as [0.5,0.5,0.5,0.5,0.5]. The answer is a line
// with the objectives, without noise, of the design that the point is decoded to. Objectives with the
// goal maximize are negated.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/fbo-node/fbo/lab/experiment"
	"github.com/fbo-node/fbo/lab/family"
	"github.com/fbo-node/fbo/lab/trained"
	"github.com/fbo-node/fbo/task"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "objectives:", err)
		os.Exit(1)
	}
}

// problem is the first line of output.
type problem struct {
	Coordinates int       `json:"coordinates"`
	Reference   []float64 `json:"reference"`
	Hypervolume float64   `json:"hypervolume"` // the largest one, as far as the family knows
}

func run(args []string, in io.Reader, out, usage io.Writer) error {
	flags := flag.NewFlagSet("objectives", flag.ContinueOnError)
	flags.SetOutput(usage)
	spec := flags.String("family", "network", "family of simulate, with several objectives")
	seed := flags.Uint64("seed", 1, "seed of the experiment")
	repeat := flags.Int("repeat", 0, "federation of the experiment, from 0")
	agents := flags.Int("agents", 1, "number of members of a federation")
	agent := flags.Int("agent", 0, "member whose objectives these are, from 0")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("argument %q; expected only flags", flags.Arg(0))
	}
	kind, err := append(family.Kinds(), trained.Kinds()...).Parse(*spec)
	if err != nil {
		return err
	}
	if len(kind.Objectives) == 0 {
		return fmt.Errorf("--family %s has one objective; expected a family with several", *spec)
	}
	if *repeat < 0 {
		return fmt.Errorf("--repeat %d; expected 0 or more", *repeat)
	}
	if *agent < 0 || *agent >= *agents {
		return fmt.Errorf("--agent %d; expected 0 to %d, below --agents", *agent, *agents-1)
	}
	f, err := experiment.Plan{Family: kind, Seed: *seed, Agents: *agents}.Federation(*repeat)
	if err != nil {
		return err
	}
	return answer(f, f.Members[*agent], in, out)
}

func answer(f family.Federation, m family.Member, in io.Reader, out io.Writer) error {
	p := problem{Coordinates: f.Space.Dim(), Hypervolume: m.Hypervolume}
	for _, o := range f.Objectives {
		p.Reference = append(p.Reference, -o.Goal.Sign()**o.Reference)
	}
	encoder := json.NewEncoder(out)
	if err := encoder.Encode(p); err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	for n := 1; lines.Scan(); n++ {
		u, err := parse(lines.Bytes(), f.Space.Dim())
		if err != nil {
			return fmt.Errorf("line %d of the input: %w", n, err)
		}
		if err := encoder.Encode(values(f, m, f.Space.Decode(u))); err != nil {
			return err
		}
	}
	return lines.Err()
}

// parse returns the coordinates of a line.
func parse(line []byte, dim int) ([]float64, error) {
	var u []float64
	if err := json.Unmarshal(line, &u); err != nil {
		return nil, fmt.Errorf("%w; expected a list of %d numbers", err, dim)
	}
	if len(u) != dim {
		return nil, fmt.Errorf("%d numbers; expected %d", len(u), dim)
	}
	for _, x := range u {
		if x < 0 || x > 1 {
			return nil, fmt.Errorf("coordinate %g; expected 0 to 1", x)
		}
	}
	return u, nil
}

// values returns the objectives at a design, to be minimised.
func values(f family.Federation, m family.Member, d task.Design) []float64 {
	all := []float64{-f.Objectives[0].Goal.Sign() * m.Objective.Value(d)}
	for i, further := range m.Further {
		all = append(all, -f.Objectives[i+1].Goal.Sign()*further.Value(d))
	}
	return all
}
