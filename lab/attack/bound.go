package attack

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/protocol"
)

// unknown is the variance of a coordinate that is known only to lie in the unit interval.
const unknown = 1.0 / 12

// roundingPart is the standard deviation of a float32's rounding error, as a fraction of the
// number. minRounding is that of numbers near 0.
const (
	roundingPart = 1.0 / (1 << 25)
	minRounding  = 1e-10
)

// bound returns the score of an attacker that already knows the approximate truth. It uses the
// standard deviations of inputs and values given the shares. An input counts as found if none of
// its coordinates has a standard deviation above Near. ok is false if shares are not a known
// function with normal noise.
func bound(ctx context.Context, seen *Seen, truth Truth) (s Score, ok bool, err error) {
	n, dim := len(truth.X), seen.Task.Space.Dim()
	x, y := make([][]float64, n), make([]float64, n) // standard deviations; those of values are in the objective's units
	for i := range x {
		x[i], y[i] = slices.Repeat([]float64{math.Sqrt(unknown)}, dim), deviation(truth.Y)
	}
	if shares := valuesOf[protocol.Mean](seen.Disclosures[0]); len(shares) > 0 && shares[len(shares)-1].Observations == n {
		err = boundOfMean(ctx, seen, truth, shares[len(shares)-1], x, y)
	} else if m, known, failed := samplesMean(seen); seen.Deviation > 0 && known && failed == nil {
		// The randomness of a sample adds to the noise, of which it is a small part.
		m.level, m.scale = mean(truth.Y), max(deviation(truth.Y), math.SmallestNonzeroFloat64)
		err = m.bound(truth, x, y)
	} else {
		return s, false, failed
	}
	extent := max(slices.Max(truth.Y)-slices.Min(truth.Y), math.SmallestNonzeroFloat64)
	s = Score{Inputs: float64(n), HasValues: true}
	var distances, errors []float64
	for i := range x {
		most := slices.Max(x[i])
		if most <= Near {
			s.Found++
		}
		if y[i] <= Close*extent {
			s.Values++
		}
		distances, errors = append(distances, most), append(errors, y[i]/extent)
	}
	s.Distance, s.ValueError, s.BestInput = median(distances), median(errors), distances[argmax(truth.Y)]
	return s, true, err
}

func deviation(y []float64) float64 {
	level, square := mean(y), 0.0
	for _, v := range y {
		square += (v - level) * (v - level) / float64(max(len(y)-1, 1))
	}
	return math.Sqrt(square)
}

// boundOfMean fills x and y with the standard deviations given the newest exact mean. The noise of
// the author's process is unknown too.
func boundOfMean(ctx context.Context, seen *Seen, truth Truth, m protocol.Mean, x [][]float64, y []float64) error {
	r, err := newReader(seen.Task)
	if err != nil {
		return err
	}
	n, dim := len(x), seen.Task.Space.Dim()
	unit := deviation(truth.Y)
	says := func(u []float64) []float64 {
		obs := surrogate.Observations{X: rows(u[:n*dim], dim)}
		for _, v := range u[n*dim : n*dim+n] {
			obs.Y = append(obs.Y, unit*v)
		}
		posterior, failed := r.condition(m, obs.X, obs.Y, u[len(u)-1])
		if failed != nil {
			err = failed
			return make([]float64, 2*len(m.Values)+3)
		}
		_, units, failed := surrogate.Outputs(seen.Task, obs)
		if failed != nil {
			err = failed
		}
		level, weights := posterior.DetailedMean()
		average, known := posterior.Explained()
		return append(slices.Concat(weights, known), average, (units.Level+units.Scale*level)/unit, units.Scale/unit)
	}
	u := slices.Concat(truth.X...)
	for _, v := range truth.Y {
		u = append(u, v/unit)
	}
	u = append(u, math.Log(truth.Noise))
	now := says(u)
	jacobian := derivatives(says, u, now)
	if err != nil || ctx.Err() != nil {
		return err
	}
	for i, v := range now {
		noise := roundingPart*math.Abs(v) + minRounding
		for k := range u {
			jacobian.Set(i, k, jacobian.At(i, k)/noise)
		}
	}
	information := mat.NewSymDense(len(u), nil)
	information.SymOuterK(1, jacobian.T())
	for k := range u {
		prior := 1.0 // variance of outputs, and of the logarithm of the noise
		if k < n*dim {
			prior = 1 / unknown
		}
		information.SetSym(k, k, information.At(k, k)+prior)
	}
	deviations := rootsOfInverse(information)
	for i := range x {
		copy(x[i], deviations[i*dim:(i+1)*dim])
		y[i] = min(y[i], unit*deviations[n*dim+i])
	}
	return nil
}

// bound fills x and y with the standard deviations of the observations that the noisy mean
// contains.
func (m noisyMean) bound(truth Truth, x [][]float64, y []float64) error {
	n, dim := m.count, len(truth.X[0])
	z := make([]float64, n)
	u := slices.Concat(truth.X[:n]...)
	for i := range z {
		z[i] = (truth.Y[i] - m.level) / m.scale
	}
	u = append(u, z...)
	covariance := func(phi *mat.Dense) (*mat.Cholesky, bool) {
		c := mat.NewSymDense(n, nil)
		c.SymOuterK(1, phi)
		for i := range n {
			c.SetSym(i, i, c.At(i, i)+m.error)
		}
		var factor mat.Cholesky
		return &factor, factor.Factorize(c)
	}
	phiOf := func(u []float64) *mat.Dense { return m.phi(rows(u[:n*dim], dim)) }
	says := func(u []float64) []float64 {
		phi := phiOf(u)
		var alpha, w mat.VecDense
		if factor, ok := covariance(phi); ok {
			_ = factor.SolveVecTo(&alpha, mat.NewVecDense(n, u[n*dim:])) // an error means near singularity, which does not matter
		}
		w.MulVec(phi.T(), &alpha)
		return w.RawVector().Data
	}
	jacobian := derivatives(says, u, says(u))
	information := mat.NewSymDense(len(u), nil)
	information.SymOuterK(1/(m.deviation*m.deviation), jacobian.T())
	for k := range n * dim {
		information.SetSym(k, k, information.At(k, k)+1/unknown)
	}
	if factor, ok := covariance(phiOf(u)); ok {
		var inverse mat.SymDense
		if err := factor.InverseTo(&inverse); err == nil {
			for i := range n {
				for j := i; j < n; j++ {
					information.SetSym(n*dim+i, n*dim+j, information.At(n*dim+i, n*dim+j)+inverse.At(i, j))
				}
			}
		}
	}
	deviations := rootsOfInverse(information)
	for i := range n {
		copy(x[i], deviations[i*dim:(i+1)*dim])
		y[i] = m.scale * deviations[n*dim+i]
	}
	return nil
}

// rootsOfInverse returns the square roots of the diagonal of the inverse. It scales the matrix
// first, because some numbers are known more precisely than others by orders of magnitude.
func rootsOfInverse(information *mat.SymDense) []float64 {
	n := information.SymmetricDim()
	scale := make([]float64, n)
	for k := range scale {
		scale[k] = 1 / math.Sqrt(information.At(k, k))
	}
	scaled := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			scaled.SetSym(i, j, information.At(i, j)*scale[i]*scale[j])
		}
		scaled.SetSym(i, i, 1+1e-13)
	}
	var factor mat.Cholesky
	var inverse mat.SymDense
	if factor.Factorize(scaled) {
		_ = factor.InverseTo(&inverse) // the condition is 1e13 at most
	} else {
		inverse = *scaled // only because of rounding errors
	}
	roots := make([]float64, n)
	for k := range roots {
		roots[k] = scale[k] * math.Sqrt(max(inverse.At(k, k), 0))
	}
	return roots
}
