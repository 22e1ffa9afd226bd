package node

import (
	"context"
	"errors"
	"fmt"

	"github.com/fbo-node/fbo/task"
)

// checkJoin returns an error if an argument of Join is wrong by itself, whatever the state of the
// node. Parse and NewTask create all sections of a task, so a task without them is a zero value.
func checkJoin(ctx context.Context, t *task.Task, options JoinOptions) error {
	if ctx == nil {
		return needsContext("Node.Join")
	}
	if t == nil || t.Space == nil || t.Goal == "" || t.Surrogate.Type == "" || t.Strategy.Type == "" {
		return errors.New("Node.Join needs a task that strategy.Set.Parse or strategy.Set.NewTask has made, got nil or an incomplete one")
	}
	if options.Lease < 0 {
		return fmt.Errorf("JoinOptions.Lease is %v, expected 0 (no limit) or more", options.Lease)
	}
	for i, design := range options.Enqueue {
		if err := t.Space.Check(design); err != nil {
			return fmt.Errorf("JoinOptions.Enqueue, design %d: %w", i+1, err)
		}
	}
	for i, design := range options.PriorDesigns {
		if err := t.Space.Check(design); err != nil {
			return fmt.Errorf("JoinOptions.PriorDesigns, design %d: %w", i+1, err)
		}
	}
	return nil
}

func needsContext(call string) error {
	return fmt.Errorf("%s needs a context, got nil; context.Background() is one without an end", call)
}

func needsStart(call string) error {
	return fmt.Errorf("%s: the node has not started; call Start first", call)
}

// needsStrategies returns the error for a Node or Hub (of) without strategies. The error contains
// the line of code to add: this package imports no strategy, so a program links only those that it
// lists.
func needsStrategies(of string) error {
	return fmt.Errorf("%s.Strategies is empty, expected the strategies that tasks may name: Strategies: strategy.Set{peerprior.Register()} of package tsampling/peerprior, or Strategies: all.Strategies() of package strategy/all", of)
}
