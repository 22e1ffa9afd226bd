package peerprior

import (
	"math"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/random"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/optimum"
	"github.com/fbo-node/fbo/strategy/search"
)

// hearing is all that an agent hears of its objective for one suggestion.
type hearing struct {
	listened     []*listened
	places       []*optimum.Mixture // where peers believe the optimum to be; none where they do not say
	peers        int                // who said it
	observations int                // behind it, of all of them
	most         int                // of one of them
}

// add notes what one peer says that has so many observations.
func (h *hearing) add(p *listened, observations int) {
	h.listened = append(h.listened, p)
	h.count(observations)
}

func (h *hearing) count(observations int) {
	h.peers++
	h.observations = strategy.AddObservations(h.observations, observations)
	h.most = max(h.most, observations)
}

// listen returns what an agent hears that has these own designs, encoded.
type listen func(s *Strategy, view strategy.View, trial uint64, seed random.Seed, own [][]float64) hearing

// toMeans listens to peers' means.
func toMeans(s *Strategy, view strategy.View, trial uint64, seed random.Seed, own [][]float64) (h hearing) {
	for _, said := range heard(view, trial, seed) {
		if p := s.read(said, own); p != nil {
			h.add(p, said.Observations)
		}
	}
	h.places = s.densities(told(view, trial, seed))
	return h
}

// toPlaces makes of where peers believe the optimum to be one statement: that the objective is
// the average of their densities, as far as they explain it.
func toPlaces(s *Strategy, view strategy.View, trial uint64, seed random.Seed, own [][]float64) (h hearing) {
	said := told(view, trial, seed)
	if len(said) == 0 {
		return h
	}
	h.places = s.densities(said)
	p := s.stated(Statement{Explained: placesExplain, Value: func(x []float64) float64 { return pooled(h.places, x) }}, own)
	if p == nil {
		return h
	}
	h.listened = append(h.listened, p)
	for _, d := range said {
		h.count(d.Observations)
	}
	return h
}

// told lists what peers say of where the optimum is.
func told(view strategy.View, trial uint64, seed random.Seed) []protocol.Density {
	var all []protocol.Density
	for _, d := range strategy.Shares[protocol.Density](view) {
		all = append(all, d)
	}
	return search.AtMost(mostPeers, all, seed.Stream("which places", trial))
}

func (s *Strategy) densities(said []protocol.Density) (all []*optimum.Mixture) {
	for _, d := range said {
		all = append(all, optimum.NewMixture(s.layout, s.task.Space, d))
	}
	return all
}

func pooled(densities []*optimum.Mixture, x []float64) (value float64) {
	var each optimum.Logs
	for _, m := range densities {
		value += math.Exp(m.Log(&each, x)) / float64(len(densities))
	}
	return value
}
