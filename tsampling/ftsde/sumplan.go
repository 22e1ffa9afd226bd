package ftsde

import (
	"math"

	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// sumPlan implements strategy.SumPlan.
type sumPlan struct {
	Settings
	initial int // number of observations before the first sum
}

var _ strategy.SumPlan = sumPlan{}

func sumPlanOf(t *task.Task) strategy.SumPlan {
	return sumPlan{settingsOf(t), t.Strategy.InitialDesigns}
}

func (p sumPlan) Cells() int { return p.Settings.Cells }

func (p sumPlan) EvidenceWeighted() bool { return p.Weights == weightsEvidence }

// Noise implements strategy.SumPlan. With several cells the noise is larger in the first rounds,
// because nodes then scale down their contributions to cells other than their own.
func (p sumPlan) Noise(round, nodes int, deviation float64) float64 {
	own := 1 / float64(p.Settings.Cells)
	return deviation / math.Sqrt(float64(nodes)) / (own + (1-own)*Elsewhere((round-1)*p.ShareEvery))
}

func (p sumPlan) PooledNoise(rounds, nodes int, deviation float64) float64 {
	var sums []Sum
	for round := 1; round <= rounds; round++ {
		sums = append(sums, Sum{
			Observations: p.initial + (round-1)*p.ShareEvery,
			Weights:      [][]float64{{1}}, // any nonzero weight
			Noise:        []float64{p.Noise(round, nodes, deviation)},
		})
	}
	_, variance := Pooled(sums)
	return math.Sqrt(variance[0])
}
