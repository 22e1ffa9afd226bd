package peerprior

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/random"
	"github.com/fbo-node/fbo/rff"
	"github.com/fbo-node/fbo/strategy"
)

const (
	mostPeers      = 32   // that one suggestion listens to, which bounds its cost
	leastExplained = 0.01 // by a peer that is worth hearing
	peerOdds       = 0.7  // that a peer is of use, before any evidence
	peerNoise      = 0.1  // of what a peer knows about the agent's own objective, in units of the prior variance
)

// listened is one peer with what the agent makes of it.
type listened struct {
	protocol.Mean
	atOwn []float64 // the mean's values at the own observed points
	scale float64   // by which the mean is multiplied
	use   float64   // the probability that the peer is of use
}

// choose lists the peers to listen to: those that know most. Whom of equals is
// left to chance.
func choose(view strategy.View, trial uint64, seed random.Seed) []*listened {
	var all []*listened
	for _, share := range view.Shares {
		mean, ok := share.Value.(protocol.Mean)
		if ok && share.Author != view.Self && share.Slot == 0 && mean.Explained >= leastExplained {
			all = append(all, &listened{Mean: mean})
		}
	}
	if len(all) > mostPeers {
		seed.Stream("which peers", trial).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		slices.SortStableFunc(all, func(a, b *listened) int { return cmp.Compare(b.Explained, a.Explained) })
		all = all[:mostPeers]
	}
	return all
}

// evaluate fills in the means' values at the own points, and the scale that
// gives each the variance over the space that its author's knowledge implies:
// authors' units differ, and nobody shall speak louder than he knows.
func evaluate(peers []*listened, features *rff.Map, reference, own [][]float64) []*listened {
	points := slices.Concat(reference, own)
	phi := mat.NewDense(len(points), features.Features(), nil)
	for i, x := range points {
		features.Phi(phi.RawRowView(i), x)
	}
	weights := mat.NewDense(features.Features(), len(peers), nil)
	for j, p := range peers {
		weights.SetCol(j, p.Values)
	}
	var values mat.Dense
	values.Mul(phi, weights)
	column := make([]float64, len(points))
	var useful []*listened
	for j, p := range peers {
		mat.Col(column, j, &values)
		level, variance := moments(column[:len(reference)])
		if !(variance > 1e-12) {
			continue // a constant says nothing
		}
		p.scale = math.Sqrt(p.Explained / variance)
		for _, v := range column[len(reference):] {
			p.atOwn = append(p.atOwn, p.scale*(v-level))
		}
		useful = append(useful, p)
	}
	return useful
}

func moments(values []float64) (mean, variance float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		variance += (v - mean) * (v - mean) / float64(len(values))
	}
	return mean, variance
}

// judge fills in the probability that each peer is of use: that the own
// observations come from a model around this peer's mean rather than from one
// without.
func judge(peers []*listened, d *data) {
	without := d.weigh(alone(1), nil)
	for _, p := range peers {
		left := 1 - p.Explained + unlikenesses[0]
		with := d.weigh(joined(1, left, gains[:1]), p.atOwn)
		odds := math.Log(peerOdds/(1-peerOdds)) + with - without
		p.use = 1 / (1 + math.Exp(-odds))
	}
}

// consensus combines the peers' means. left is the part of the variance that it
// is expected to leave.
func consensus(peers []*listened, features, own int) (weights, atOwn []float64, left float64) {
	weights, atOwn = make([]float64, features), make([]float64, own)
	precision := 1.0
	for _, p := range peers {
		c := p.use / ((1-p.Explained)/p.Explained + peerNoise)
		precision += c
		for i, v := range p.Values {
			weights[i] += c / p.Explained * p.scale * v
		}
		for i, v := range p.atOwn {
			atOwn[i] += c / p.Explained * v
		}
	}
	for i := range weights {
		weights[i] /= precision
	}
	for i := range atOwn {
		atOwn[i] /= precision
	}
	return weights, atOwn, 1 / precision
}
