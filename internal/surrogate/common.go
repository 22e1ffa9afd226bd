package surrogate

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/fbo-node/fbo/internal/surrogate/latent"
	"github.com/fbo-node/fbo/task"
)

const (
	// latentPoints is at how many points agents tell each other what they know of the
	// latent function. A statement has up to latentPoints·(latentPoints+3)/2 numbers.
	latentPoints = 30
	overhang     = 0.05 // of the cube's side, beyond both ends; smoothing reaches over them

	// maxLearned is how many observations enter the fit of the latent process, whose time
	// grows with their cube. All are conditioned on.
	maxLearned = 100
)

// FactorConditioner is what a Model may be too, when agents model their objectives as outputs of one
// process.
type FactorConditioner interface {
	// Spec says which process that is, the same for all agents of a task.
	Spec() latent.Spec
	// Listen returns the posterior of the observations, at least one, given what peers
	// state too. own is that without them, of the same observations; where nobody states
	// anything it is the result. Hyperparameters of the process in common are learned anew
	// each time, which depends on the arguments alone. When ctx ends before that, it
	// returns the error of ctx.
	ConditionOnFactors(ctx context.Context, obs Observations, own Posterior, said []latent.Statement) (Posterior, error)
	// State returns what the observations, at least one, say of the process in common, by
	// the hyperparameters that the posterior was learned with where it comes from Listen.
	State(ctx context.Context, obs Observations, posterior Posterior) (latent.Statement, error)
}

// common is the exact process that listens.
type common struct {
	*exact
	latents latent.Spec
}

var _ FactorConditioner = (*common)(nil)

func newCommon(t *task.Task, process *exact) *common {
	return &common{exact: process, latents: latent.Spec{
		Kernel: process.spec.Kernel, Groups: process.spec.Groups, Points: commonPoints(t.Space), Latents: 1, Own: true,
	}}
}

// commonPoints fill the cube and its surroundings evenly: multiples, modulo 1, of the powers
// of 1/g, where g is the number with g^(d+1) = g + 1 (Roberts, "The Unreasonable
// Effectiveness of Quasirandom Sequences", 2018). Coordinates of what is no float are those
// of designs.
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

func (m *common) Spec() latent.Spec { return m.latents }

// Condition extends what the previous posterior knows by itself.
func (m *common) Condition(obs Observations, h Hyperparameters, previous Posterior) (Posterior, error) {
	if before, ok := previous.(*commonPosterior); ok {
		previous = before.own
	}
	return m.exact.Condition(obs, h, previous)
}

func (m *common) ConditionOnFactors(ctx context.Context, obs Observations, own Posterior, said []latent.Statement) (Posterior, error) {
	if len(said) == 0 {
		return own, nil
	}
	alone, ok := own.(*exactPosterior)
	if !ok {
		return nil, fmt.Errorf("a posterior of type %T listens: must be one that Condition returned", own)
	}
	y, _, err := rescale(obs, m.end)
	if err != nil {
		return nil, err
	}
	gathered, err := m.latents.Gather(said)
	if err != nil {
		return nil, err
	}
	proposed, err := m.learn(ctx, gathered, obs.X, y)
	if err != nil {
		return nil, err
	}
	x, some := evenly(obs.X, y)
	agreed := m.latents.Average(gathered, proposed.Latent, len(y))
	h, err := m.latents.Fit(ctx, gathered, x, some, agreed, true, &proposed)
	if err != nil {
		return nil, err
	}
	process, err := m.latents.Condition(gathered, h, obs.X, y)
	if err != nil {
		return nil, err
	}
	return &commonPosterior{own: alone, process: process, proposed: proposed}, nil
}

// learn returns the agent's own wish for all hyperparameters.
func (m *common) learn(ctx context.Context, gathered *latent.Gathered, x [][]float64, y []float64) (latent.Hyperparameters, error) {
	x, y = evenly(x, y)
	begin := m.latents.Average(gathered, m.latents.PriorMode().Latent, 1)
	return m.latents.Fit(ctx, gathered, x, y, begin, false, nil)
}

// evenly leaves out observations where there are too many to learn from.
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

func (m *common) State(ctx context.Context, obs Observations, posterior Posterior) (latent.Statement, error) {
	y, _, err := rescale(obs, m.end)
	if err != nil {
		return latent.Statement{}, err
	}
	var h latent.Hyperparameters
	if listened, ok := posterior.(*commonPosterior); ok {
		h = listened.proposed
	} else {
		nothing, err := m.latents.Gather(nil)
		if err != nil {
			return latent.Statement{}, err
		}
		if h, err = m.learn(ctx, nothing, obs.X, y); err != nil {
			return latent.Statement{}, err
		}
	}
	said, err := m.latents.State(h, obs.X, y)
	if err != nil {
		return latent.Statement{}, err
	}
	return said, nil
}

// commonPosterior predicts and draws by the process in common. What it shares is of the own
// process, so that no peer hears itself.
type commonPosterior struct {
	own      *exactPosterior
	process  *latent.Posterior
	proposed latent.Hyperparameters
}

var _ Scaled = (*commonPosterior)(nil)

func (p *commonPosterior) Predict(x []float64) (mean, variance float64) { return p.process.Predict(x) }

func (p *commonPosterior) PredictGradient(meanGradient, varianceGradient, x []float64) (mean, variance float64) {
	return p.process.PredictGradient(meanGradient, varianceGradient, x)
}

func (p *commonPosterior) Draw(rng *rand.Rand) Function {
	f, err := p.process.Draw(drawFeatures, rng)
	if err != nil {
		panic(err) // what can be conditioned on can be drawn from
	}
	return f
}

// Hyperparameters returns those of the own process.
func (p *commonPosterior) Hyperparameters() Hyperparameters { return p.own.Hyperparameters() }

func (p *commonPosterior) Units() Units { return p.own.units }

func (p *commonPosterior) Weights(ctx context.Context, rng *rand.Rand) ([]float64, error) {
	return p.own.Weights(ctx, rng)
}

func (p *commonPosterior) Mean() (level float64, weights []float64) { return p.own.Mean() }

func (p *commonPosterior) DetailedMean() (level float64, weights []float64) {
	return p.own.DetailedMean()
}

func (p *commonPosterior) Explained() (average float64, weights []float64) { return p.own.Explained() }
