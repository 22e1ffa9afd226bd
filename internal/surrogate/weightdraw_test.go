package surrogate

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fbo-node/fbo/internal/random"
)

// TestWeightDrawIsThePublishedDistribution compares 4,000 draws of both surrogates with equations 2
// and 3 of Dai, Low and Jaillet (2020), N(ν, σ²Σ⁻¹) with Σ = ΦᵀΦ + σ²I and ν = Σ⁻¹Φᵀy. Functions of
// the draws at 20 points have these means and variances. A correct mean deviates by more than 4.5
// standard errors at one of 80 points in one of 1,800 seeds; a variance that is 10 % too large
// deviates by 4.5 of the variance's standard errors.
func TestWeightDrawIsThePublishedDistribution(t *testing.T) {
	const draws = 4000
	for _, kind := range []string{"exact", "rff"} {
		for _, count := range []int{6, 60} { // fewer and more than features
			spec := newTask(t, kind, 24, floatParameters(2)...)
			model, err := New(spec)
			if err != nil {
				t.Fatal(err)
			}
			shared, err := SharedMap(spec)
			if err != nil {
				t.Fatal(err)
			}
			seed := random.SeedOf(uint64(count))
			obs := observe(spec.Space, count, seed.Stream("data", 0))
			p := fitted(t, model, obs, seed)

			y, err := outputsOf(p, obs)
			if err != nil {
				t.Fatal(err)
			}
			noise, err := fitNoise(t.Context(), shared, obs.X, y)
			if err != nil {
				t.Fatal(err)
			}
			phi := mat.NewDense(count, shared.Features(), nil)
			for i, x := range obs.X {
				phi.SetRow(i, shared.Phi(nil, x))
			}
			var sigma, inverse mat.Dense
			sigma.Mul(phi.T(), phi)
			for k := range shared.Features() {
				sigma.Set(k, k, sigma.At(k, k)+noise)
			}
			if err := inverse.Inverse(&sigma); err != nil {
				t.Fatal(err)
			}
			var moment, nu mat.VecDense
			moment.MulVec(phi.T(), mat.NewVecDense(count, y))
			nu.MulVec(&inverse, &moment)

			rng := seed.Stream("draws", 0)
			var weights [][]float64
			for range draws {
				w, err := p.WeightDraw(t.Context(), rng)
				if err != nil {
					t.Fatal(err)
				}
				weights = append(weights, w)
			}
			at := seed.Stream("points", 0)
			for range 20 {
				features := mat.NewVecDense(shared.Features(), shared.Phi(nil, sample(spec.Space, at)))
				wantMean, wantVariance := mat.Dot(features, &nu), noise*mat.Inner(features, &inverse, features)
				var sum, squares float64
				for _, w := range weights {
					v := mat.Dot(features, mat.NewVecDense(len(w), w)) - wantMean
					sum, squares = sum+v, squares+v*v
				}
				if off := sum / math.Sqrt(draws*wantVariance); math.Abs(off) > 4.5 {
					t.Errorf("%s, %d observations: the mean is off by %.1f standard errors", kind, count, off)
				}
				if ratio := squares / draws / wantVariance; math.Abs(ratio-1) > 4.5*math.Sqrt(2./draws) {
					t.Errorf("%s, %d observations: the variance is %.3f of the published one", kind, count, ratio)
				}
			}
		}
	}
}

// outputsOf returns the standardised outputs on which the posterior is conditioned.
func outputsOf(p Posterior, obs Observations) ([]float64, error) {
	if exact, ok := p.(*exactPosterior); ok {
		return exact.process.Outputs(), nil
	}
	return standardise(obs)
}
