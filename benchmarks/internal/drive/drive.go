// Package drive makes one agent of this project choose designs without peers, as a node
// drives it but for journal, network and clock.
package drive

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// Driver does what an agent wants done, at once and in one goroutine.
type Driver struct {
	Warnings []string // of the agent, so far

	agent   *agent.Agent
	now     time.Time
	asked   uint64
	answers []agent.Answer
}

// New returns a driver of an agent on a task. The strategy is the task's when s is nil.
// maxObservations is agent.Config.MaxObservations.
func New(t *task.Task, s strategy.Strategy, maxObservations int, seed random.Seed) (*Driver, error) {
	key, _, err := crypto.GenerateEd25519Key(rand.NewChaCha8(seed.Derive("key", 0)))
	if err != nil {
		return nil, err
	}
	d := &Driver{now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}
	if d.agent, err = agent.New(agent.Config{Task: t, Key: key, Seed: seed.Derive("agent", 0), Strategies: all.Strategies(), Strategy: s, MaxObservations: maxObservations}, nil, d.now); err != nil {
		return nil, err
	}
	d.carryOut()
	return d, nil
}

// Ask returns the next trial.
func (d *Driver) Ask() (strategy.Trial, error) {
	d.asked++
	d.agent.Ask(d.now, d.asked)
	d.carryOut()
	if len(d.answers) != 1 {
		return strategy.Trial{}, errors.New("the agent waits for something that never comes without peers")
	}
	answer := d.answers[0]
	d.answers = nil
	return answer.Trial, answer.Err
}

// Tell says what a trial measured. The work that this makes possible belongs to the
// next trial, and is not done before it is asked for.
func (d *Driver) Tell(trial uint64, outcome strategy.Outcome) error {
	return d.agent.Tell(d.now, trial, outcome)
}

// Fail reports that a trial has failed.
func (d *Driver) Fail(trial uint64, reason string) error { return d.agent.Fail(d.now, trial, reason) }

// Recommend returns the design that the agent recommends after all outcomes so far; the
// zero design while it has no model.
func (d *Driver) Recommend() (task.Design, error) {
	d.carryOut()
	return d.agent.Recommend(context.Background(), d.agent.View(d.now))
}

func (d *Driver) carryOut() {
	for {
		ready := d.agent.Ready()
		d.answers = append(d.answers, ready.Answers...)
		for _, event := range ready.Events {
			if event.Type == agent.Warning {
				d.Warnings = append(d.Warnings, event.Message)
			}
		}
		if len(ready.Work) == 0 {
			return
		}
		for _, work := range ready.Work {
			d.agent.Done(d.now, work.ID, work.Run(context.Background()))
		}
	}
}

// Start evaluates the starting designs of an agent without peers, before its model chooses
// designs: as many as the task has initial designs, and at most the given number.
func Start(t *task.Task, seed random.Seed, most int, evaluate func(task.Design) strategy.Outcome) error {
	d, err := New(t, nil, 0, seed)
	if err != nil {
		return err
	}
	for range min(t.Strategy.InitialDesigns, most) {
		trial, err := d.Ask()
		if err != nil {
			return err
		}
		if err := d.Tell(trial.ID, evaluate(trial.Design)); err != nil {
			return err
		}
	}
	return nil
}

// Parameters returns the parameters of a space as a task file has them.
func Parameters(space *task.Space) []map[string]any {
	var parameters []map[string]any
	for _, p := range space.Parameters() {
		item := map[string]any{"name": p.Name, "type": p.Kind}
		if p.Kind == task.Categorical {
			item["choices"] = p.Choices
		} else {
			item["low"], item["high"] = p.Low, p.High
			if p.Scale != "" {
				item["scale"] = p.Scale
			}
		}
		parameters = append(parameters, item)
	}
	return parameters
}
