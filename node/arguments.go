package node

import (
	"context"
	"errors"
	"fmt"

	"github.com/fbo-node/fbo/task"
)

// checkJoin returns what is wrong with the arguments of Join, as far as they do not depend on
// the node. A task has all sections after Parse or NewTask, and a zero one has none.
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

// needsStrategies is the error of a Node or Hub without strategies. It names the line to add, since
// this package imports none: a program links those that it names.
func needsStrategies(of string) error {
	return fmt.Errorf("%s.Strategies is empty, expected the strategies that tasks may name: Strategies: strategy.Set{peerprior.Register()} of package tsampling/peerprior, or Strategies: all.Strategies() of package strategy/all", of)
}
