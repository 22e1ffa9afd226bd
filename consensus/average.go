package consensus

import (
	"slices"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// PeerCandidate is a peer's candidate with what it counts beside its weight.
type PeerCandidate struct {
	Peer      peer.ID
	Candidate protocol.Candidate
	Age       int // how many own rounds ago it came; it counts for 1/(1+Age) of its weight
}

// averager is who speaks in a round.
type averager struct {
	self       peer.ID
	own        protocol.Candidate
	present    []peer.ID       // sorted, self among them
	candidates []PeerCandidate // of some of them
	t          int
	settings   Settings
	fits       []float64 // of each voice, by similarity; with weights similarity alone
}

// averager is that of a round that has closed with an own candidate.
func (r Round) averager(space *task.Space, view strategy.View, settings Settings) averager {
	return averager{self: view.Self, own: *r.Own, present: r.Present, candidates: r.Candidates, t: r.Number, settings: settings}.asLiked(space, view)
}

// asLiked is the council with what its weights take from the view.
func (c averager) asLiked(space *task.Space, view strategy.View) averager {
	if c.settings.Weights == weightsSimilarity {
		c.fits = similarities(space, view, c.own.Point.Encoded(space), c.candidates)
	}
	return c
}

// weights returns one weight per voice; what is missing to 1 is the weight of
// the own candidate.
func (c averager) weights() []float64 {
	weights := make([]float64, len(c.candidates))
	switch c.settings.Weights {
	case weightsSimilarity:
		weights = similarityRow(c.fits)
	case weightsMetropolis:
		degrees := make([]int, len(c.candidates))
		for i, voice := range c.candidates {
			degrees[i] = voice.Candidate.VisiblePeers
		}
		weights, _ = metropolisRow(c.own.VisiblePeers, degrees, c.t, c.settings.Rounds)
	default:
		row := c.row()
		for i, voice := range c.candidates {
			if j, ok := slices.BinarySearch(c.present, voice.Peer); ok {
				weights[i] = row[j]
			}
		}
	}
	for i, voice := range c.candidates {
		weights[i] /= float64(1 + voice.Age)
	}
	return weights
}

// row is the agent's row over all that are present.
func (c averager) row() []float64 {
	self, _ := slices.BinarySearch(c.present, c.self)
	if c.settings.Weights != weightsLeader {
		return uniformRow(len(c.present), self, c.t, c.settings.Rounds)
	}
	leader, _ := slices.BinarySearch(c.present, c.leader())
	return leaderRow(len(c.present), self, leader, c.t, c.settings.Rounds)
}

// leader is the agent of the best response among those that speak, of equal
// ones the first by ID.
func (c averager) leader() peer.ID {
	leader, best := c.self, c.own.Response
	for _, voice := range c.candidates {
		response := voice.Candidate.Response
		if best == nil || response != nil && (*response > *best || *response == *best && voice.Peer < leader) {
			leader, best = voice.Peer, response
		}
	}
	return leader
}

// average returns what the settings make of all candidates, in the encoded cube.
func (c averager) average(space *task.Space) []float64 {
	if c.settings.robust() {
		return c.robust(space)
	}
	return c.mean(space)
}

// mean is the weighted average of all candidates.
func (c averager) mean(space *task.Space) []float64 {
	sum := make([]float64, space.Dim())
	own := 1.0
	for i, weight := range c.weights() {
		add(sum, weight, c.candidates[i].Candidate.Point.Encoded(space))
		own -= weight
	}
	add(sum, own, c.own.Point.Encoded(space))
	return sum
}

func add(sum []float64, weight float64, x []float64) {
	for i, v := range x {
		sum[i] += weight * v
	}
}
