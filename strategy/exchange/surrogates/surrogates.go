// Package surrogates knows which exchange a task's surrogate adds to its strategy.
package surrogates

import (
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/exchange/hyper"
	"github.com/fbo-node/fbo/strategy/exchange/statements"
	"github.com/fbo-node/fbo/task"
)

// Extend returns the registration of a task's strategy with what the task's surrogate adds to
// it. Where that is nothing, it is r.
func Extend(r strategy.Registration, t *task.Task) strategy.Registration {
	switch {
	case t.Surrogate.Type == task.SharedLatent:
		return r.With(statements.Addition())
	case t.Surrogate.SharedHyperparameters:
		return r.With(hyper.Addition())
	default:
		return r
	}
}
