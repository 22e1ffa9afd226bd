package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/fbo-node/fbo/agent"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// engine is this project's agent without peers, driven as a node drives it but
// for journal, network and clock.
func engine(strategyType, surrogateType string, settings map[string]string) method {
	return func(s search) ([]string, error) {
		spec, err := taskFor(s.space, strategyType, surrogateType, settings)
		if err != nil {
			return nil, err
		}
		key, _, err := crypto.GenerateEd25519Key(rand.NewChaCha8(s.seed.Derive("key", 0)))
		if err != nil {
			return nil, err
		}
		d := &driver{now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}
		if d.agent, err = agent.New(agent.Config{Task: spec, Key: key, Seed: s.seed.Derive("agent", 0)}, nil, d.now); err != nil {
			return nil, err
		}
		d.carryOut()
		for i := range s.evals {
			trial, err := d.ask(uint64(i + 1))
			if err != nil {
				return d.warnings, err
			}
			if err := d.agent.Tell(d.now, trial.ID, strategy.Outcome{Value: s.observe(trial.Design)}); err != nil {
				return d.warnings, err
			}
			// The work that this makes possible belongs to the next trial, and
			// the last trial has none.
		}
		return d.warnings, nil
	}
}

// driver does what an agent wants done, at once and in one goroutine.
type driver struct {
	agent    *agent.Agent
	now      time.Time
	answers  []agent.Answer
	warnings []string
}

func (d *driver) ask(request uint64) (strategy.Trial, error) {
	d.agent.Ask(d.now, request)
	d.carryOut()
	if len(d.answers) != 1 {
		return strategy.Trial{}, errors.New("the agent waits for something that never comes without peers")
	}
	answer := d.answers[0]
	d.answers = nil
	return answer.Trial, answer.Err
}

func (d *driver) carryOut() {
	for {
		ready := d.agent.Ready()
		d.answers = append(d.answers, ready.Answers...)
		for _, event := range ready.Events {
			if event.Type == agent.Warning {
				d.warnings = append(d.warnings, event.Message)
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

// taskFor writes and reads a task file, so that all that is not set has the
// defaults that users get, and what is wrong gives the error that they get.
func taskFor(space *task.Space, strategyType, surrogateType string, settings map[string]string) (*task.Task, error) {
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
	sections := map[string]map[string]any{"strategy": {"type": strategyType}, "surrogate": {"type": surrogateType}}
	for key, value := range settings {
		section := "strategy"
		switch key {
		case "kernel", "features", "lengthscale", "category_lengthscale":
			section = "surrogate"
		}
		var parsed any = value
		if json.Valid([]byte(value)) { // a number
			parsed = json.RawMessage(value)
		}
		sections[section][key] = parsed
	}
	text, err := json.Marshal(map[string]any{
		"name": "solo", "goal": task.Minimize, "parameters": parameters,
		"strategy": sections["strategy"], "surrogate": sections["surrogate"],
	})
	if err != nil {
		return nil, fmt.Errorf("task for the engine: %w", err)
	}
	return all.Strategies().Parse("solo", text)
}
