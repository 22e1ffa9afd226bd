// Package curvemodel predicts the final value of an evaluation from its values by step and the curves
// of complete evaluations of other designs.
//
// The final value is the value at the present step plus a remaining change, which is a Gaussian
// process over designs: the autoregressive model of Kennedy and O'Hagan (Biometrika 87, 2000) with
// factor 1, between the present step and the end. So a low learning rate, whose curves fall late, is
// not taken for a bad one. The process is fitted to the changes of complete evaluations from the
// same step, of which the result uses those nearest to the design.
//
// Equal changes, as of objectives with few values, have no variance to fit. Their prediction has the
// deviation of a change that differs with the probability of the rule of succession.
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

// rounding is the fraction of the largest value up to which changes count as equal.
const rounding = 1e-12

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
// is false with fewer than three complete evaluations that have a value at its last step, and if all
// values are equal, so that none has a scale. The result depends only on the arguments and rng. If
// ctx ends first, it returns the error of ctx.
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
	values := []float64{last.Value}
	var changes []float64
	largest := math.Abs(last.Value)
	for _, c := range all {
		now, _ := c.Curve.Between(last.Step)
		points, changes, values = append(points, c.X), append(changes, c.Final-now), append(values, now)
		largest = max(largest, math.Abs(now), math.Abs(c.Final))
	}
	mean, deviation := stat.MeanStdDev(changes, nil)
	if deviation <= rounding*largest {
		scale := math.Hypot(stat.StdDev(values, nil), mean)
		p := Prediction{Mean: last.Value + mean, Deviation: scale * afterEqual(len(changes))}
		return p, scale > rounding*largest, nil
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

// afterEqual returns the standard deviation of the change after n equal ones, in units of the values'
// scale. Exactly equal changes come from a distribution with few values, for which a sample
// variance of 0 is no estimate. By Laplace's rule of succession the next differs with the probability
// 1/(n+2). It then differs by about the scale: the spread of the present values and the mean change.
func afterEqual(n int) float64 { return 1 / math.Sqrt(float64(n+2)) }

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
