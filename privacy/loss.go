package privacy

import (
	"errors"
	"fmt"
	"math"
)

// Limits of the fields of a Plan and a Promise.
const (
	MaxReleases = 1_000_000
	MaxParties  = 1_000_000
	MinRate     = 1e-6
	MinEpsilon  = 1e-3
	MaxEpsilon  = 100
	MinDelta    = 1e-12
	MaxDelta    = 0.5
)

// minSampledMultiplier is the smallest ratio of sigma to the sensitivity for sampled releases. It
// limits the number of terms in the sums.
const minSampledMultiplier = 0.05

// ErrNoTight means that the bound Tight cannot be computed: a release was sampled (Rate below 1),
// or its noise is of so few grid units that the grid matters.
var ErrNoTight = errors.New("no tight figure for sampled releases or noise of few grid units; use Renyi")

// Bound is the argument by which ε is computed. Both arguments give upper bounds for discrete
// noise.
type Bound int

const (
	// Renyi computes ε from the Rényi divergence of the discrete Gaussian. It holds at any noise
	// scale and for sampled releases.
	Renyi Bound = iota
	// Tight computes ε from the exact ε of the continuous Gaussian, and adds the effect of the grid
	// on ε and δ, which is negligible on a grid of 30 bits. The result is smaller than that of
	// Renyi.
	Tight
)

// Plan describes Releases identical releases of one node's vector. All fields are public and fixed
// before any data is seen.
type Plan struct {
	Grid      Grid
	Adjacency Adjacency // the neighbour relation of the guarantee; ReplaceOne unless presence is secret
	Dimension int       // length of the vector, in [1, MaxDimension]

	// Rate is the probability with which the node takes part in each release, in [MinRate, 1]. A
	// Rate below 1 needs ZeroOut, one party, and hidden participation: a node that does not take
	// part sends noise on zeros. Under ReplaceOne the formula for sampled releases gives no gain.
	// With the sensitivity of ZeroOut it would be wrong there.
	Rate     float64
	Releases int // number of releases, in [1, MaxReleases]

	// Parties is the number of honest parties whose noise every released sum is certain to contain,
	// in [1, MaxParties]. Each party adds noise of the full scale sigma. It is 1 if each party
	// releases its own vector. For sums with at least n contributions and at most t colluding
	// parties it is n−t.
	Parties int
}

// Validate returns an error about the first field that is out of range.
func (p Plan) Validate() error {
	if err := p.Grid.Validate(); err != nil {
		return err
	}
	if err := p.Adjacency.validate(); err != nil {
		return err
	}
	for _, field := range []struct {
		name           string
		value, highest int
	}{{"Dimension", p.Dimension, MaxDimension}, {"Releases", p.Releases, MaxReleases}, {"Parties", p.Parties, MaxParties}} {
		if field.value < 1 || field.value > field.highest {
			return fmt.Errorf("parameter %q: %d must lie in [1, %d]", field.name, field.value, field.highest)
		}
	}
	if !(p.Rate >= MinRate && p.Rate <= 1) {
		return fmt.Errorf("parameter %q: %g must lie in [%g, 1]", "Rate", p.Rate, MinRate)
	}
	if p.Rate < 1 && p.Adjacency != ZeroOut {
		return fmt.Errorf("parameter %q: %g must be 1 under %v; below 1 it needs %v", "Rate", p.Rate, p.Adjacency, ZeroOut)
	}
	if p.Rate < 1 && p.Parties != 1 {
		return fmt.Errorf("parameter %q: %g must be 1 with %d parties; below 1 it needs 1", "Rate", p.Rate, p.Parties)
	}
	return nil
}

// Loss is the privacy cost of releases for one node. The zero Loss is the cost of no release.
type Loss struct {
	releases  int
	adjacency Adjacency
	rho       float64   // ρ of zCDP, of the releases in which the node took part with certainty
	sampled   []float64 // RDP at orders() of the sampled releases; nil if there are none
	numbers   float64   // total length of all released vectors
	ratio     float64   // sum of sumRatio over all releases
}

// Releases returns the number of releases that the loss covers.
func (l Loss) Releases() int { return l.releases }

// Loss returns the privacy cost of the plan if every party's noise has scale sigma, in grid units,
// 1 to MaxSigma.
func (p Plan) Loss(sigma int64) (Loss, error) {
	if err := p.Validate(); err != nil {
		return Loss{}, err
	}
	if sigma < 1 || sigma > MaxSigma {
		return Loss{}, fmt.Errorf("parameter %q: %d must lie in [1, %d]", "sigma", sigma, int64(MaxSigma))
	}
	scale, count := float64(sigma), float64(p.Releases)
	sensitivity := float64(p.Grid.Sensitivity(p.Adjacency))
	loss := Loss{releases: p.Releases, adjacency: p.Adjacency}
	loss.numbers = count * float64(p.Dimension)
	loss.ratio = count * sumRatio(scale, p.Parties, p.Dimension)
	if p.Rate == 1 {
		loss.rho = count * sumConcentration(sensitivity, scale, p.Parties, p.Dimension)
		return loss, nil
	}
	multiplier := scale / sensitivity
	if multiplier < minSampledMultiplier {
		return Loss{}, fmt.Errorf("parameter %q: %d must be at least %g times the sensitivity %g when Rate is below 1",
			"sigma", sigma, minSampledMultiplier, sensitivity)
	}
	for _, alpha := range orders() {
		loss.sampled = append(loss.sampled, count*sampledRDP(p.Rate, multiplier, alpha))
	}
	return loss, nil
}

// Plus returns the cost of both losses together. Losses of the same node's vectors add up, whether
// or not the later release depended on the earlier one (Bun, Steinke 2016, Lemma 2.3; Mironov 2017,
// Proposition 1; Dong, Roth, Su 2019, Corollary 3.3). Their plans must not have depended on earlier
// releases. Plus returns an error for losses under different adjacencies, which do not add up.
func (l Loss) Plus(other Loss) (Loss, error) {
	if l.releases == 0 {
		return other, nil
	}
	if other.releases == 0 {
		return l, nil
	}
	if l.adjacency != other.adjacency {
		return Loss{}, fmt.Errorf("parameter %q: %v must be %v, as of the loss it is added to", "Adjacency", other.adjacency, l.adjacency)
	}
	sum := Loss{
		releases: l.releases + other.releases, adjacency: l.adjacency, rho: l.rho + other.rho,
		numbers: l.numbers + other.numbers, ratio: l.ratio + other.ratio,
	}
	if l.sampled != nil || other.sampled != nil {
		sum.sampled = make([]float64, len(orders()))
		for i := range sum.sampled {
			if l.sampled != nil {
				sum.sampled[i] += l.sampled[i]
			}
			if other.sampled != nil {
				sum.sampled[i] += other.sampled[i]
			}
		}
	}
	return sum, nil
}

// epsilonMargin covers the rounding errors of sums and conversions.
const epsilonMargin = 1e-12

// Epsilon returns an ε ≥ 0 such that the releases are (ε, delta)-private, for delta in [MinDelta,
// MaxDelta]. It grows with the loss.
func (l Loss) Epsilon(delta float64, bound Bound) (float64, error) {
	if !(delta >= MinDelta && delta <= MaxDelta) {
		return 0, fmt.Errorf("parameter %q: %g must lie in [%g, %g]", "delta", delta, MinDelta, MaxDelta)
	}
	if bound != Renyi && bound != Tight {
		return 0, fmt.Errorf("parameter %q: %d must be Renyi (%d) or Tight (%d)", "bound", int(bound), Renyi, Tight)
	}
	epsilon := 0.0
	switch {
	case l.releases == 0:
	case bound == Tight:
		var err error
		if epsilon, err = l.tight(delta); err != nil {
			return 0, err
		}
	case l.sampled == nil:
		epsilon = epsilonConcentrated(l.rho, delta)
	default:
		epsilon = l.overOrders(delta)
	}
	return epsilon * (1 + epsilonMargin), nil
}

// overOrders returns the smallest ε over orders(). At integer orders the divergence is that of the
// discrete noise. At other orders it is that of the continuous noise, plus the effect of the grid.
func (l Loss) overOrders(delta float64) float64 {
	best := math.Inf(1)
	for i, alpha := range orders() {
		total := l.sampled[i] + alpha*l.rho
		if whole(alpha) {
			best = min(best, epsilonAt(total, alpha, delta))
		} else if epsilon, ok := l.onGrid(max(0, epsilonAt(total, alpha, delta*(1-gridShare))), delta); ok {
			best = min(best, epsilon)
		}
	}
	return max(0, best)
}

func (l Loss) tight(delta float64) (float64, error) {
	if l.sampled != nil {
		return 0, ErrNoTight
	}
	// √2ρ is μ, since the ρ of releases add up as their μ² do.
	epsilon, ok := l.onGrid(gaussianEpsilon(math.Sqrt(2*l.rho), delta*(1-gridShare)), delta)
	if !ok {
		return 0, ErrNoTight
	}
	return epsilon, nil
}

// gridShare is the fraction of δ that is reserved for the effect of the grid.
const gridShare = 1e-6

// onGrid converts an ε at δ·(1−gridShare) of continuous Gaussian noise into an ε at δ of the
// discrete noise. ε grows by r, the sum of the logarithms of roundingRatio over all released
// numbers. ok is false if the reserved share of δ is not sufficient.
//
// Proof. An integer plus rounded noise is the rounded sum of the integer and the noise. So a bound
// for continuous Gaussian releases, adaptive or not, also holds for rounded ones. Let P and Q be
// the probabilities of all released numbers with discrete and with rounded noise, and P′ and Q′ the
// same under the neighbouring contribution. A transcript is the list of all released numbers. Its
// probability is a product with one factor for each number: the probability of the noise that leads
// from the clipped number, given all earlier ones, to the released one. Hence P(S) ≤ e^low·Q(S) for
// every set S of transcripts, where low and high are sums over all numbers. The noise of all
// numbers is within reach except with a probability B ≤ numbers·2·exp(logBeyond) under Q′. Hence
// Q′(S) ≤ e^high·P′(S) + B. Together
//
//	P(S) ≤ e^low·(e^ε·Q′(S) + δ·(1−gridShare)) ≤ e^(ε+r)·P′(S) + e^low·(e^ε·B + δ·(1−gridShare)).
//
// With low ≤ r ≤ gridShare/2 and e^(ε+r)·B ≤ δ·gridShare/2 the last term is at most δ. A coin that
// decides whether the node takes part is one more factor, equal in P and Q, that is summed over at
// the end.
func (l Loss) onGrid(epsilon, delta float64) (float64, bool) {
	logBeyondAll := math.Log(2*l.numbers) + logBeyond
	ok := l.ratio <= gridShare/2 && epsilon+l.ratio+logBeyondAll <= math.Log(delta*gridShare/2)
	return epsilon + l.ratio, ok
}
