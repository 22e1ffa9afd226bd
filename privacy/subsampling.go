package privacy

import "math"

// sampledMargin covers the rounding errors of sampledRDP.
const sampledMargin = 1e-11

// sampledRDP is the Rényi divergence of order alpha > 1 of one release in which a
// node takes part with probability rate, under zero-out adjacency, when Gaussian
// noise is multiplier times the sensitivity: ln A/(α−1), where A is the α-th moment
// of the ratio of (1−q)·N(0, z²) + q·N(1, z²) to N(0, z²) under the latter (Mironov,
// Talwar, Zhang 2019, Theorem 4; by their Theorem 5 it exceeds the divergence in the
// other direction).
//
// At whole orders it holds for the discrete Gaussian as it stands: A is a sum of
// E exp(k·(2⟨x,Δ⟩−‖Δ‖²)/2σ²), which the discrete Gaussian, being subgaussian
// (CKS 2020, Section 2), bounds by its value for the continuous one; and x → Δ−x,
// which Theorem 5 needs, maps the grid onto itself. At other orders it is that of
// the continuous Gaussian, and the distance to it is the caller's to add.
func sampledRDP(rate, multiplier, alpha float64) float64 {
	if rate == 1 {
		return alpha / (2 * multiplier * multiplier)
	}
	var excess float64 // ln(A−1): A is close to 1 when privacy is good
	if whole(alpha) {
		excess = excessBySum(rate, multiplier, int(alpha))
	} else {
		excess = excessByQuadrature(rate, multiplier, alpha)
	}
	return softplus(excess) / (alpha - 1) * (1 + sampledMargin)
}

// excessBySum returns ln(A−1) at a whole order. In the binomial sum of Mironov et
// al. 2019, Section 3.3, the terms k = 0 and 1 are those of a plain binomial, which
// sums to 1; so A−1 is the sum of the others, each less its binomial part.
func excessBySum(rate, multiplier float64, alpha int) float64 {
	logIn, logOut := math.Log(rate), math.Log1p(-rate)
	top, _ := math.Lgamma(float64(alpha + 1))
	terms := make([]float64, 0, alpha)
	for k := 2; k <= alpha; k++ {
		a, _ := math.Lgamma(float64(k + 1))
		b, _ := math.Lgamma(float64(alpha - k + 1))
		n := float64(k)
		exponent := n * (n - 1) / (2 * multiplier * multiplier)
		terms = append(terms, top-a-b+float64(alpha-k)*logOut+n*logIn+logExpm1(exponent))
	}
	return logSum(terms)
}

// excessByQuadrature returns ln(A−1) at an order that need not be whole, by the
// trapezoid rule for
//
//	A − 1 = E[(1+x)^α − 1 − αx],  x = q·(e^u − 1),  u = t/z − 1/2z²,  t ~ N(0, 1),
//
// whose terms are all positive (E x = 0), unlike those of the two infinite sums of
// Mironov et al. 2019, Section 3.3. The integrand is analytic for |Im t| < πz, where
// 1+x first vanishes, so that with this step the rule's error is below e^−40.
func excessByQuadrature(rate, multiplier, alpha float64) float64 {
	const reach = 12 // standard deviations beyond the peaks at t = 0 and α/z
	step := min(0.125, multiplier/4)
	count := int((2*reach + alpha/multiplier) / step)
	terms := make([]float64, 0, count+1)
	for i := range count + 1 {
		t := -reach + float64(i)*step
		u := t/multiplier - 1/(2*multiplier*multiplier)
		terms = append(terms, math.Log(step/math.Sqrt(2*math.Pi))-t*t/2+logExcessPower(rate, u, alpha))
	}
	return logSum(terms)
}

// logExcessPower returns ln((1+x)^α − 1 − αx) for x = q·(e^u − 1).
func logExcessPower(rate, u, alpha float64) float64 {
	if u > 700 { // where e^u overflows, the power outweighs all else
		return alpha * (math.Log(rate) + u)
	}
	x := rate * math.Expm1(u)
	if math.Abs(x) < 1e-4 { // where the difference would cancel: its series
		return math.Log(alpha * (alpha - 1) / 2 * x * x *
			(1 + (alpha-2)/3*x*(1+(alpha-3)/4*x*(1+(alpha-4)/5*x))))
	}
	power := alpha * math.Log1p(x)
	if power > 600 {
		return power
	}
	return math.Log(math.Expm1(power) - alpha*x)
}

// logExpm1 returns ln(e^x − 1), x > 0.
func logExpm1(x float64) float64 {
	if x > 1 {
		return x + math.Log1p(-math.Exp(-x))
	}
	return math.Log(math.Expm1(x))
}

// softplus returns ln(1 + e^x).
func softplus(x float64) float64 {
	if x > 0 {
		return x + math.Log1p(math.Exp(-x))
	}
	return math.Log1p(math.Exp(x))
}

// logSum returns ln Σ e^term.
func logSum(terms []float64) float64 {
	largest := math.Inf(-1)
	for _, term := range terms {
		largest = max(largest, term)
	}
	if math.IsInf(largest, -1) {
		return largest
	}
	sum := 0.0
	for _, term := range terms {
		sum += math.Exp(term - largest)
	}
	return largest + math.Log(sum)
}
