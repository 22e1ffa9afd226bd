package baseline

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// rankingDraws is S, the number of joint draws from each model that are ranked.
const rankingDraws = 128

// discordant returns the number of ordered pairs (j, k), j ≠ k, that f and y order differently: Σ
// 1[(f_j < f_k) ⊕ (y_j < y_k)]. A tie counts half as much as a pair of opposite order.
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

// number converts a bool without a branch, which the processor could not predict here.
func number(b bool) int {
	n := 0
	if b {
		n = 1
	}
	return n
}

// peerLosses returns the ranking losses of S draws of a peer's function, compared with the outputs
// y at the points x.
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

// ownLosses returns the ranking losses of S draws of the target's own functions. A draw consists of
// one function for each observation j, from the posterior f₋ⱼ given all other observations under
// the same hyperparameters. This function compares x_j with every other point of the target.
//
// Let C be the inverse of K + σ²I, a_j column j of I − σ²C, and α = Cy. Leaving observation j out
// changes the posterior at the target's points from N(μ, Σ) to
//
//	N(μ − a_j α_j/C_jj, Σ + a_j a_jᵀ/C_jj)
//
// (at x_j itself: Rasmussen and Williams, equation 5.12). So a draw of f₋ⱼ is a draw of the whole
// posterior plus a multiple of a_j. Draw s of f₋ⱼ uses draw s + j of the whole posterior. The draws
// in one loss are therefore independent if there are at most S observations.
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

// leaveOneOut is the posterior at the target's points, with the data for leaving out each of them.
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

// step returns the multiple of a_j that turns a draw of the whole posterior into a draw of f₋ⱼ,
// given a standard normal z.
func (l *leaveOneOut) step(j int, z float64) float64 {
	c := l.inverse.At(j, j)
	return z/math.Sqrt(c) - l.alpha.AtVec(j)/c
}

// worstShare is a quantile of the target's losses. A peer is used only if its median loss does not
// exceed it.
const worstShare = 0.95

// rankingWeights returns for each model the share of draws in which it has the smallest loss: own
// for the target, others for the peers. The weights have the sum 1. A peer whose median loss is
// above the 95th percentile of the target's losses gets the weight 0, so that many useless peers do
// not win by their number. In a tie that includes the target the target wins; other ties are
// divided equally.
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

// quantile interpolates linearly between the two nearest values.
func quantile(values []int, share float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	at := share * float64(len(sorted)-1)
	below := int(at)
	above := min(below+1, len(sorted)-1)
	return float64(sorted[below]) + (at-float64(below))*float64(sorted[above]-sorted[below])
}
