package gp

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fbo-node/fbo/internal/random"
)

func unequalProblem() (spec Spec, x [][]float64, y, noise []float64, h Hyperparameters) {
	spec = Spec{Kernel: Matern52, Groups: []int{0, 1}}
	rng := random.SeedOf(3).Stream("unequal", 0)
	for i := range 9 {
		x = append(x, []float64{rng.Float64(), rng.Float64()})
		y = append(y, rng.NormFloat64())
		noise = append(noise, 0.01*float64(1+i*i))
	}
	return spec, x, y, noise, Hyperparameters{Lengthscales: []float64{0.4, 0.7}, Noise: 0.05}
}

// reference is the mean and variance at a point by inverting the covariance
// matrix, built from Covariance and the constant part.
func reference(spec Spec, x [][]float64, y, noise []float64, h Hyperparameters, at []float64) (mean, variance float64) {
	t := len(x)
	k := Covariance(spec, append(append([][]float64{}, x...), at), h.Lengthscales)
	c := mat.NewDense(t, t, nil)
	for i := range t {
		for j := range t {
			c.Set(i, j, k.At(i, j)+spec.meanVariance())
		}
		c.Set(i, i, c.At(i, i)+noise[i])
	}
	var inverse mat.Dense
	if err := inverse.Inverse(c); err != nil {
		panic(err)
	}
	cross := mat.NewVecDense(t, nil)
	for i := range t {
		cross.SetVec(i, k.At(i, t)+spec.meanVariance())
	}
	var weights mat.VecDense
	weights.MulVec(&inverse, cross)
	return mat.Dot(&weights, mat.NewVecDense(t, y)), spec.priorVariance() - mat.Dot(&weights, cross)
}

func TestUnequalNoiseIsThatOfTheFormula(t *testing.T) {
	spec, x, y, noise, h := unequalProblem()
	p, err := NewUnequalPosterior(spec, x, y, h, noise)
	if err != nil {
		t.Fatal(err)
	}
	x, y, noise = append(x, []float64{0.9, 0.1}), append(y, 2), append(noise, h.Noise)
	extended, err := p.Extend(x, y)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range [][]float64{{0.2, 0.3}, x[0], {1, 1}} {
		for _, c := range []struct {
			p *Posterior
			t int
		}{{p, len(x) - 1}, {extended, len(x)}} {
			mean, variance := c.p.Predict(at)
			wantMean, wantVariance := reference(spec, x[:c.t], y[:c.t], noise[:c.t], h, at)
			if math.Abs(mean-wantMean) > 1e-9 || math.Abs(variance-wantVariance) > 1e-9 {
				t.Errorf("at %v after %d: %g, %g; want %g, %g", at, c.t, mean, variance, wantMean, wantVariance)
			}
			means, variances, gradient := []float64{0}, []float64{0, 0}, []float64{0, 0}
			c.p.Means(means, at)
			if c.p.Variances(variances, append([]float64{0.9, 0.1}, at...)); math.Abs(variances[1]-variance) > 1e-12 {
				t.Errorf("at %v: Variances %g, Predict %g", at, variances[1], variance)
			}
			if one := c.p.Mean(at); math.Abs(one-mean) > 1e-12 || math.Abs(means[0]-mean) > 1e-12 || math.Abs(c.p.MeanGradient(gradient, at)-mean) > 1e-12 {
				t.Errorf("at %v: Mean %g, Means %g, Predict %g", at, one, means[0], mean)
			}
		}
	}
}

// Over 4,000 draws the mean at an observed point is within five standard errors
// of the posterior's, and the deviation within 6 %.
func TestDrawsUnderUnequalNoise(t *testing.T) {
	spec, x, y, noise, h := unequalProblem()
	p, err := NewUnequalPosterior(spec, x, y, h, noise)
	if err != nil {
		t.Fatal(err)
	}
	const draws = 4000
	rng := random.SeedOf(4).Stream("draws", 0)
	for _, at := range [][]float64{x[0], x[8]} {
		sum, squares := 0.0, 0.0
		for range draws {
			v := p.Draw(64, rng).Value(at)
			sum += v / draws
			squares += v * v / draws
		}
		mean, variance := p.Predict(at)
		if sd := math.Sqrt(squares - sum*sum); math.Abs(sum-mean) > 5*math.Sqrt(variance/draws) || math.Abs(sd/math.Sqrt(variance)-1) > 0.06 {
			t.Errorf("draws have mean %g and deviation %g, the posterior %g and %g", sum, sd, mean, math.Sqrt(variance))
		}
	}
}

func TestNoisesThatAreRefused(t *testing.T) {
	spec, x, y, noise, h := unequalProblem()
	for _, bad := range [][]float64{noise[1:], append(noise[1:], 0), append(noise[1:], math.NaN()), append(noise[1:], math.Inf(1))} {
		if _, err := NewUnequalPosterior(spec, x, y, h, bad); err == nil {
			t.Errorf("noise %v: accepted", bad)
		}
	}
}
