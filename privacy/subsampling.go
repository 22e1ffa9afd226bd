package privacy

import "math"

// sampledMargin covers the rounding errors of sampledRDP.
const sampledMargin = 1e-11

// sampledRDP returns the Rényi divergence of order alpha > 1 of one sampled release, in which a
// node takes part with probability rate. It is for zero-out adjacency and Gaussian noise of
// multiplier times the sensitivity. With q the rate and z the multiplier it is ln A/(α−1). A is the
// α-th moment of the ratio of (1−q)·N(0, z²) + q·N(1, z²) to N(0, z²) under the latter (Mironov,
// Talwar, Zhang 2019, Theorem 4). By their Theorem 5 it exceeds the divergence in the other
// direction.
//
// At integer orders the result also holds for the discrete Gaussian. A is then a sum of terms E
// exp(k·(2⟨x,Δ⟩−‖Δ‖²)/2σ²). The discrete Gaussian is subgaussian (CKS 2020, Section 2), so each
// term is at most its value for the continuous Gaussian. Theorem 5 needs the map x → Δ−x, which
// maps the grid onto itself. At other orders the result is that of the continuous Gaussian, and the
// caller must add the effect of the grid.
func sampledRDP(rate, multiplier, alpha float64) float64 {
	if rate == 1 {
		return alpha / (2 * multiplier * multiplier)
	}
	var excess float64 // ln(A−1), since A is close to 1 if the loss is small
	if whole(alpha) {
		excess = excessBySum(rate, multiplier, int(alpha))
	} else {
		excess = excessByQuadrature(rate, multiplier, alpha)
	}
	return softplus(excess) / (alpha - 1) * (1 + sampledMargin)
}

// excessBySum returns ln(A−1) at an integer order. In the binomial sum of Mironov et al. 2019,
// Section 3.3, the terms k = 0 and 1 are those of a plain binomial, which sums to 1. So A−1 is the
// sum of the other terms, each minus its binomial part.
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
// All terms of this rule are positive (E x = 0), unlike those of the two infinite sums of Mironov
// et al. 2019, Section 3.3. The integrand is analytic for |Im t| < πz, the point where 1+x first
// vanishes, so that with this step the error of the rule is below e^−40.
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
	if u > 700 { // e^u would overflow; the power exceeds all other terms by far
		return alpha * (math.Log(rate) + u)
	}
	x := rate * math.Expm1(u)
	if math.Abs(x) < 1e-4 { // the difference would cancel, so its series is used
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
