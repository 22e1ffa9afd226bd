package surrogate

import (
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/fbo-node/fbo/gp"
	"github.com/fbo-node/fbo/rff"
	"github.com/fbo-node/fbo/task"
)

const (
	// drawFeatures is the number of random features of the prior part of a
	// sample path. The part that the observations determine is exact.
	drawFeatures = 512

	// A path is projected onto M shared features by its values at the larger of
	// 1,000 and 4·M designs, at most 4,000 (a limit on memory and time), with a ridge of 0.05 (in units of the prior
	// variance 1). The ridge decides the norm of the weights: with M = 256 it was
	// 9 to 22 for smooth functions of 2 to 6 floats after 5 to 100 observations,
	// where a draw from the prior over weights has sqrt(256) = 16; rougher ones
	// may be longer. A limit on that norm, as for privacy, must be chosen
	// together with the ridge.
	leastPoints      = 1000
	pointsPerFeature = 4
	mostPoints       = 4000
	ridge            = 0.05
)

// exact is the Gaussian process.
type exact struct {
	spec       gp.Spec
	projection func() (*rff.Projection, error)
}

func newExact(t *task.Task, shared *rff.Map) *exact {
	spec := gp.Spec{Kernel: t.Surrogate.Kernel}
	for parameter, block := range t.Space.Blocks() {
		for range block.Len {
			spec.Groups = append(spec.Groups, parameter)
		}
	}
	// Only who shares pays for the projection, and pays once.
	return &exact{spec: spec, projection: sync.OnceValues(func() (*rff.Projection, error) {
		return rff.NewProjection(shared, projectionPoints(t), ridge)
	})}
}

// projectionPoints are designs, because nobody evaluates a function between
// them: uniform in the cube and moved to the nearest design.
func projectionPoints(t *task.Task) [][]float64 {
	rng := taskSeed(t).Stream("projection", 0)
	count := max(leastPoints, pointsPerFeature*t.Surrogate.Features)
	points := make([][]float64, min(count, mostPoints))
	for i := range points {
		points[i] = make([]float64, t.Space.Dim())
		for k := range points[i] {
			points[i][k] = rng.Float64()
		}
		t.Space.Snap(points[i])
	}
	return points
}

func (e *exact) Fit(obs Observations, previous *Hyperparameters, rng *rand.Rand) (Hyperparameters, error) {
	y, _, err := standardise(obs)
	if err != nil {
		return Hyperparameters{}, err
	}
	var starts []gp.Hyperparameters
	if previous != nil {
		starts = append(starts, gp.Hyperparameters(*previous))
	}
	h, err := gp.Fit(e.spec, obs.X, y, starts, rng)
	if err != nil {
		return Hyperparameters{}, fmt.Errorf("surrogate: %w", err)
	}
	return Hyperparameters(h), nil
}

func (e *exact) Condition(obs Observations, h Hyperparameters) (Posterior, error) {
	y, s, err := standardise(obs)
	if err != nil {
		return nil, err
	}
	p, err := gp.NewPosterior(e.spec, obs.X, y, gp.Hyperparameters(h))
	if err != nil {
		return nil, fmt.Errorf("surrogate: %w", err)
	}
	return &exactPosterior{model: e, process: p, standard: s}, nil
}

type exactPosterior struct {
	model    *exact
	process  *gp.Posterior
	standard standard
}

func (p *exactPosterior) Predict(x []float64) (mean, variance float64) {
	return p.standard.inUnits(p.process.Predict(x))
}

func (p *exactPosterior) Draw(rng *rand.Rand) Function {
	return p.process.Draw(drawFeatures, rng)
}

func (p *exactPosterior) Weights(rng *rand.Rand) []float64 {
	projection, err := p.model.projection()
	if err != nil {
		panic(err) // the ridge makes the matrix positive definite
	}
	draw := p.process.Draw(drawFeatures, rng)
	values := make([]float64, projection.Len())
	for i := range values {
		values[i] = draw.Value(projection.Point(i))
	}
	return projection.Project(values)
}
