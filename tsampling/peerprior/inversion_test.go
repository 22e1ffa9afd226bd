package peerprior

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fbo-node/fbo/acquisition"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/random"
	"github.com/fbo-node/fbo/surrogate"
)

// Whoever gets an author's shares and knows the task computes the author's observations.
// What a share says is a function of them that everybody can evaluate; the reader solves
// for the designs by what is known where, one more with each share, and then for the
// values by the mean. docs/privacy.md rests on this test.
func TestObservationsAreComputedFromShares(t *testing.T) {
	away, wrong := compute(t, 2)
	if away > 1e-3 || wrong > 1e-3 {
		t.Errorf("docs/privacy.md says that designs and values can be computed almost exactly; here they are %g and %g away", away, wrong)
	}
}

// More parameters take the reader more guesses.
func BenchmarkObservationsAreComputedFromShares(b *testing.B) {
	for b.Loop() {
		compute(b, 6)
	}
}

// compute returns how far what the reader computes is from the designs, in sides of the
// unit cube, and from the values, in parts of their range.
func compute(t testing.TB, dimensions int) (away, wrong float64) {
	var parameters []string
	for i := range dimensions {
		parameters = append(parameters, fmt.Sprintf("{name: x%d, type: float, low: 0, high: 1}", i))
	}
	l := newLab(t, "maximize", strings.Join(parameters, ", "), exact)
	rng := random.SeedOf(3).Stream("noise of observations", 0)
	noise := map[float64]float64{} // of each design, as good as measured
	noisy := func(x []float64) float64 {
		if _, ok := noise[x[0]]; !ok {
			noise[x[0]] = 0.05 * rng.NormFloat64()
		}
		return 7 + 100*(bump(0.3)(x)+noise[x[0]])
	}
	const observations = 10
	designs := l.designs(observations, random.SeedOf(11))
	r := &reader{lab: l}
	for n := leastObservations; n <= observations; n++ {
		r.read(l.mean(l.view(designs[:n], noisy)))
	}
	lowest, highest := math.Inf(1), math.Inf(-1)
	for _, x := range designs {
		i, y := r.nearest(x), noisy(x)
		away, wrong = max(away, distance(x, r.x[i])), max(wrong, math.Abs(r.y[i]-y))
		lowest, highest = min(lowest, y), max(highest, y)
	}
	wrong /= highest - lowest
	t.Logf("%d parameters: all %d designs are computed to within %.1g of the unit cube's side, their values to within %.1g of their range, whose noise is about 0.05 of it",
		dimensions, observations, away, wrong)
	return away, wrong
}

// reader is somebody who gets all shares of one author.
type reader struct {
	*lab
	x     [][]float64
	y     []float64
	noise float64 // of the author's process; its logarithm
}

func (r *reader) nearest(x []float64) int {
	at := 0
	for i := range r.x {
		if distance(x, r.x[i]) < distance(x, r.x[at]) {
			at = i
		}
	}
	return at
}

func distance(a, b []float64) float64 {
	square := 0.0
	for k := range a {
		square += (a[k] - b[k]) * (a[k] - b[k])
	}
	return math.Sqrt(square)
}

// read takes in a share of as many observations, of which the first are known from
// earlier ones. The reader sees when it has found what the share was made from, and
// until then guesses anew.
func (r *reader) read(m protocol.Mean) {
	const guesses, enough = 40, 1e-8
	misfit := func(u []float64) []float64 { return r.misfit(m, u) }
	best, least := []float64(nil), math.Inf(1)
	rng := random.SeedOf(uint64(m.Observations)).Stream("guesses", 0)
	for range guesses {
		u := leastSquares(misfit, r.guess(m, rng), 30)
		if away := squared(misfit(u)); away < least {
			best, least = u, away
		}
		if least < enough {
			break
		}
	}
	dim := r.task.Space.Dim()
	r.x = nil
	for i := 0; i+dim < len(best); i += dim {
		r.x = append(r.x, best[i:i+dim])
	}
	r.noise = best[len(best)-1]
	r.y = r.values(m)
}

// guess adds to the designs found so far, one by one, the best of some at random.
func (r *reader) guess(m protocol.Mean, rng *rand.Rand) []float64 {
	u := append(slices.Concat(r.x...), r.noise)
	if len(r.x) == 0 {
		u[0] = math.Log(0.01)
	}
	for len(u)/r.task.Space.Dim() < m.Observations {
		best, least := []float64(nil), math.Inf(1)
		for range 20 {
			next := slices.Concat(u[:len(u)-1], acquisition.Sample(r.task.Space, rng), u[len(u)-1:])
			if away := squared(r.misfit(m, next)); away < least {
				best, least = next, away
			}
		}
		u = best
	}
	return u
}

// misfit is how what is known where, given these designs and this noise, differs from
// what the share says.
func (r *reader) misfit(m protocol.Mean, u []float64) []float64 {
	dim := r.task.Space.Dim()
	obs := surrogate.Observations{}
	outside := 0.0
	for i := 0; i+dim < len(u); i += dim {
		obs.X, obs.Y = append(obs.X, u[i:i+dim]), append(obs.Y, float64(i))
		for _, v := range u[i : i+dim] {
			outside += math.Abs(v - min(max(v, 0), 1))
		}
	}
	posterior := r.condition(m, obs, u[len(u)-1])
	average, known := posterior.Explained()
	return append(difference(known, m.Known), 10*(average-m.Explained), outside)
}

func (r *reader) condition(m protocol.Mean, obs surrogate.Observations, logNoise float64) surrogate.Posterior {
	h := surrogate.Hyperparameters{Lengthscales: m.Lengthscales, Noise: math.Exp(min(max(logNoise, -20), 2))}
	posterior, err := r.model.Condition(obs, h, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	return posterior
}

// values are what the author must have measured at the designs to share this mean.
func (r *reader) values(m protocol.Mean) []float64 {
	misfit := func(z []float64) []float64 {
		_, weights := r.condition(m, surrogate.Observations{X: r.x, Y: z}, r.noise).DetailedMean()
		return difference(weights, m.Values)
	}
	says := r.features.Function(m.Values)
	z := make([]float64, len(r.x))
	for i, x := range r.x {
		z[i] = says.Value(x)
	}
	z = leastSquares(misfit, z, 40)
	// A posterior's mean is the same whatever the unit and origin of the values, which
	// level and scale tell.
	obs := surrogate.Observations{X: r.x, Y: z}
	_, units, err := surrogate.Standardise(obs)
	if err != nil {
		r.t.Fatal(err)
	}
	level, _ := r.condition(m, obs, r.noise).DetailedMean()
	y := make([]float64, len(z))
	for i, v := range z {
		y[i] = m.Level + m.Scale*((v-units.Level)/units.Scale-level)
	}
	return y
}

func difference(a, b []float64) []float64 {
	d := make([]float64, len(a))
	for i := range a {
		d[i] = a[i] - b[i]
	}
	return d
}

func squared(v []float64) float64 {
	square := 0.0
	for _, x := range v {
		square += x * x
	}
	return square
}

// leastSquares is the method of Levenberg and Marquardt with differences for gradients.
func leastSquares(f func([]float64) []float64, u []float64, steps int) []float64 {
	const delta = 1e-6
	damping, now := 1e-3, f(u)
	for range steps {
		jacobian := mat.NewDense(len(now), len(u), nil)
		for k := range u {
			moved := slices.Clone(u)
			moved[k] += delta
			for i, v := range f(moved) {
				jacobian.Set(i, k, (v-now[i])/delta)
			}
		}
		var normal mat.Dense
		normal.Mul(jacobian.T(), jacobian)
		var slope mat.VecDense
		slope.MulVec(jacobian.T(), mat.NewVecDense(len(now), now))
		better := false
		for range 8 {
			damped := mat.DenseCopyOf(&normal)
			for k := range u {
				damped.Set(k, k, normal.At(k, k)*(1+damping)+1e-12)
			}
			var step mat.VecDense
			if err := step.SolveVec(damped, &slope); err == nil {
				next := slices.Clone(u)
				for k := range next {
					next[k] -= step.AtVec(k)
				}
				if there := f(next); squared(there) < squared(now) {
					u, now, better = next, there, true
					damping = max(damping/10, 1e-12)
					break
				}
			}
			damping *= 10
		}
		if !better {
			break
		}
	}
	return u
}
