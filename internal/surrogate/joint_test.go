package surrogate

import (
	"math"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/task"
)

// The means and covariances of 4,000 draws at four points must lie within 4.5
// standard errors of the joint distribution: 14 comparisons for each of four
// cases, so a right program fails once in 2,500 seeds (the seed is fixed). A
// correlation that is off by .15 is at least 6 standard errors away.
func TestJointAgreesWithDraws(t *testing.T) {
	const draws = 4000
	for _, kind := range []string{"exact", "rff"} {
		for name, parameters := range map[string][]task.Parameter{"floats": floatParameters(2), "mixed": mixedParameters()} {
			t.Run(kind+"/"+name, func(t *testing.T) {
				definition := newTask(t, kind, 100, parameters...)
				model, err := New(definition)
				if err != nil {
					t.Fatal(err)
				}
				seed := random.SeedOf(14)
				p := fitted(t, model, observe(definition.Space, 6, seed.Stream("data", 0)), seed)
				points := observe(definition.Space, 4, seed.Stream("points", 0)).X
				joint := p.(JointPosterior).Joint(points)
				mean, covariance := joint.Mean(), joint.Covariance()
				k := len(points)
				sums, products, squares := make([]float64, k), make([]float64, k*k), make([]float64, k*k)
				rng, off := seed.Stream("draws", 0), make([]float64, k)
				for range draws {
					f := p.Draw(rng)
					for i, x := range points {
						off[i] = f.Value(x) - mean[i]
						sums[i] += off[i] / draws
						for j := range i + 1 {
							products[i*k+j] += off[i] * off[j] / draws
							squares[i*k+j] += off[i] * off[j] * off[i] * off[j] / draws
						}
					}
				}
				for i := range k {
					if z := sums[i] / math.Sqrt(covariance.At(i, i)/draws); math.Abs(z) > 4.5 {
						t.Errorf("point %d: mean off by %.1f standard errors", i, z)
					}
					for j := range i + 1 {
						got, want := products[i*k+j], covariance.At(i, j)
						if z := (got - want) / math.Sqrt((squares[i*k+j]-got*got)/draws); math.Abs(z) > 4.5 {
							t.Errorf("points %d and %d: covariance %g of draws, want %g, off by %.1f standard errors", i, j, got, want, z)
						}
					}
				}
			})
		}
	}
}
