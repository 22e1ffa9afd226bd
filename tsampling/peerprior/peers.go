package peerprior

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/fbo-node/fbo/internal/linalg"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
)

// share is a peer's mean as received. Its values at the task's reference points are computed once
// and used for all suggestions.
type share struct {
	protocol.Mean
	once        sync.Once
	mean, known []float64 // at the reference points: the function of Values, and the explained fraction of the variance
}

// peerSignal is peer information in a common form: from a peer's mean or from a [Statement]. It is
// shifted and scaled so that, over the space, its mean averages 0 and has the variance explained.
// So no peer has more influence than the variance that it claims to explain.
type peerSignal struct {
	explained   float64
	mean, known []float64 // at the reference points: values of the mean, and the explained fraction of the variance
	atOwn       []float64 // values of the mean at the own designs
	use         float64   // probability that the signal is useful, set by weighPeers
}

// peerMeans returns the shares to use: at most maxPeers. If there are more, it takes those that
// claim to explain the most variance. Ties are broken at random.
func peerMeans(view strategy.View, trial uint64, seed strategy.Seed) []*share {
	var all []*share
	for _, said := range strategy.Shares[*share](view) {
		if said.Explained >= minExplained {
			all = append(all, said)
		}
	}
	if len(all) > maxPeers {
		seed.Stream("which peers", trial).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		slices.SortStableFunc(all, func(a, b *share) int { return cmp.Compare(b.Explained, a.Explained) })
		all = all[:maxPeers]
	}
	return all
}

// read returns the signal of a share, or nil if its mean is constant.
func (s *Strategy) read(said *share, own [][]float64) *peerSignal {
	said.once.Do(func() {
		said.mean, said.known = s.atReference(said.Values), s.atReference(said.ExplainedWeights)
		for i, beyond := range said.known {
			said.known[i] = min(max(said.Explained+beyond, 0), maxKnown)
		}
	})
	return newPeerSignal(said.Explained, said.mean, said.known, s.features.Function(said.Values).Value, own)
}

// newPeerSignal returns a signal, or nil if its mean is constant. mean and known are at the
// reference points, and says returns the mean at an encoded design.
func newPeerSignal(explained float64, mean, known []float64, says func(x []float64) float64, own [][]float64) *peerSignal {
	average, variance := moments(mean)
	if !(variance > minVariance) {
		return nil
	}
	p := &peerSignal{explained: explained, known: known, mean: slices.Clone(mean)}
	factor := math.Sqrt(explained / variance)
	for i, v := range p.mean {
		p.mean[i] = factor * (v - average)
	}
	for _, x := range own {
		p.atOwn = append(p.atOwn, factor*(says(x)-average))
	}
	return p
}

// atReference returns the values at the reference points of the function with these weights over
// the shared features.
func (s *Strategy) atReference(weights []float64) []float64 {
	r := s.reference()
	values := make([]float64, len(r.points))
	blas64.Gemv(blas.NoTrans, 1, r.phi.RawMatrix(), linalg.Vector(weights), 0, linalg.Vector(values))
	return values
}

// weighPeers sets the probability that each signal is useful. It weighs experts with the signal as
// their mean against experts with mean 0 that are otherwise equal. A signal without information
// therefore gains no weight. Only the average explained variance of the signal is used here, not
// its variation over the space.
func weighPeers(received []*peerSignal, d *data) {
	for _, p := range received {
		deviations := slices.Repeat([]float64{deviationOf(1 - p.explained)}, len(d.x))
		with, without := experts(useOdds, nil, p.atOwn, deviations), experts(1-useOdds, nil, nil, deviations)
		weigh(slices.Concat(with, without), d)
		p.use = weight(with)
	}
}
