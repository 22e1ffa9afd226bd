package peerprior

import (
	"github.com/fbo-node/fbo/internal/exchange/sums"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/alone"
	"github.com/fbo-node/fbo/task"
)

// discloseSum returns the disclosure in which nodes share sums over nodes without noise.
func discloseSum() strategy.Disclosure {
	d := sums.Disclosure(sums.NewFeatures)
	d.New = func(t *task.Task) (strategy.Strategy, error) { return alone.NewEngine(t), nil }
	return d
}
