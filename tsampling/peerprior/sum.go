package peerprior

import (
	"github.com/fbo-node/fbo/internal/exchange/sums"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/internal/surrogate/gp"
	"github.com/fbo-node/fbo/rff"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// NewSum returns the strategy of a task with share: sum. Its statement is the posterior of a process
// given one observation at the centre of each cell, with the average output of the peers' observations
// there. The process has the agent's own lengthscales. The noise variance of the average of n outputs is
// that of one output divided by n.
func NewSum(t *task.Task, features *rff.Map) (*Strategy, error) {
	cells, spec := sums.NewCells(t), surrogate.ProcessSpec(t)
	return NewFrom(t, features, func(view strategy.View) []Statement {
		a := cells.Averages(sums.Of(view))
		if len(a.Centres) == 0 {
			return nil
		}
		p, err := posterior(a, spec, hyperparametersOf(t, view))
		if err != nil {
			return nil
		}
		known := func(x []float64) float64 {
			_, variance := p.Predict(x)
			return min(max(1-variance, 0), maxKnown)
		}
		return []Statement{{
			Observations: a.Each,
			Contributors: a.Contributors,
			Explained:    averageOver(cells.Centres(), known),
			Value:        p.Mean,
			Known:        known,
		}}
	})
}

// posterior returns the process given the averages.
func posterior(a sums.Averages, spec gp.Spec, h gp.Hyperparameters) (*gp.Posterior, error) {
	h.Noise = max(h.Noise, sumNoise)
	var noise []float64
	for _, count := range a.Counts {
		noise = append(noise, h.Noise/count)
	}
	return gp.NewUnequalPosterior(spec, a.Centres, a.Outputs, h, noise)
}

// averageOver returns the average of a function at points.
func averageOver(points [][]float64, f func(x []float64) float64) (average float64) {
	for _, x := range points {
		average += f(x) / float64(len(points))
	}
	return average
}

// discloseSum returns the disclosure in which nodes share sums over nodes without noise.
func discloseSum(shared *references) strategy.Disclosure {
	d := sums.Disclosure()
	d.New = func(t *task.Task) (strategy.Strategy, error) { return shared.made(t, NewSum) }
	d.Forecasts = forecasts
	return d
}
