package privacy

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Bounds are held here against exact probabilities on the line.

func TestConcentratedBoundHoldsForTheDiscreteGaussian(t *testing.T) {
	for _, sigma := range []float64{1, 2, 5} {
		pmf := exactPMF(sigma, 400)
		for _, shift := range []int{1, 2, 7} {
			rho := float64(shift*shift) / (2 * sigma * sigma)
			for _, delta := range []float64{1e-8, 1e-5, 1e-2} {
				epsilon := epsilonConcentrated(rho, delta)
				if exact := exactDelta(pmf, shift, epsilon); exact > delta {
					t.Errorf("σ %g, shift %d: δ(%g) is %g, above %g", sigma, shift, epsilon, exact, delta)
				}
			}
		}
	}
}

// The minimum over all orders is one: no order of a fine grid is better.
func TestConcentratedConversionIsTheMinimum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rho := math.Exp(rapid.Float64Range(-25, 6).Draw(t, "ln rho"))
		delta := math.Exp(rapid.Float64Range(math.Log(MinDelta), math.Log(MaxDelta)).Draw(t, "ln delta"))
		got := epsilonConcentrated(rho, delta)
		for i := -2000; i < 2000; i++ {
			alpha := 1 + math.Exp(float64(i)/100)
			if other := max(0, epsilonAt(rho*alpha, alpha, delta)); other < got*(1-1e-9)-1e-15 {
				t.Fatalf("order %g gives %g, less than %g", alpha, other, got)
			}
		}
	})
}

func TestGaussianLiesBelowConcentrated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mu := math.Exp(rapid.Float64Range(-6, 2.5).Draw(t, "ln mu"))
		delta := math.Exp(rapid.Float64Range(math.Log(MinDelta), math.Log(MaxDelta)).Draw(t, "ln delta"))
		tight, loose := gaussianEpsilon(mu, delta), epsilonConcentrated(mu*mu/2, delta)
		if tight > loose {
			t.Fatalf("tight %g above %g", tight, loose)
		}
		if gaussianDelta(mu, tight) > delta {
			t.Fatalf("δ at the returned ε is %g, above %g", gaussianDelta(mu, tight), delta)
		}
		if tight > 0 && gaussianDelta(mu, tight*(1-1e-6)) < delta {
			t.Fatalf("a smaller ε than %g would do", tight)
		}
	})
}

// roundedPMF returns the probabilities of rounded continuous noise at −most..most.
func roundedPMF(sigma float64, most int) []float64 {
	q := make([]float64, 2*most+1)
	for i := range q {
		x := math.Abs(float64(i - most)) // from the far side, where tails do not cancel
		q[i] = (math.Erfc((x-0.5)/(sigma*math.Sqrt2)) - math.Erfc((x+0.5)/(sigma*math.Sqrt2))) / 2
	}
	return q
}

// Both inequalities hold at every number within reach, and neither is idle: the ratios
// come to half of what they may be and more.
func TestRoundingRatioHolds(t *testing.T) {
	for _, sigma := range []float64{1, 1.5, 2, 5, 20, 100} {
		for _, deviations := range []float64{2, 5, 8} {
			low, high := roundingRatio(sigma, deviations)
			most := int(deviations * sigma)
			// So far out that what exactPMF leaves off does not count.
			p, q := exactPMF(sigma, 40*most), roundedPMF(sigma, most)
			worstLow, worstHigh := 0.0, 0.0
			for i, v := range q {
				ratio := math.Log(v / p[39*most+i])
				worstLow, worstHigh = max(worstLow, -ratio), max(worstHigh, ratio)
			}
			if worstLow > low*(1+1e-6)+1e-11 || worstHigh > high+1e-11 {
				t.Errorf("σ %g, reach %g: logarithms %g and %g, bounds %g and %g", sigma, deviations, worstLow, worstHigh, low, high)
			}
			if worstLow < low/2 || worstHigh < high/2 {
				t.Errorf("σ %g, reach %g: logarithms %g and %g are less than half the bounds %g and %g", sigma, deviations, worstLow, worstHigh, low, high)
			}
		}
	}
}

// exactDeltaOfPairs is exactDelta for two numbers, shifted each by its own.
func exactDeltaOfPairs(pmf []float64, shifts [2]int, epsilon float64) float64 {
	first, second := shifted(pmf, shifts[0]), shifted(pmf, shifts[1])
	delta := 0.0
	for i, p := range pmf {
		for j, q := range pmf {
			delta += max(0, p*q-math.Exp(epsilon)*first[i]*second[j])
		}
	}
	return delta
}

// With what onGrid adds the continuous figure bounds the discrete one: on the line and
// in the plane, where the numbers' shares of ε add up.
func TestGridMakesTheTightFigureTrue(t *testing.T) {
	const deviations = 7 // and not reach, with which nothing could go wrong
	added := func(sigma, numbers, epsilon float64) (ofEpsilon, ofDelta float64) {
		low, high := roundingRatio(sigma, deviations)
		beyond := numbers * 2 * math.Exp(-(deviations-0.5/sigma)*(deviations-0.5/sigma)/2)
		return numbers * (low + high), math.Exp(numbers*low+epsilon) * beyond
	}
	for _, sigma := range []float64{1, 2, 4, 10, 50} {
		pmf := exactPMF(sigma, 1000)
		for _, shift := range []int{1, 2, 5, 20} {
			for _, epsilon := range []float64{0.01, 0.3, 1, 3} {
				low, _ := roundingRatio(sigma, deviations)
				more, delta := added(sigma, 1, epsilon)
				exact := exactDelta(pmf, shift, epsilon+more)
				if bound := math.Exp(low)*gaussianDelta(float64(shift)/sigma, epsilon) + delta; exact > bound {
					t.Errorf("σ %g, shift %d, ε %g: δ %g above %g", sigma, shift, epsilon, exact, bound)
				}
			}
		}
	}
	for _, sigma := range []float64{3, 8, 20} {
		pmf := exactPMF(sigma, int(12*sigma))
		for _, shifts := range [][2]int{{1, 0}, {2, 3}, {7, -4}} {
			for _, epsilon := range []float64{0.1, 1} {
				mu := math.Hypot(float64(shifts[0]), float64(shifts[1])) / sigma
				low, _ := roundingRatio(sigma, deviations)
				more, delta := added(sigma, 2, epsilon)
				exact := exactDeltaOfPairs(pmf, shifts, epsilon+more)
				if bound := math.Exp(2*low)*gaussianDelta(mu, epsilon) + delta; exact > bound {
					t.Errorf("σ %g, shifts %v, ε %g: δ %g above %g", sigma, shifts, epsilon, exact, bound)
				}
			}
		}
	}
	// Without it, it would not: at this scale the grid shows.
	pmf, worst := exactPMF(1, 1000), 0.0
	for epsilon := 0.0; epsilon < 3; epsilon += 0.01 {
		worst = max(worst, exactDelta(pmf, 1, epsilon)-gaussianDelta(1, epsilon))
	}
	if worst < 1e-3 {
		t.Errorf("the discrete Gaussian's δ exceeds the continuous one's by at most %g: what is added would be idle", worst)
	}
}

// What the grid adds, where tasks are, is nothing that anybody could see; ε 100 is the
// largest that a promise may have.
func TestGridAddsNextToNothing(t *testing.T) {
	p := plan64()
	p.Dimension, p.Releases, p.Parties = 4096, 1000, 200
	for _, epsilon := range []float64{0.1, 1, 15, MaxEpsilon} {
		for _, delta := range []float64{MinDelta, 1e-5, 0.1} {
			sigma, err := p.Sigma(Promise{Epsilon: epsilon, Delta: delta, Bound: Tight})
			if err != nil {
				t.Fatal(err)
			}
			loss := mustLoss(t, p, sigma)
			if loss.ratio > 1e-7*epsilon {
				t.Errorf("ε %g, δ %g: the grid adds %g", epsilon, delta, loss.ratio)
			}
			near(t, "ε", mustEpsilon(t, p, sigma, delta, Tight), epsilon, 1e-5)
		}
	}
}

func TestSumsOfDiscreteGaussians(t *testing.T) {
	for _, sigma := range []float64{0.5, 0.6, 0.75, 1} {
		sum, one := exactPMF(sigma, 30), exactPMF(sigma, 30)
		for n := 2; n <= 4; n++ {
			sum = convolve(sum, one)
			whole := exactPMF(sigma*math.Sqrt(float64(n)), (len(sum)-1)/2)
			tau := sumExcess(sigma, n)
			for i := range sum {
				if whole[i] > 1e-13 && math.Abs(math.Log(sum[i]/whole[i])) > tau+1e-12 {
					t.Errorf("σ %g, n %d: probabilities differ by e^%g, bound %g", sigma, n, math.Log(sum[i]/whole[i]), tau)
				}
			}
			for _, alpha := range []float64{1.5, 2, 8} {
				for _, shift := range []int{1, 3} {
					low := (len(sum)-1)/2 - 12 // where other tails would be cut
					middle := sum[low : len(sum)-low]
					rho := sumConcentration(float64(shift), sigma, n, 1)
					if got := exactRenyi(shifted(middle, shift), middle, alpha); got > rho*alpha {
						t.Errorf("σ %g, n %d, α %g, shift %d: divergence %g above %g", sigma, n, alpha, shift, got, rho*alpha)
					}
				}
			}
		}
	}
	// Nor need the parts be alike: two of scale 1.3 and one of 0.7 are as close as
	// three of 0.7 would be.
	sum := convolve(exactPMF(1.3, 30), convolve(exactPMF(1.3, 30), exactPMF(0.7, 30)))
	whole, tau := exactPMF(math.Sqrt(2*1.3*1.3+0.7*0.7), (len(sum)-1)/2), sumExcess(0.7, 3)
	for i := range sum {
		if whole[i] > 1e-13 && math.Abs(math.Log(sum[i]/whole[i])) > tau {
			t.Errorf("unlike parts: probabilities differ by e^%g, bound %g", math.Log(sum[i]/whole[i]), tau)
		}
	}
	near(t, "ρ of one party", sumConcentration(2, 10, 1, 100), 2.0*2/(2*10*10), 1e-15)
	if tau := sumExcess(1<<31, 100); tau <= 0 || tau > 1e-280 {
		t.Errorf("at real scales τ is %g, want positive and next to nothing", tau)
	}
}

// At whole orders the sampled figure holds for discrete noise, in both directions.
func TestSampledBoundHoldsForTheDiscreteGaussian(t *testing.T) {
	const reach = 150
	for _, sigma := range []float64{1, 3, 8} {
		base := exactPMF(sigma, reach)
		for _, shift := range []int{1, 3} {
			moved := shifted(base, shift)
			for _, rate := range []float64{0.05, 0.35, 0.9} {
				mixture := make([]float64, len(base))
				for i := range base {
					mixture[i] = (1-rate)*base[i] + rate*moved[i]
				}
				// Only where probabilities are not cut off to zero.
				from, to := reach-int(15*sigma)-1, reach+int(15*sigma)+1
				from, to = max(from, 0), min(to, len(base))
				for _, alpha := range []float64{2, 3, 5} {
					bound := sampledRDP(rate, sigma/float64(shift), alpha)
					for _, got := range []float64{exactRenyi(mixture[from:to], base[from:to], alpha), exactRenyi(base[from:to], mixture[from:to], alpha)} {
						if got > bound*(1+1e-9) {
							t.Errorf("σ %g, shift %d, q %g, α %g: divergence %.12g above %.12g", sigma, shift, rate, alpha, got, bound)
						}
					}
				}
			}
		}
	}
}

// At whole orders the quadrature must agree with the sum.
func TestQuadratureAgreesWithTheSum(t *testing.T) {
	for _, rate := range []float64{1e-6, 0.01, 0.35, 0.9, 0.999} {
		for _, multiplier := range []float64{0.05, 0.3, 1, 2.5, 20, 300} {
			for _, alpha := range []int{2, 3, 7, 10} {
				a, b := excessBySum(rate, multiplier, alpha), excessByQuadrature(rate, multiplier, float64(alpha))
				if math.Abs(a-b) > 1e-11*max(1, math.Abs(a)) {
					t.Errorf("q %g, z %g, α %d: %.15g by sum, %.15g by quadrature", rate, multiplier, alpha, a, b)
				}
			}
		}
	}
}

// And at all orders with the two series of Mironov, Talwar, Zhang 2019, Section
// 3.3, whose binomials alternate in sign.
func TestQuadratureAgreesWithTheSeries(t *testing.T) {
	series := func(q, z, alpha float64) float64 {
		z0 := z*z*math.Log(1/q-1) + 0.5
		sum, binomial := 0.0, 1.0
		for k := range 400 {
			i, j := float64(k), alpha-float64(k)
			sum += binomial * math.Exp(j*math.Log1p(-q)+i*math.Log(q)+(i*i-i)/(2*z*z)) * math.Erfc((i-z0)/(math.Sqrt2*z)) / 2
			sum += binomial * math.Exp(i*math.Log1p(-q)+j*math.Log(q)+(j*j-j)/(2*z*z)) * math.Erfc((z0-j)/(math.Sqrt2*z)) / 2
			binomial *= (alpha - i) / (i + 1)
			if i > 2*alpha && math.Abs(binomial*math.Exp((i*i-i)/(2*z*z)+i*math.Log(q))*math.Erfc((i-z0)/(math.Sqrt2*z))) < 1e-14 {
				break
			}
		}
		return math.Log(sum) / (alpha - 1)
	}
	for _, c := range []struct{ q, z, alpha float64 }{{0.01, 2.5, 1.5}, {0.35, 2, 2.5}, {0.2, 1, 3.7}, {0.1, 4, 9.9}} {
		near(t, "RDP", sampledRDP(c.q, c.z, c.alpha), series(c.q, c.z, c.alpha), 1e-6)
	}
}

func TestSampledRDPIsContinuousAndGrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := math.Exp(rapid.Float64Range(math.Log(MinRate), -1e-9).Draw(t, "ln rate"))
		z := math.Exp(rapid.Float64Range(-2.9, 5).Draw(t, "ln z"))
		alpha := rapid.Float64Range(1.05, 12).Draw(t, "alpha")
		got := sampledRDP(rate, z, alpha)
		if !(got >= 0) || got > sampledRDP(1, z, alpha)*(1+1e-9) {
			t.Fatalf("%g outside [0, %g], the value without sampling", got, sampledRDP(1, z, alpha))
		}
		if more := sampledRDP(rate, z, alpha+0.1); more < got*(1-1e-9) {
			t.Fatalf("falls with the order: %g to %g", got, more)
		}
		if more := sampledRDP(min(1, rate*1.1), z, alpha); more < got*(1-1e-9) {
			t.Fatalf("falls with the rate: %g to %g", got, more)
		}
	})
}

// Why a rate below 1 is refused under replace-one: at q = 0.35, σ = 2S and order 8
// the divergence of two opposite contributions is 0.52, where the formula says 0.22
// with the sensitivity of zero-out and 2.80 with that of replace-one.
func TestSampledFormulaIsWrongForReplaceOne(t *testing.T) {
	const q, sigma, alpha, reach = 0.35, 400.0, 8.0, 6000
	base := exactPMF(sigma, reach)
	plus, minus := shifted(base, 200), shifted(base, -200)
	var p, r []float64
	for i := 1000; i < len(base)-1000; i++ {
		p = append(p, (1-q)*base[i]+q*plus[i])
		r = append(r, (1-q)*base[i]+q*minus[i])
	}
	near(t, "true divergence", exactRenyi(p, r, alpha), 0.52, 0.01)
	near(t, "formula, Δ = S", sampledRDP(q, 2, alpha), 0.22, 0.02)
	near(t, "formula, Δ = 2S", sampledRDP(q, 1, alpha), 2.80, 0.01)
	if _, err := (Plan{Grid: Grid{Norm: 1, Bits: 30}, Dimension: 1, Rate: q, Releases: 1, Parties: 1}).Loss(1 << 32); err == nil {
		t.Error("a sampled plan under replace-one was accepted")
	}
}
