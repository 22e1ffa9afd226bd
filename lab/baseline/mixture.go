package baseline

import (
	"sync"

	"github.com/fbo-node/fbo/internal/acquisition"
)

// mixture predicts as RGPE does, with mean Σ w_n μ_n and variance Σ w_n² s_n² over models n.
type mixture struct {
	models  []acquisition.Predictor
	weights []float64 // positive, with sum 1
	memory  sync.Pool // of *[]float64, for gradients
}

var _ acquisition.Predictor = (*mixture)(nil)

func (m *mixture) add(model acquisition.Predictor, weight float64) {
	if weight > 0 {
		m.models, m.weights = append(m.models, model), append(m.weights, weight)
	}
}

// Predict implements acquisition.Predictor.
func (m *mixture) Predict(x []float64) (mean, variance float64) {
	for n, model := range m.models {
		w := m.weights[n]
		mu, v := model.Predict(x)
		mean += w * mu
		variance += w * w * v
	}
	return mean, variance
}

// PredictGradient implements acquisition.Predictor.
func (m *mixture) PredictGradient(dMean, dVariance, x []float64) (mean, variance float64) {
	clear(dMean)
	clear(dVariance)
	held, ok := m.memory.Get().(*[]float64)
	if !ok {
		held = new(make([]float64, 2*len(x)))
	}
	dMu, dV := (*held)[:len(x)], (*held)[len(x):]
	for n, model := range m.models {
		w := m.weights[n]
		mu, v := model.PredictGradient(dMu, dV, x)
		mean += w * mu
		variance += w * w * v
		for i := range dMean {
			dMean[i] += w * dMu[i]
			dVariance[i] += w * w * dV[i]
		}
	}
	m.memory.Put(held)
	return mean, variance
}
