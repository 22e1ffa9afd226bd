package constrainedgp

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fbo-node/fbo/internal/random"
)

// equicorrelated has variance 1 and the same correlation everywhere.
func equicorrelated(k int, correlation float64) *mat.SymDense {
	c := mat.NewSymDense(k, nil)
	for i := range k {
		for j := range i {
			c.SetSym(j, i, correlation)
		}
		c.SetSym(i, i, 1)
	}
	return c
}

// chained has variance 1 and correlation r to the power of the distance.
func chained(k int, r float64) *mat.SymDense {
	c := mat.NewSymDense(k, nil)
	for i := range k {
		for j := range i + 1 {
			c.SetSym(j, i, math.Pow(r, float64(i-j)))
		}
	}
	return c
}

func all(k int) []int {
	which := make([]int, k)
	for i := range which {
		which[i] = i
	}
	return which
}

func mustCondition(t *testing.T, mean []float64, covariance *mat.SymDense, threshold float64) condition {
	t.Helper()
	c, ok := newCondition(mean, covariance, all(len(mean)), threshold)
	if !ok {
		t.Fatal("not positive definite")
	}
	return c
}

// products returns, for every sample of z, the elements of g - m and behind them
// their products.
func (c condition) products(samples [][]float64) [][]float64 {
	out := make([][]float64, len(samples))
	for n, z := range samples {
		var g []float64
		for i := range z {
			g = append(g, dot(c.row(i), z))
		}
		for i := range z {
			for j := range i + 1 {
				g = append(g, g[i]*g[j])
			}
		}
		out[n] = g
	}
	return out
}

// moments of column i.
func moments(rows [][]float64, i int) (mean, variance float64) {
	for _, row := range rows {
		mean += row[i] / float64(len(rows))
	}
	for _, row := range rows {
		variance += (row[i] - mean) * (row[i] - mean) / float64(len(rows))
	}
	return mean, variance
}

// The Gibbs sampler, from its own starts and from one far away, must have the same
// mean and second moments as rejection, within 4.5 standard errors of a
// difference, taken from the rejected samples: with 140 comparisons a right sampler
// fails once in 1,000 seeds. 3,000 of either leave standard errors below .026 for
// a mean. Chains from far away that take 2 sweeps in place of 25 fail, and so do
// unweighted starts that do not move, and either limit of a coordinate if it is
// forgotten.
func TestGibbsAgreesWithRejection(t *testing.T) {
	const samples = 3000
	for name, problem := range map[string]struct {
		mean       []float64
		covariance *mat.SymDense
		threshold  float64
	}{
		"one":         {[]float64{-1}, equicorrelated(1, 0), 0},
		"independent": {[]float64{0, -0.5, 0.5}, equicorrelated(3, 0), 0},
		"alike":       {[]float64{-1, -0.9, -1.1, -1, -1.2}, equicorrelated(5, 0.95), 0},
		"all but one": {[]float64{-0.5, -0.5}, equicorrelated(2, 0.99999), 0},
		"opposed":     {[]float64{0, 0}, equicorrelated(2, -0.8), 0},
		"chain":       {[]float64{0.2, 0, -0.2, 0, 0.2, 0, 0.1, -0.3}, chained(8, 0.8), 0},
	} {
		t.Run(name, func(t *testing.T) {
			c := mustCondition(t, problem.mean, problem.covariance, problem.threshold)
			rng := random.SeedOf(4).Stream(name, 0)
			var rejected, gibbs, far [][]float64
			for len(rejected) < samples {
				accepted, _ := c.propose(rng)
				rejected = append(rejected, accepted...)
			}
			for len(gibbs) < samples {
				gibbs = append(gibbs, c.gibbs(rng)...)
			}
			corner := make([]float64, c.k)
			for i := range corner {
				corner[i] = c.bound[i] + 4
			}
			c.forward(corner)
			for range samples {
				far = append(far, slices.Clone(corner))
			}
			c.move(far, rng)
			c.compare(t, "Gibbs", rejected, gibbs)
			c.compare(t, "Gibbs from afar", rejected, far)
		})
	}
}

// compare tells where samples differ from rejected ones.
func (c condition) compare(t *testing.T, name string, rejected, samples [][]float64) {
	t.Helper()
	one, other := c.products(rejected), c.products(samples)
	for i, got := range other {
		for j := range c.k {
			if got[j] < c.bound[j]-1e-9 {
				t.Fatalf("%s: sample %d breaks the condition by %g", name, i, c.bound[j]-got[j])
			}
		}
	}
	for i := range one[0] {
		want, variance := moments(one, i)
		got, _ := moments(other, i)
		if z := (got - want) / math.Sqrt(2*variance/float64(len(samples))); math.Abs(z) > 4.5 {
			t.Errorf("%s: moment %d is %g, by rejection %g, %.1f standard errors off", name, i, got, want, z)
		}
	}
}

// Where rejection never ends the moments are known for independent elements: the
// mean of z above a is the ratio of density and probability. For a = 6 its
// variance is 1/40, so that 2,000 samples leave a standard error of .0035: all 12
// elements are within 4.5 of these in all but one of 10,000 seeds.
func TestGibbsFarOut(t *testing.T) {
	const k, far = 12, 6.0
	c := mustCondition(t, slices.Repeat([]float64{-far}, k), equicorrelated(k, 0), 0)
	rng := random.SeedOf(5).Stream("t", 0)
	var samples [][]float64
	for range 10 {
		samples = append(samples, c.gibbs(rng)...)
	}
	want := math.Exp(-far*far/2) / math.Sqrt(2*math.Pi) / (math.Erfc(far/math.Sqrt2) / 2)
	for i := range k {
		if got, _ := moments(c.products(samples), i); math.Abs(got-want) > 4.5*0.0035 {
			t.Errorf("element %d: mean %g, want %g", i, got, want)
		}
	}
}

// 20,000 draws of an interval: mean and variance by numerical integration, within
// 4.5 standard errors.
func TestTruncatedNormal(t *testing.T) {
	const draws = 20000
	for _, interval := range [][2]float64{
		{-1, 2}, {0, math.Inf(1)}, {math.Inf(-1), -1}, {1.9, 2.3}, {2, math.Inf(1)}, {2.1, 2.2}, {8, math.Inf(1)},
		{-9, -8.5}, {math.Inf(-1), -20}, {-30, 0.1}, {40, 41},
	} {
		low, high := interval[0], interval[1]
		rng := random.SeedOf(6).Stream("t", math.Float64bits(low+2*min(high, 100)))
		mean, variance := integrated(low, high)
		sum, squares := 0.0, 0.0
		for range draws {
			x := truncatedNormal(low, high, rng)
			if !(x >= low && x <= high) {
				t.Fatalf("%g is outside of %g to %g", x, low, high)
			}
			sum += (x - mean) / draws
			squares += (x - mean) * (x - mean) / draws
		}
		if z := sum / math.Sqrt(variance/draws); math.Abs(z) > 4.5 {
			t.Errorf("%g to %g: mean off by %.1f standard errors", low, high, z)
		}
		if z := (squares/variance - 1) / math.Sqrt(8.0/draws); math.Abs(z) > 4.5 { // 8 is that of an exponential variable
			t.Errorf("%g to %g: variance %g, want %g", low, high, squares, variance)
		}
	}
}

func integrated(low, high float64) (mean, variance float64) {
	origin := min(max(0, low), high)
	from, to := max(low, origin-10), min(high, origin+10)
	const steps = 200000
	var sums [3]float64
	for i := range steps {
		x := from + (to-from)*(float64(i)+0.5)/steps
		weight := math.Exp((origin*origin - x*x) / 2)
		sums[0] += weight
		sums[1] += weight * x
		sums[2] += weight * x * x
	}
	mean = sums[1] / sums[0]
	return mean, sums[2]/sums[0] - mean*mean
}

func TestFulfilDropsContradictingConditions(t *testing.T) {
	for name, test := range map[string]struct {
		mean       []float64
		covariance *mat.SymDense
		kept       []int
	}{
		"nothing":        {nil, nil, nil},
		"all":            {[]float64{-0.5, -1, -0.2}, equicorrelated(3, 0.3), []int{0, 1, 2}},
		"one impossible": {[]float64{-0.5, -8, -0.2}, equicorrelated(3, 0.3), []int{0, 2}},
		"all impossible": {[]float64{-9, -8}, equicorrelated(2, 0), nil},
		// Each is supported by one proposal in 15, both together never.
		"jointly impossible": {[]float64{-1.5, -1.4}, equicorrelated(2, -0.999), []int{1}},
		"few supported":      {[]float64{-2, -2}, equicorrelated(2, 0.5), []int{0, 1}},
		"many":               {slices.Repeat([]float64{-1.5}, 12), equicorrelated(12, 0), all(12)},
		"no variance":        {[]float64{-1, 0}, mat.NewSymDense(2, []float64{1, 0, 0, 0}), []int{0}},
		"equal":              {[]float64{-1, -1}, equicorrelated(2, 1), []int{0, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			kept, c, samples := fulfil(test.mean, test.covariance, 0, random.SeedOf(7).Stream("t", 0))
			if !slices.Equal(kept, test.kept) {
				t.Fatalf("kept %v, want %v", kept, test.kept)
			}
			if len(kept) == 0 {
				return
			}
			if c.k != len(kept) || len(samples) < enough || len(samples) > maxKept {
				t.Errorf("%d samples of %d elements", len(samples), c.k)
			}
			for _, z := range samples {
				for i := range kept {
					if dot(c.row(i), z) < c.bound[i]-1e-9 {
						t.Fatalf("element %d of a sample is below the threshold", i)
					}
				}
			}
		})
	}
}

// Solving with L and with its transpose undoes multiplying by them.
func TestForwardAndBackward(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	c := mustCondition(t, make([]float64, 6), chained(6, 0.7), 0)
	z, g, h := make([]float64, 6), make([]float64, 6), make([]float64, 6)
	for i := range z {
		z[i] = rng.NormFloat64()
	}
	for i := range z {
		g[i] = dot(c.row(i), z)
		for j, w := range c.row(i) {
			h[j] += w * z[i]
		}
	}
	c.forward(g)
	c.backward(h)
	for i, want := range z {
		if math.Abs(g[i]-want) > 1e-12 || math.Abs(h[i]-want) > 1e-12 {
			t.Errorf("element %d: %g and %g, want %g", i, g[i], h[i], want)
		}
	}
}

func TestThinIsEven(t *testing.T) {
	samples := make([][]float64, 3*maxKept)
	for i := range samples {
		samples[i] = []float64{float64(i)}
	}
	for i, z := range thin(samples) {
		if z[0] != float64(3*i) {
			t.Fatalf("sample %d is number %g", i, z[0])
		}
	}
}
