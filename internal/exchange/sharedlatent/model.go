package sharedlatent

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/fbo-node/fbo/internal/exchange/sharedlatent/latent"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/task"
)

const (
	// latentPoints is the number of points Z at which statements describe the latent function. A
	// statement has up to latentPoints·(latentPoints+3)/2 numbers.
	latentPoints = 30
	overhang     = 0.05 // points lie up to this far outside of the unit cube, since smoothing uses values outside

	// maxLearned is the maximum number of observations from which the hyperparameters of the common
	// process are learned, since the time grows with their cube. The posterior uses all
	// observations.
	maxLearned = 100

	// drawFeatures is the number of random features that represent the prior in a sample path.
	drawFeatures = 512
)

// model is the exact process of one agent, extended by the common process of package latent, whose
// outputs are the functions of all agents.
type model struct {
	surrogate.Process
	spec latent.Spec // common process; the same for all agents of a task
}

var _ surrogate.PeerModel = (*model)(nil)

func newModel(t *task.Task, process surrogate.Process) *model {
	own := process.Spec()
	return &model{process, latent.Spec{Kernel: own.Kernel, Groups: own.Groups, Points: commonPoints(t.Space), Latents: 1, Own: true}}
}

// commonPoints returns the points Z, which fill the unit cube and its surroundings evenly. For d
// dimensions, they are the multiples, modulo 1, of the vector (1/g, …, 1/g^d), where g^(d+1) = g +
// 1 (Roberts, "The Unreasonable Effectiveness of Quasirandom Sequences", 2018). Coordinates of
// parameters other than floats are rounded to those of designs.
func commonPoints(space *task.Space) [][]float64 {
	g := 2.0
	for range 60 {
		g = math.Pow(1+g, 1/float64(space.Dim()+1))
	}
	points := make([][]float64, latentPoints)
	for i := range points {
		even, step := make([]float64, space.Dim()), 1.0
		for c := range even {
			step /= g
			_, even[c] = math.Modf(0.5 + float64(i+1)*step)
		}
		points[i] = append([]float64(nil), even...)
		space.Snap(points[i])
		for _, block := range space.Blocks() {
			if block.Kind == task.Float {
				points[i][block.Start] = (1+2*overhang)*even[block.Start] - overhang
			}
		}
	}
	return points
}

// Condition conditions the own process. It can extend the own part of the previous posterior.
func (m *model) Condition(obs surrogate.Observations, h surrogate.Hyperparameters, previous surrogate.Posterior) (surrogate.Posterior, error) {
	if before, ok := previous.(*posterior); ok {
		previous = before.own
	}
	return m.Process.Condition(obs, h, previous)
}

// FitWithPeers fits the hyperparameters of the own process, on which peers have no effect.
func (m *model) FitWithPeers(ctx context.Context, _ any, obs surrogate.Observations, previous *surrogate.Hyperparameters, rng *rand.Rand) (surrogate.Hyperparameters, error) {
	return m.Fit(ctx, obs, previous, rng)
}

// ConditionOnPeers returns a posterior of the common process, with hyperparameters that it learns
// anew in each call. If there are no statements it returns own.
func (m *model) ConditionOnPeers(ctx context.Context, peers any, obs surrogate.Observations, own surrogate.Posterior) (surrogate.Posterior, error) {
	statements := peers.(PeerFactors)
	if len(statements) == 0 {
		return own, nil
	}
	alone, ok := own.(surrogate.Scaled)
	if _, before := own.(*posterior); before || !ok {
		return nil, fmt.Errorf("a posterior of type %T is conditioned on peers: must be one that Condition returned", own)
	}
	y, err := m.Standardize(obs)
	if err != nil {
		return nil, err
	}
	gathered, err := m.spec.Gather(statements)
	if err != nil {
		return nil, err
	}
	proposed, err := m.learn(ctx, gathered, obs.X, y)
	if err != nil {
		return nil, err
	}
	x, some := evenly(obs.X, y)
	agreed := m.spec.Average(gathered, proposed.Latent, len(y))
	h, err := m.spec.Fit(ctx, gathered, x, some, agreed, true, &proposed)
	if err != nil {
		return nil, err
	}
	process, err := m.spec.Condition(gathered, h, obs.X, y)
	if err != nil {
		return nil, err
	}
	return &posterior{own: alone, process: process, proposed: proposed}, nil
}

// learn returns the hyperparameters of the common process that the agent proposes.
func (m *model) learn(ctx context.Context, gathered *latent.Gathered, x [][]float64, y []float64) (latent.Hyperparameters, error) {
	x, y = evenly(x, y)
	begin := m.spec.Average(gathered, m.spec.PriorMode().Latent, 1)
	return m.spec.Fit(ctx, gathered, x, y, begin, false, nil)
}

// evenly returns at most maxLearned observations, evenly spaced in their order.
func evenly(x [][]float64, y []float64) (someX [][]float64, someY []float64) {
	if len(x) <= maxLearned {
		return x, y
	}
	for i := range maxLearned {
		k := i * len(x) / maxLearned
		someX, someY = append(someX, x[k]), append(someY, y[k])
	}
	return someX, someY
}

// state returns the agent's statement. There must be at least one observation. If the posterior is
// conditioned on peers, state uses the hyperparameters proposed then.
func (m *model) state(ctx context.Context, obs surrogate.Observations, given surrogate.Posterior) (latent.Statement, error) {
	y, err := m.Standardize(obs)
	if err != nil {
		return latent.Statement{}, err
	}
	if informed, ok := given.(*posterior); ok {
		return m.spec.State(informed.proposed, obs.X, y)
	}
	nothing, err := m.spec.Gather(nil)
	if err != nil {
		return latent.Statement{}, err
	}
	h, err := m.learn(ctx, nothing, obs.X, y)
	if err != nil {
		return latent.Statement{}, err
	}
	return m.spec.State(h, obs.X, y)
}

// posterior predicts and draws from the common process. What the agent shares (Weights, Mean,
// Explained) comes from the own process, so that no peer receives its own information back.
type posterior struct {
	own      surrogate.Scaled
	process  *latent.Posterior
	proposed latent.Hyperparameters
}

var (
	_ surrogate.Scaled  = (*posterior)(nil)
	_ surrogate.Pending = (*posterior)(nil)
)

func (p *posterior) Predict(x []float64) (mean, variance float64) { return p.process.Predict(x) }

func (p *posterior) PredictGradient(meanGradient, varianceGradient, x []float64) (mean, variance float64) {
	return p.process.PredictGradient(meanGradient, varianceGradient, x)
}

func (p *posterior) Draw(rng *rand.Rand) surrogate.Function {
	f, err := p.process.Draw(drawFeatures, rng)
	if err != nil {
		panic(err) // cannot happen: a process that could be conditioned can be drawn from
	}
	return f
}

// Hyperparameters returns the hyperparameters of the own process.
func (p *posterior) Hyperparameters() surrogate.Hyperparameters { return p.own.Hyperparameters() }

func (p *posterior) Units() surrogate.Units { return p.own.Units() }

func (p *posterior) Weights(ctx context.Context, rng *rand.Rand) ([]float64, error) {
	return p.own.Weights(ctx, rng)
}

func (p *posterior) WeightDraw(ctx context.Context, rng *rand.Rand) ([]float64, error) {
	return p.own.WeightDraw(ctx, rng)
}

func (p *posterior) Mean() (level float64, weights []float64) { return p.own.Mean() }

func (p *posterior) DetailedMean() (level float64, weights []float64) {
	return p.own.DetailedMean()
}

func (p *posterior) Explained() (average float64, weights []float64) { return p.own.Explained() }

func (p *posterior) WithPending(x [][]float64) (surrogate.Pending, error) {
	process, err := p.process.WithPending(x)
	if err != nil {
		return nil, err
	}
	next := *p
	next.process = process
	return &next, nil
}
