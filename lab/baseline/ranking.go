package baseline

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// rankingDraws is S, the number of joint draws from each model that are ranked.
const rankingDraws = 128

// discordant counts the ordered pairs (j, k), j ≠ k, that f and y order
// differently: Σ 1[(f_j < f_k) ⊕ (y_j < y_k)]. A tie counts half as much as a
// pair of opposite order.
func discordant(f, y []float64) int {
	count := 0
	for j, fj := range f {
		yj := y[j]
		for k, yk := range y[:j] {
			count += number((fj < f[k]) != (yj < yk)) + number((f[k] < fj) != (yk < yj))
		}
	}
	return count
}

// number compiles to an instruction without a branch; the processor could not predict that branch.
func number(b bool) int {
	n := 0
	if b {
		n = 1
	}
	return n
}

// peerLosses are the ranking losses of S draws of a peer's function against the
// outputs y at the points x.
func peerLosses(peer *known, x [][]float64, y []float64, rng *rand.Rand) ([]int, error) {
	at, err := peer.at(x)
	if err != nil {
		return nil, err
	}
	draws, err := at.draw(rankingDraws, rng)
	if err != nil {
		return nil, err
	}
	losses := make([]int, rankingDraws)
	for s := range losses {
		losses[s] = discordant(draws.RawRowView(s), y)
	}
	return losses, nil
}

// ownLosses are the ranking losses of S draws of the target's own functions: for
// each observation j one of the posterior f₋ⱼ given all others under the same
// hyperparameters, by which x_j is compared with every other own point.
//
// With C the inverse of K + σ²I, a_j = column j of I − σ²C and α = Cy, leaving j
// out changes the posterior at the own points from N(μ, Σ) to
//
//	N(μ − a_j α_j/C_jj, Σ + a_j a_jᵀ/C_jj)
//
// (at x_j itself: Rasmussen and Williams, equation 5.12). So a draw of f₋ⱼ is one of the whole
// posterior and a multiple of a_j. Draw s of f₋ⱼ takes draw s + j of the whole posterior, so that
// the draws of one loss are independent while there are no more than S of them.
func ownLosses(own *known, rng *rand.Rand) ([]int, error) {
	out, err := newLeaveOneOut(own)
	if err != nil {
		return nil, err
	}
	draws, err := out.whole.draw(rankingDraws, rng)
	if err != nil {
		return nil, err
	}
	losses := make([]int, rankingDraws)
	for s := range losses {
		for j, yj := range own.y {
			step := out.step(j, rng.NormFloat64())
			f, a := draws.RawRowView((s+j)%rankingDraws), out.columns.RawRowView(j)
			held := f[j] + step*a[j]
			for k, yk := range own.y {
				losses[s] += number((held < f[k]+step*a[k]) != (yj < yk))
			}
		}
	}
	return losses, nil
}

// leaveOneOut is the posterior at the own points with the changes that leaving
// out each of them makes.
type leaveOneOut struct {
	whole   *gaussian
	columns *mat.Dense // row j is a_j
	inverse *mat.SymDense
	alpha   *mat.VecDense
}

func newLeaveOneOut(own *known) (*leaveOneOut, error) {
	n, noise := len(own.x), own.h.Noise
	chol, err := noisy(covariance(own.spec, own.x, own.h), noise)
	if err != nil {
		return nil, err
	}
	l := &leaveOneOut{inverse: mat.NewSymDense(n, nil), alpha: mat.NewVecDense(n, nil), columns: mat.NewDense(n, n, nil)}
	if err := chol.InverseTo(l.inverse); err != nil {
		return nil, err
	}
	y := mat.NewVecDense(n, own.y)
	l.alpha.MulVec(l.inverse, y)
	l.whole = &gaussian{mean: mat.NewVecDense(n, nil), covariance: mat.NewSymDense(n, nil)}
	l.whole.mean.AddScaledVec(y, -noise, l.alpha)
	for i := range n {
		for j := range n {
			a := -noise * l.inverse.At(i, j)
			if i == j {
				a++
			}
			l.columns.Set(i, j, a)
			if i <= j {
				l.whole.covariance.SetSym(i, j, noise*a)
			}
		}
	}
	return l, nil
}

// step is the multiple of a_j that turns a draw of the whole posterior into one
// of f₋ⱼ; z is standard normal.
func (l *leaveOneOut) step(j int, z float64) float64 {
	c := l.inverse.At(j, j)
	return z/math.Sqrt(c) - l.alpha.AtVec(j)/c
}

// worstShare is the quantile of the target's losses that half of a peer's losses
// must not exceed.
const worstShare = 0.95

// rankingWeights returns the share of the draws in which each model has the
// least loss, own the target's and others the peers'; together they are 1. Peers
// whose median loss is above the target's 95th percentile get nothing, so that
// many useless peers do not win by their number. In a tie the target wins, and
// otherwise those that tie share.
func rankingWeights(target []int, peers [][]int) (own float64, others []float64) {
	others = make([]float64, len(peers))
	limit := quantile(target, worstShare)
	var kept []int
	for n, losses := range peers {
		if quantile(losses, 0.5) <= limit {
			kept = append(kept, n)
		}
	}
	part := 1 / float64(len(target))
	var winners []int
	for s, least := range target {
		winners = winners[:0]
		for _, n := range kept {
			switch loss := peers[n][s]; {
			case loss < least:
				least, winners = loss, append(winners[:0], n)
			case loss == least && len(winners) > 0:
				winners = append(winners, n)
			}
		}
		if len(winners) == 0 {
			own += part
		}
		for _, n := range winners {
			others[n] += part / float64(len(winners))
		}
	}
	return own, others
}

// quantile interpolates linearly between the nearest two values.
func quantile(values []int, share float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	at := share * float64(len(sorted)-1)
	below := int(at)
	above := min(below+1, len(sorted)-1)
	return float64(sorted[below]) + (at-float64(below))*float64(sorted[above]-sorted[below])
}
