package main

import (
	"fmt"
	"math"

	"github.com/fbo-node/fbo/benchmarks/internal/build"
	"github.com/fbo-node/fbo/benchmarks/internal/cpu"
	"github.com/fbo-node/fbo/benchmarks/internal/drive"
	"github.com/fbo-node/fbo/benchmarks/internal/python"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/lab/baseline"
	"github.com/fbo-node/fbo/lab/family"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

const (
	randomName  = "random"
	botorchName = "botorch"
)

// job names a run.
type job struct {
	Family string `json:"family"`
	Method string `json:"method"`
	Draw   uint64 `json:"draw"` // of the family, its seed
	Evals  int    `json:"evals"`
}

// result is what a run gave: one line of the file of results.
type result struct {
	job
	Regret   []*float64        `json:"regret"`  // of the best feasible design so far, after each evaluation; null while there is none
	Range    float64           `json:"range"`   // of the objective, which counts while there is none
	Seconds  float64           `json:"seconds"` // of processor time, on as many cores as the method takes
	Versions map[string]string `json:"versions"`
	Warnings []string          `json:"warnings,omitempty"`
}

// problem is what a method meets, and what it has found so far.
type problem struct {
	family.Federation
	member family.Member
	best   *float64
	result result
}

func (j job) problem() (*problem, error) {
	f, err := family.Kinds().Parse(j.Family)
	if err != nil {
		return nil, err
	}
	drawn, err := f.Draw(random.SeedOf(j.Draw), 1)
	if err != nil {
		return nil, err
	}
	p := &problem{Federation: drawn, member: drawn.Members[0], result: result{job: j, Range: drawn.Members[0].Objective.Range}}
	if drawn.Infeasible {
		return nil, fmt.Errorf("family %s: nothing is feasible, so that there is no regret", j.Family)
	}
	noise := p.member.Objective.Noise
	for _, c := range p.member.Constraints {
		noise = max(noise, c.Noise)
	}
	if noise > 0 {
		return nil, fmt.Errorf("family %s has noise; expected families without, as in limits:noise=0", j.Family)
	}
	return p, nil
}

// observe evaluates a design.
func (p *problem) observe(d task.Design) strategy.Outcome {
	o := strategy.Outcome{Value: p.member.Objective.Value(d), Constraints: map[string]task.Reading{}}
	feasible := true
	for i, c := range p.Constraints {
		value := p.member.Constraints[i].Value(d)
		feasible = feasible && c.Keeps(value)
		o.Constraints[string(c.Output)] = task.Number(value)
	}
	regret := max(p.Goal.Sign()*(p.member.Objective.Optimum-o.Value), 0)
	if feasible && (p.best == nil || regret < *p.best) {
		p.best = &regret
	}
	p.result.Regret = append(p.result.Regret, p.best)
	return o
}

// do carries out a run. The proposer is needed by BoTorch only.
func (j job) do(rival *python.Process) (result, error) {
	p, err := j.problem()
	if err != nil {
		return result{}, err
	}
	seed := random.SeedOf(j.Draw).Derive("method", 0)
	before := cpu.Seconds()
	if j.Method == botorchName {
		err = p.byBoTorch(j, seed, rival)
	} else {
		err = p.byAgent(j.Method, j.Evals, seed)
	}
	if err != nil {
		return result{}, fmt.Errorf("%s on %s, draw %d: %w", j.Method, j.Family, j.Draw, err)
	}
	p.result.Seconds += cpu.Seconds() - before
	return p.result, nil
}

// task has all defaults but for the type of its strategy.
func (p *problem) task(kind string) (*task.Task, error) {
	return all.Strategies().NewTask(task.Spec{
		Name: "constrained", Goal: p.Goal, Parameters: p.Space.Parameters(), Constraints: p.Constraints,
		Strategy: task.Strategy{Type: kind},
	})
}

// byAgent plays a strategy, with all defaults of the task file.
func (p *problem) byAgent(method string, evals int, seed random.Seed) error {
	kind := method
	if method == randomName {
		kind = "ts" // whose place it takes
	}
	t, err := p.task(kind)
	if err != nil {
		return err
	}
	var own strategy.Strategy
	if method == randomName {
		own = baseline.NewRandom(t)
	}
	d, err := drive.New(t, own, 0, seed)
	if err != nil {
		return err
	}
	for range evals {
		trial, err := d.Ask()
		if err != nil {
			return err
		}
		if err := d.Tell(trial.ID, p.observe(trial.Design)); err != nil {
			return err
		}
	}
	p.result.Warnings = d.Warnings
	name, err := build.Name()
	p.result.Versions = map[string]string{"build": name}
	return err
}

// byBoTorch starts with the designs that an agent starts with.
func (p *problem) byBoTorch(j job, seed random.Seed, rival *python.Process) error {
	r := request{C: make([][]float64, len(p.Constraints))}
	observe := func(d task.Design) strategy.Outcome {
		o := p.observe(d)
		r.X, r.Y = append(r.X, p.Space.Encode(d)), append(r.Y, p.Goal.Sign()*o.Value)
		for i, c := range p.Constraints {
			over, err := excess(c, o.Constraints[string(c.Output)].Float())
			if err != nil {
				panic(err) // no family of this project has other limits
			}
			r.C[i] = append(r.C[i], over)
		}
		return o
	}
	t, err := p.task("logei")
	if err != nil {
		return err
	}
	if err := drive.Start(t, seed, j.Evals, observe); err != nil {
		return err
	}
	for len(r.Y) < j.Evals {
		r.Seed = j.Draw*maxEvals + uint64(len(r.Y))
		x, seconds, err := propose(rival, r)
		if err != nil {
			return err
		}
		p.result.Seconds += seconds
		observe(p.Space.Decode(x))
	}
	p.result.Versions = rival.Versions
	return nil
}

// excess is what must be at most 0.
func excess(c task.Constraint, value float64) (float64, error) {
	switch {
	case math.IsInf(c.Low, -1):
		return value - c.High, nil
	case math.IsInf(c.High, 1):
		return c.Low - value, nil
	}
	return 0, fmt.Errorf("constraint %s has two limits; expected one", c.Output)
}
