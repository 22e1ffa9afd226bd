package rff

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fbo-node/fbo/internal/random"
)

// path is a draw from the posterior of an exact Gaussian process, what an agent
// would share, by Matheron's rule: its prior part has features of its own.
type path struct {
	kernel       string
	lengthscales []float64
	prior        *Function
	x            [][]float64
	u            []float64
}

const (
	pathFeatures = 512
	pathNoise    = 1e-3
)

// newPath draws an objective from the process with these lengthscales, observes
// it at t uniform points and draws from the posterior.
func newPath(t testing.TB, kernelName string, lengthscales []float64, observed int, seed random.Seed) *path {
	t.Helper()
	rng := seed.Stream("path", 0)
	prior := func(index uint64) *Function {
		m, err := NewMap(seed.Derive("prior", index), Spec{Kernel: kernelName, Features: pathFeatures, Lengthscales: lengthscales, Basis: Plain})
		if err != nil {
			t.Fatal(err)
		}
		w := make([]float64, pathFeatures)
		for i := range w {
			w[i] = rng.NormFloat64()
		}
		return m.Function(w)
	}
	objective := prior(0)
	p := &path{kernel: kernelName, lengthscales: lengthscales, prior: prior(1), x: uniformPoints(observed, len(lengthscales), rng)}
	residual := mat.NewVecDense(observed, nil)
	covariance := mat.NewSymDense(observed, nil)
	for i, x := range p.x {
		y := objective.Value(x) + math.Sqrt(pathNoise)*rng.NormFloat64()
		residual.SetVec(i, y-p.prior.Value(x)-math.Sqrt(pathNoise)*rng.NormFloat64())
		for j := range i + 1 {
			covariance.SetSym(j, i, kernel(kernelName, x, p.x[j], lengthscales))
		}
		covariance.SetSym(i, i, 1+pathNoise)
	}
	var chol mat.Cholesky
	if !chol.Factorize(covariance) {
		t.Fatal("covariance is not positive definite")
	}
	if err := chol.SolveVecTo(residual, residual); err != nil {
		t.Fatal(err)
	}
	p.u = residual.RawVector().Data
	return p
}

func (p *path) Value(x []float64) float64 {
	value := p.prior.Value(x)
	for j, center := range p.x {
		value += p.u[j] * kernel(p.kernel, x, center, p.lengthscales)
	}
	return value
}

// Gradient is by central differences.
func (p *path) Gradient(grad, x []float64) float64 { return slope(p, grad, x) }

type valued interface{ Value(x []float64) float64 }

type differentiable interface {
	valued
	Gradient(grad, x []float64) float64
}

func slope(f valued, grad, x []float64) float64 {
	const step = 1e-6
	for k := range grad {
		at := x[k]
		x[k] = at + step
		up := f.Value(x)
		x[k] = at - step
		grad[k] = (up - f.Value(x)) / (2 * step)
		x[k] = at
	}
	return f.Value(x)
}

// maximum climbs from the six best of the points by projected gradient steps
// whose length adapts.
func maximum(f differentiable, points [][]float64) (best []float64, value float64) {
	const climbs = 6
	order := make([]int, len(points))
	values := make([]float64, len(points))
	for i, x := range points {
		order[i], values[i] = i, f.Value(x)
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(values[j], values[i]) })
	value = math.Inf(-1)
	for _, i := range order[:min(climbs, len(order))] {
		if x, v := climb(f, points[i]); v > value {
			best, value = x, v
		}
	}
	return best, value
}

func climb(f differentiable, from []float64) ([]float64, float64) {
	x, next, grad := append([]float64(nil), from...), make([]float64, len(from)), make([]float64, len(from))
	value, length := f.Gradient(grad, x), 0.1
	for range 60 {
		norm := 0.0
		for k, g := range grad {
			if (x[k] <= 0 && g < 0) || (x[k] >= 1 && g > 0) {
				grad[k] = 0
			}
			norm += grad[k] * grad[k]
		}
		if norm == 0 || length < 1e-5 {
			break
		}
		for k, g := range grad {
			next[k] = min(max(x[k]+length*g/math.Sqrt(norm), 0), 1)
		}
		if v := f.Value(next); v > value {
			x, next = next, x
			value = f.Gradient(grad, x)
			length *= 1.5
		} else {
			length /= 3
		}
	}
	return x, value
}

// logUniform draws one lengthscale per coordinate, log-uniform on [low, high].
func logUniform(dim int, low, high float64, rng *rand.Rand) []float64 {
	lengthscales := make([]float64, dim)
	for k := range lengthscales {
		lengthscales[k] = low * math.Pow(high/low, rng.Float64())
	}
	return lengthscales
}
