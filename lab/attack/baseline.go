package attack

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"
	"gonum.org/v1/gonum/stat/samplemv"

	"github.com/fbo-node/fbo/task"

	"github.com/fbo-node/fbo/internal/acquisition"
)

// Parameters of the baseline's guesses: a part of the designs lies around the estimated optimum
// with this standard deviation, and the others are spread like starting designs. Each score takes
// the best combination, so the baseline is as good as an attacker that knows the best combination
// for the task.
var (
	baselineParts   = []float64{0, 0.25, 0.5, 0.75, 1}
	baselineSpreads = []float64{0.02, 0.05, 0.1, 0.2}
)

const baselineDraws = 10 // for each combination; the scores are averaged

// baseline returns the score of an attacker that knows the number of designs, how starting designs
// are drawn, and the exact estimated optimum.
func baseline(t *task.Task, truth Truth, rng *rand.Rand) Score {
	best := Score{Distance: 1, FrontDistance: 1}
	for _, part := range baselineParts {
		for _, spread := range baselineSpreads {
			var scores []Score
			for range baselineDraws {
				scores = append(scores, score(truth, Guess{X: spreadOut(t, truth.EstimatedOptimum, len(truth.X), part, spread, rng), Best: truth.EstimatedOptimum}))
			}
			s := average(scores)
			best.Found, best.Distance = max(best.Found, s.Found), min(best.Distance, s.Distance)
			best.FrontFound, best.FrontDistance = max(best.FrontFound, s.FrontFound), min(best.FrontDistance, s.FrontDistance)
			best.Front, best.Inputs, best.Values, best.ValueError, best.BestInput = s.Front, s.Inputs, s.Values, s.ValueError, s.BestInput
		}
	}
	return best
}

// spreadOut returns n designs. A part of them lies around one design, which is the first.
func spreadOut(t *task.Task, around []float64, n int, part, spread float64, rng *rand.Rand) [][]float64 {
	var all [][]float64
	if around != nil {
		for i := range int(part*float64(n) + 0.5) {
			x := append([]float64(nil), around...)
			for k := range x {
				if i > 0 {
					x[k] = min(max(x[k]+spread*rng.NormFloat64(), 0), 1)
				}
			}
			t.Space.Snap(x)
			all = append(all, x)
		}
	}
	if left := n - len(all); left > 0 {
		points := mat.NewDense(left, t.Space.Len(), nil)
		samplemv.LatinHypercube{Q: distmv.NewUnitUniform(t.Space.Len(), rng), Src: rng}.Sample(points)
		for i := range left {
			x := acquisition.Place(t.Space, points.RawRowView(i))
			t.Space.Snap(x)
			all = append(all, x)
		}
	}
	return all
}
