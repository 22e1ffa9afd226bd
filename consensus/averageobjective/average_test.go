package averageobjective

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/protocol"
)

// randomMean has weights like those of a posterior that has learned a third of the variance.
func randomMean(features int, level, scale float64, rng *rand.Rand) protocol.Mean {
	m := protocol.Mean{Observations: 5, Level: level, Scale: scale, Explained: 0.3}
	for range features {
		m.Values = append(m.Values, rng.NormFloat64())
		m.ExplainedWeights = append(m.ExplainedWeights, 0.05*rng.NormFloat64())
	}
	return m
}

// The average has the mean Σ_k m_k / K and the variance Σ_k v_k / K², in the objective's units.
func TestAverageOfIndependentPosteriors(t *testing.T) {
	features := featuresOf(t, newTask(t, "exact"))
	rng := rand.New(rand.NewPCG(1, 1))
	means := []protocol.Mean{randomMean(64, 2, 1, rng), randomMean(64, -5, 3, rng), randomMean(64, 0, 0.5, rng)}
	a := newAverage(features, means)
	for _, x := range [][]float64{{0}, {0.3}, {0.9}} {
		mean, variance := 0.0, 0.0
		for _, m := range means {
			mean += (m.Level + m.Scale*features.Function(m.Values).Value(x)) / 3
			variance += m.Scale * m.Scale * (1 - m.Explained - features.Function(m.ExplainedWeights).Value(x)) / 9
		}
		got, gotVariance := a.Predict(x)
		if math.Abs(a.output(got)-mean) > 1e-9 || math.Abs(a.unit*a.unit*gotVariance-variance) > 1e-9 {
			t.Errorf("at %v the average has mean %g and variance %g, want %g and %g", x, a.output(got), a.unit*a.unit*gotVariance, mean, variance)
		}
	}
}

// An agent explores with 2·√K·p_k times its own standard deviation, in the units of the average.
func TestExplorationHasTheOwnVarianceOfAllAgents(t *testing.T) {
	of := newTask(t, "exact")
	own := observed(t, of, "a", bowl(0.2, 1), 4)
	means := []protocol.Mean{randomMean(64, 0, 4, rand.New(rand.NewPCG(1, 2))), randomMean(64, 0, 2, rand.New(rand.NewPCG(1, 3)))}
	others := newAverage(featuresOf(t, of), means)
	const scale = 3.0
	e := newExploration(own.Posterior, scale, others, len(means))
	x := []float64{0.55}
	mean, variance := e.Predict(x)
	ownMean, ownVariance := own.Posterior.Predict(x)
	ofOthers, _ := others.Predict(x)
	wantMean := (scale*ownMean + 2*others.unit*ofOthers) / 3
	wantDeviation := math.Sqrt(3) / 3 * scale * math.Sqrt(ownVariance)
	if got, want := mean/math.Sqrt(variance), wantMean/wantDeviation; math.Abs(got-want) > 1e-9*math.Abs(want) {
		t.Errorf("the mean has %g standard deviations, want %g", got, want)
	}
}

func TestGradients(t *testing.T) {
	of := newTask(t, "exact")
	own := observed(t, of, "a", bowl(0.2, 1), 4)
	others := newAverage(featuresOf(t, of), []protocol.Mean{randomMean(64, 1, 2, rand.New(rand.NewPCG(1, 4)))})
	const step = 1e-6
	for name, p := range map[string]acquisition.Predictor{"average": others, "exploration": newExploration(own.Posterior, 2, others, 1)} {
		for _, at := range []float64{0.1, 0.45, 0.8} {
			dMean, dVariance := []float64{7}, []float64{7}
			mean, variance := p.PredictGradient(dMean, dVariance, []float64{at})
			if m, v := p.Predict([]float64{at}); math.Abs(m-mean) > 1e-12 || math.Abs(v-variance) > 1e-12 {
				t.Errorf("%s at %g: %g, %g with gradients and %g, %g without", name, at, mean, variance, m, v)
			}
			highMean, highVariance := p.Predict([]float64{at + step})
			lowMean, lowVariance := p.Predict([]float64{at - step})
			if want := (highMean - lowMean) / (2 * step); math.Abs(dMean[0]-want) > 1e-4*(1+math.Abs(want)) {
				t.Errorf("%s at %g: the gradient of the mean is %g, want %g", name, at, dMean[0], want)
			}
			if want := (highVariance - lowVariance) / (2 * step); math.Abs(dVariance[0]-want) > 1e-4*(1+math.Abs(want)) {
				t.Errorf("%s at %g: the gradient of the variance is %g, want %g", name, at, dVariance[0], want)
			}
		}
	}
}
