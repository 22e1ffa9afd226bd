// Package curvemodel predicts the final value of an evaluation from its values by step and the curves
// of complete evaluations of other designs.
//
// The final value is the value at the present step plus a remaining change, which is a Gaussian
// process over designs: the autoregressive model of Kennedy and O'Hagan (Biometrika 87, 2000) with
// factor 1, between the present step and the end. So a low learning rate, whose curves fall late, is
// not taken for a bad one. The process is fitted to the changes of complete evaluations from the
// same step, of which the result uses those nearest to the design.
package curvemodel

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/fbo-node/fbo/internal/curves"
	"github.com/fbo-node/fbo/internal/surrogate/gp"
)

// maxComplete is the number of complete evaluations that a prediction uses. It bounds its time.
const maxComplete = 50

// Complete is an evaluation that ran to its end.
type Complete struct {
	X     []float64 // the encoded design
	Curve curves.Curve
	Final float64 // the outcome
}

// Prediction is the predicted final value of an evaluation, in the objective's units.
type Prediction struct {
	Mean, Deviation float64
}

// Predict predicts the final value of an evaluation at x with these values by step, at least one. ok
// is false with fewer than three complete evaluations that have a value at its last step. The result
// depends only on the arguments and rng. If ctx ends first, it returns the error of ctx.
func Predict(ctx context.Context, spec gp.Spec, complete []Complete, x []float64, own curves.Curve, rng *rand.Rand) (p Prediction, ok bool, err error) {
	last := own.Last()
	var all []Complete
	for _, c := range complete {
		if _, ok := c.Curve.Between(last.Step); ok {
			all = append(all, c)
		}
	}
	if len(all) < 3 {
		return Prediction{}, false, nil
	}
	if len(all) > maxComplete {
		slices.SortStableFunc(all, func(a, b Complete) int { return cmp.Compare(distance(a.X, x), distance(b.X, x)) })
		all = all[:maxComplete]
	}
	var points [][]float64
	var changes []float64
	for _, c := range all {
		now, _ := c.Curve.Between(last.Step)
		points, changes = append(points, c.X), append(changes, c.Final-now)
	}
	mean, deviation := stat.MeanStdDev(changes, nil)
	if !(deviation > 0) { // all changes are equal
		return Prediction{Mean: last.Value + mean}, true, nil
	}
	for i := range changes {
		changes[i] = (changes[i] - mean) / deviation
	}
	h, err := gp.Fit(ctx, spec, points, changes, nil, rng)
	if err != nil {
		return Prediction{}, false, err
	}
	process, err := gp.NewPosterior(spec, points, changes, h)
	if err != nil {
		return Prediction{}, false, err
	}
	m, v := process.Predict(x)
	return Prediction{Mean: last.Value + mean + deviation*m, Deviation: deviation * math.Sqrt(v+h.Noise) * inflation(process)}, true, nil
}

// inflation returns the factor, at least 1, by which deviations of a process that was fitted to few
// observations are too small. It is the root mean square of the residuals that each observation has
// if the others predict it.
func inflation(p *gp.Posterior) float64 {
	sum := 0.0
	for _, z := range p.LeaveOut(nil) {
		sum += z * z
	}
	return math.Sqrt(max(1, sum/float64(p.Len())))
}

func distance(a, b []float64) (sum float64) {
	for i := range a {
		sum += (a[i] - b[i]) * (a[i] - b[i])
	}
	return sum
}
