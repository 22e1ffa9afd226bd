package peerprior

import (
	"github.com/fbo-node/fbo/internal/optprior"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
)

// peerInput holds the peer information for one suggestion.
type peerInput struct {
	signals      []*peerSignal
	densityPeers []*optprior.Mixture // densities around peers' estimated optima; empty if peers share none
	peers        int                 // number of peers whose shares are used
	observations int                 // sum of the observations that these peers report
	most         int                 // largest number of observations of one peer
}

// add adds the signal of one peer, which reports this number of observations.
func (h *peerInput) add(p *peerSignal, observations int) {
	h.signals = append(h.signals, p)
	h.count(observations)
}

func (h *peerInput) count(observations int) {
	h.peers++
	h.observations = strategy.AddObservations(h.observations, observations)
	h.most = max(h.most, observations)
}

// inputMode is a function that returns the peer information for an agent. own are the agent's
// encoded designs.
type inputMode func(s *Strategy, view strategy.View, trial uint64, seed strategy.Seed, own [][]float64) peerInput

// fromMeans is the inputMode with exact shares: a signal from each peer's mean, and the peers'
// densities.
func fromMeans(s *Strategy, view strategy.View, trial uint64, seed strategy.Seed, own [][]float64) (h peerInput) {
	for _, said := range peerMeans(view, trial, seed) {
		if p := s.read(said, own); p != nil {
			h.add(p, said.Observations)
		}
	}
	h.densityPeers = s.densities(optprior.Peers(view, maxPeers, seed.Stream("which places", trial)))
	return h
}

// fromDensities is the inputMode with coarse shares. It combines the peers' densities of the
// optimum's location into one statement. The average of the densities serves as the mean of the
// objective.
func fromDensities(s *Strategy, view strategy.View, trial uint64, seed strategy.Seed, own [][]float64) (h peerInput) {
	said := optprior.Peers(view, maxPeers, seed.Stream("which places", trial))
	if len(said) == 0 {
		return h
	}
	h.densityPeers = s.densities(said)
	p := s.ownStatement(Statement{Explained: densityExplained, Value: optprior.NewAverage(h.densityPeers).Value}, own)
	if p == nil {
		return h
	}
	h.signals = append(h.signals, p)
	for _, d := range said {
		h.count(d.Observations)
	}
	return h
}

func (s *Strategy) densities(said []protocol.Density) (all []*optprior.Mixture) {
	for _, d := range said {
		all = append(all, optprior.NewMixture(s.layout, s.task.Space, d))
	}
	return all
}
