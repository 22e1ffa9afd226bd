package peerprior

import (
	"slices"

	"github.com/fbo-node/fbo/rff"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Statement is information about the objective other than a share of one peer, for example a
// private sum over many peers.
type Statement struct {
	// Observations is the number of observations that the statement is based on. If it exceeds the
	// number of starting designs, an agent may use the statement instead of its own starting designs.
	Observations int
	Explained    float64 // fraction of the objective's prior variance that the statement explains, 0 to 1

	// Value returns the predicted objective at an encoded design. It may differ from the objective
	// by a constant and a positive factor.
	Value func(x []float64) float64

	// Known returns the fraction of the prior variance that the statement explains at an encoded
	// design; nil means Explained everywhere.
	Known func(x []float64) float64

	// Contributors is the number of peers behind the statement; 0 means 1.
	Contributors int
}

// NewFrom returns the strategy of an agent that uses statements instead of peers' shares.
func NewFrom(t *task.Task, features *rff.Map, statementsOf func(view strategy.View) []Statement) (*Strategy, error) {
	inputOf := func(s *Strategy, view strategy.View, _ uint64, _ strategy.Seed, own [][]float64) (h peerInput) {
		for _, said := range statementsOf(view) {
			if p := s.ownStatement(said, own); p != nil {
				h.add(p, said.Observations)
				h.peers += max(said.Contributors, 1) - 1
			}
		}
		return h
	}
	return newStrategy(t, features, inputOf, false)
}

// ownStatement returns the signal of a statement, or nil if the statement explains too little
// variance or its mean is constant.
func (s *Strategy) ownStatement(said Statement, own [][]float64) *peerSignal {
	if said.Explained < minExplained {
		return nil
	}
	points := s.reference().points
	var mean []float64
	for _, x := range points {
		mean = append(mean, said.Value(x))
	}
	known := slices.Repeat([]float64{min(said.Explained, maxKnown)}, len(points))
	if said.Known != nil {
		for i, x := range points {
			known[i] = min(max(said.Known(x), 0), maxKnown)
		}
	}
	return newPeerSignal(said.Explained, mean, known, said.Value, own)
}
