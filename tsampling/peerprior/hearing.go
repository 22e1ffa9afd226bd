package peerprior

import (
	"slices"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/random"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/optimum"
	"github.com/fbo-node/fbo/strategy/search"
)

// hearing is all that an agent hears of its objective for one suggestion.
type hearing struct {
	listened     []*listened
	places       []optimum.Weighted // where peers believe the optimum to be; none where they do not say
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

// listen returns what an agent hears that has observed these data.
type listen func(s *Strategy, view strategy.View, trial uint64, seed random.Seed, d *data) hearing

// toMeans listens to peers' means.
func toMeans(s *Strategy, view strategy.View, trial uint64, seed random.Seed, d *data) (h hearing) {
	for _, said := range heard(view, trial, seed) {
		if p := s.read(said, d.x); p != nil {
			h.add(p, said.Observations)
		}
	}
	h.places = optimum.Evenly(s.mixtures(told(view, trial, seed))...)
	return h
}

// toPlaces makes of where peers believe the optimum to be one statement: that the objective is
// the average of their densities, each by its use, as far as that explains it.
func toPlaces(s *Strategy, view strategy.View, trial uint64, seed random.Seed, d *data) (h hearing) {
	said := told(view, trial, seed)
	if len(said) == 0 {
		return h
	}
	h.places = s.byUse(s.mixtures(said), d)
	p := s.statedOf(h.places, d)
	if p == nil {
		return h
	}
	h.listened = append(h.listened, p)
	for _, one := range said {
		h.count(one.Observations)
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

func (s *Strategy) mixtures(said []protocol.Density) (all []*optimum.Mixture) {
	for _, one := range said {
		all = append(all, optimum.NewMixture(s.layout, s.task.Space, one))
	}
	return all
}

// byUse makes each place count by the probability that it is of use as a statement by itself:
// otherwise liars who name one place outdo honest peers, whose places scatter. Where no place
// can be judged, all count alike.
func (s *Strategy) byUse(places []*optimum.Mixture, d *data) []optimum.Weighted {
	uses, total := s.uses(places, d), 0.0
	for _, use := range uses {
		total += use
	}
	all := optimum.Evenly(places...)
	if total > 0 {
		for i := range all {
			all[i].Part = uses[i] / total
		}
	}
	return all
}

// uses are the probabilities that places are of use, 0 for one that says nothing.
func (s *Strategy) uses(places []*optimum.Mixture, d *data) []float64 {
	var all []*listened
	uses := make([]float64, len(places))
	for _, m := range places {
		all = append(all, s.statedOf(optimum.Evenly(m), d))
	}
	judge(slices.DeleteFunc(slices.Clone(all), func(p *listened) bool { return p == nil }), d)
	for i, p := range all {
		if p != nil {
			uses[i] = p.use
		}
	}
	return uses
}

// statedOf makes of places the statement that the objective is the average of their densities.
func (s *Strategy) statedOf(places []optimum.Weighted, d *data) *listened {
	return s.stated(Statement{Explained: placesExplain, Value: func(x []float64) float64 { return optimum.Average(places, x) }}, d.x)
}
