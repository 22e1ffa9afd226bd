package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"

	"github.com/fbo-node/fbo/benchmarks/internal/drive"
	"github.com/fbo-node/fbo/benchmarks/internal/python"
	"github.com/fbo-node/fbo/benchmarks/internal/uniform"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/lab/testfunc"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// Methods.
const (
	fboName    = "fbo"
	randomName = "random"
	tpeName    = "tpe"
	gpName     = "gp"
)

// maxAttempts bounds a node's run, in multiples of the outcomes that it has to reach.
const maxAttempts = 10

// job names a run.
type job struct {
	Row    string `json:"row"`
	Method string `json:"method"`
	Seed   uint64 `json:"seed"`
	Build  string `json:"build"` // of the program
}

// result is what a run gave: one line of the file of results.
type result struct {
	job
	Evals       int               `json:"evals"`
	Failed      int               `json:"failed"`
	FirstHit    int               `json:"first_hit,omitempty"`   // of a flat row: the first evaluation off the plateau; 0: none
	Regret      *float64          `json:"regret"`                // of the best observed design; null while there is none
	Recommended *float64          `json:"recommended,omitempty"` // regret of the recommended design
	Node        *nodeRun          `json:"node,omitempty"`
	Versions    map[string]string `json:"versions,omitempty"` // of what a method in Python uses
	Warnings    []string          `json:"warnings,omitempty"`
}

// nodeRun is what node.Session.Run came to.
type nodeRun struct {
	Attempts int    `json:"attempts"`
	Outcomes int    `json:"outcomes"`
	GaveUp   string `json:"gave_up,omitempty"` // the error of the run that did
}

// run is one in progress.
type run struct {
	row    row
	seed   random.Seed // of the objective
	method random.Seed
	result *result

	k    int     // evaluations so far
	best float64 // least observed value
}

func newRun(r row, seed uint64, into *result) *run {
	name := cmp.Or(r.clean, r.name) // runs with and without outliers are paired
	s := random.SeedOf(seed).Derive(name, 0)
	return &run{row: r, seed: s, method: s.Derive("method", 0), result: into, best: math.Inf(1)}
}

// evaluate measures a design; false: it fails.
func (r *run) evaluate(d task.Design) (observed float64, ok bool) {
	r.k++
	rng := r.seed.Stream("evaluation", uint64(r.k))
	x := r.row.coordinates(d)
	if r.row.fails != nil && r.row.fails(x, rng) {
		r.result.Failed++
		return 0, false
	}
	value := r.row.value(x)
	if r.row.plateau > 0 && value < r.row.plateau && r.result.FirstHit == 0 {
		r.result.FirstHit = r.k
	}
	observed = value
	if r.row.observe != nil {
		observed = r.row.observe(r.k, value, rng)
	}
	if observed < r.best {
		r.best, r.result.Regret = observed, &value
	}
	return observed, true
}

// do carries out a run in this process, and in Python what is a method there.
func (j job) do(shared *python.Shared) (result, error) {
	spec, err := rowNamed(j.Row)
	if err != nil {
		return result{}, err
	}
	done := result{job: j, Evals: spec.evals}
	r := newRun(spec, j.Seed, &done)
	switch j.Method {
	case randomName:
		r.random()
	case fboName:
		if err = r.agent(); err == nil && spec.outcome > 0 {
			done.Node, err = runNode(spec, j.Seed)
		}
	default:
		err = r.optuna(j.Method, shared)
	}
	if err != nil {
		return result{}, fmt.Errorf("%s on %s, seed %d: %w", j.Method, j.Row, j.Seed, err)
	}
	return done, nil
}

func rowNamed(name string) (row, error) {
	for _, r := range rows() {
		if r.name == name {
			return r, nil
		}
	}
	return row{}, fmt.Errorf("row %q is not known", name)
}

func (r *run) random() {
	rng := r.method.Stream("uniform", 0)
	for range r.row.evals {
		r.evaluate(uniform.Design(r.row.space, rng))
	}
}

// coordinates returns the natural coordinates of a design.
func (r row) coordinates(d task.Design) []float64 {
	return testfunc.Function{Space: r.space}.Coordinates(d)
}

// task has all defaults.
func (r row) task() (*task.Task, error) {
	return all.Strategies().NewTask(task.Spec{Name: "robust", Goal: task.Minimize, Parameters: r.space.Parameters()})
}

// agent lets this project's agent choose all designs, and at the end recommend one.
func (r *run) agent() error {
	spec, err := r.row.task()
	if err != nil {
		return err
	}
	d, err := drive.New(spec, nil, 0, r.method)
	if err != nil {
		return err
	}
	for range r.row.evals {
		trial, err := d.Ask()
		if err != nil {
			return err
		}
		if value, ok := r.evaluate(trial.Design); ok {
			err = d.Tell(trial.ID, strategy.Outcome{Value: value})
		} else {
			err = d.Fail(trial.ID, "this part of the space fails")
		}
		if err != nil {
			return err
		}
	}
	r.result.Warnings = d.Warnings
	design, err := d.Recommend()
	if err != nil || design.IsZero() {
		return err
	}
	x := r.row.coordinates(design)
	if r.row.fails == nil || !r.row.fails(x, r.seed.Stream("recommended", 0)) {
		value := r.row.value(x)
		r.result.Recommended = &value
	}
	return nil
}

var errEnough = errors.New("too many attempts")

// runNode runs a node until it has the row's number of outcomes, gives up, or has made many
// attempts.
func runNode(spec row, seed uint64) (*nodeRun, error) {
	dir, err := os.MkdirTemp("", "fbo-robust-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	n := &node.Node{Dir: dir, Listen: []string{"/ip4/127.0.0.1/udp/0/quic-v1"}, Strategies: all.Strategies(), OnWarning: func(string) {}}
	if err := n.Start(ctx); err != nil {
		return nil, err
	}
	defer n.Close()
	t, err := spec.task()
	if err != nil {
		return nil, err
	}
	session, err := n.Join(ctx, t, node.JoinOptions{Seed: &seed})
	if err != nil {
		return nil, err
	}
	measured := &result{}
	r := newRun(spec, seed, measured)
	err = session.Run(ctx, func(_ context.Context, d task.Design) (float64, error) {
		if r.k >= maxAttempts*spec.outcome {
			stop(errEnough)
			return 0, errEnough
		}
		value, ok := r.evaluate(d)
		if !ok {
			return 0, errors.New("this part of the space fails")
		}
		return value, nil
	}, node.RunOptions{Evals: spec.outcome})
	made := &nodeRun{Attempts: r.k, Outcomes: r.k - measured.Failed}
	switch {
	case errors.Is(err, node.ErrTooManyFailures):
		made.GaveUp = err.Error()
	case err != nil && !errors.Is(err, errEnough):
		return nil, err
	}
	return made, nil
}
