package attack

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/rff"
	"github.com/fbo-node/fbo/task"
)

// noisyMean is a posterior mean over the shared features with noise. It is the mean of the Bayesian
// linear model given `count` observations, whose errors have the variance `error`. Each weight has
// normal noise with the standard deviation `deviation`.
type noisyMean struct {
	task      *task.Task
	features  *rff.Map
	weights   []float64
	count     int
	error     float64
	deviation float64
	// An observation is level + scale times an output.
	level, scale float64
}

// phi returns the features of the inputs, one row each.
func (m noisyMean) phi(x [][]float64) *mat.Dense {
	phi := mat.NewDense(len(x), len(m.weights), nil)
	for i := range x {
		m.features.Phi(phi.RawRowView(i), x[i])
	}
	return phi
}

// evidence returns the log probability of the noisy weights given the inputs alone, up to a
// constant. With C = K + error·I and noise of standard deviation s, the weights are normal with
// covariance ΦᵀC⁻¹Φ + s²I. Its inverse and determinant follow from those of s²C + K.
func (m noisyMean) evidence(x [][]float64) float64 {
	value, _, ok := m.solve(x)
	if !ok {
		return math.Inf(-1)
	}
	return value
}

// fitted is the most probable mean for some inputs.
type fitted struct {
	phi     *mat.Dense
	alpha   mat.VecDense // the mean is Φᵀα
	root    mat.Cholesky // of C
	outputs []float64    // expected outputs at the inputs, Cα
}

// solve returns the evidence and the most probable mean.
func (m noisyMean) solve(x [][]float64) (evidence float64, f fitted, ok bool) {
	n := len(x)
	f.phi = m.phi(x)
	var values mat.VecDense
	values.MulVec(f.phi, mat.NewVecDense(len(m.weights), m.weights))
	kernel := mat.NewSymDense(n, nil)
	kernel.SymOuterK(1, f.phi)
	noise := m.deviation * m.deviation
	c, sum := mat.NewSymDense(n, nil), mat.NewSymDense(n, nil)
	c.CopySym(kernel)
	for i := range n {
		c.SetSym(i, i, c.At(i, i)+m.error)
	}
	sum.ScaleSym(noise, c)
	sum.AddSym(sum, kernel)
	var ofSum mat.Cholesky
	if !f.root.Factorize(c) || !ofSum.Factorize(sum) {
		return 0, f, false
	}
	if err := ofSum.SolveVecTo(&f.alpha, &values); err != nil {
		return 0, f, false
	}
	var z mat.VecDense
	z.MulVec(c, &f.alpha)
	f.outputs = z.RawVector().Data
	// det(I + C⁻¹K/s²) = det(s²C + K) / (det C · s²ⁿ)
	evidence = mat.Dot(&values, &f.alpha)/(2*noise) - (ofSum.LogDet()-f.root.LogDet()-float64(n)*math.Log(noise))/2
	return evidence, f, true
}

// polish moves all inputs at once by the Levenberg–Marquardt method, applied to the residuals of
// the most probable mean. It returns the new inputs if they are more probable.
func (m noisyMean) polish(ctx context.Context, x [][]float64) [][]float64 {
	dim := m.task.Space.Dim()
	misfit := func(u []float64) []float64 {
		at := rows(u, dim)
		fold(at)
		residuals := make([]float64, len(m.weights)+len(x))
		_, f, ok := m.solve(at)
		if !ok {
			residuals[0] = math.MaxFloat32
			return residuals
		}
		var says, prior mat.VecDense
		says.MulVec(f.phi.T(), &f.alpha)
		for i, v := range m.weights {
			residuals[i] = (v - says.AtVec(i)) / m.deviation
		}
		prior.MulVec(f.root.RawU(), &f.alpha)
		copy(residuals[len(m.weights):], prior.RawVector().Data)
		return residuals
	}
	u, _ := leastSquares(ctx, misfit, slices.Concat(x...), polishSteps, 0)
	polished := rows(u, dim)
	fold(polished)
	for _, at := range polished {
		m.task.Space.Snap(at)
	}
	if m.evidence(polished) < m.evidence(x) {
		return x
	}
	return polished
}

const (
	evidenceStarts = 12
	mildNoise      = 0.3 // smallest noise with which the search begins; it then falls by thirds to the true noise
	greedyTries    = 40  // designs tried for each input of a starting guess
	sweeps         = 3   // sweeps over all inputs, each of which is moved alone
	sweepTries     = 40
	polishSteps    = 12
)

// likeliest returns the inputs with the largest evidence, found by a search from several starts,
// and the expected values at these inputs.
func (m noisyMean) likeliest(ctx context.Context, rng *rand.Rand) (x [][]float64, y []float64, err error) {
	best := math.Inf(-1)
	for range evidenceStarts {
		mild := m
		mild.deviation = max(m.deviation, mildNoise)
		var at [][]float64
		for range m.count {
			at = append(at, nil)
			pick, most := []float64(nil), math.Inf(-1)
			for range greedyTries {
				at[len(at)-1] = acquisition.Sample(m.task.Space, rng)
				if value := mild.evidence(at); value > most || pick == nil {
					pick, most = at[len(at)-1], value
				}
			}
			at[len(at)-1] = pick
		}
		for {
			mild.improve(ctx, at, rng)
			at = mild.polish(ctx, at)
			if mild.deviation == m.deviation || ctx.Err() != nil {
				break
			}
			mild.deviation = max(m.deviation, mild.deviation/3)
		}
		if value := m.evidence(at); value > best {
			best, x = value, at
		}
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
	}
	return x, m.values(x), nil
}

// improve moves one input after the other, in place.
func (m noisyMean) improve(ctx context.Context, x [][]float64, rng *rand.Rand) {
	for sweep := range sweeps {
		for i := range x {
			if ctx.Err() != nil {
				return
			}
			x[i] = climb(m.task, func(at []float64) float64 {
				before := x[i]
				x[i] = at
				value := m.evidence(x)
				x[i] = before
				return value
			}, x[i], 0.2/float64(int(1)<<sweep), sweepTries, rng)
		}
	}
}

// values returns the expected values at the inputs.
func (m noisyMean) values(x [][]float64) []float64 {
	y := make([]float64, len(x))
	_, f, _ := m.solve(x)
	for i, v := range f.outputs {
		y[i] = m.level + m.scale*v
	}
	return y
}
