// Package surrogates knows which exchange a task's surrogate adds to its strategy.
package surrogates

import (
	"github.com/fbo-node/fbo/internal/exchange/hyper"
	"github.com/fbo-node/fbo/internal/exchange/latentfactor"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Extend returns the registration of a task's strategy with what the task's surrogate adds to
// it. Where that is nothing, it is r.
func Extend(r strategy.Registration, t *task.Task) strategy.Registration {
	switch {
	case t.Surrogate.Type == task.SharedLatent:
		return r.WithExchange(latentfactor.Addition())
	case t.Surrogate.SharedHyperparameters:
		return r.WithExchange(hyper.Addition())
	default:
		return r
	}
}
