package consensus

import (
	"slices"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/task"
)

// Voice is a peer's candidate with what it counts beside its weight.
type Voice struct {
	Peer      peer.ID
	Candidate protocol.Candidate
	Age       int // how many own rounds ago it came; it counts for 1/(1+Age) of its weight
}

// council is who speaks in a round.
type council struct {
	self     peer.ID
	own      protocol.Candidate
	present  []peer.ID // sorted, self among them
	voices   []Voice   // of some of them
	t        int
	settings Settings
}

// council is that of a round that has closed with an own candidate.
func (r Round) council(self peer.ID, settings Settings) council {
	return council{self: self, own: *r.Own, present: r.Present, voices: r.Voices, t: r.Number, settings: settings}
}

// weights returns one weight per voice; what is missing to 1 is the weight of
// the own candidate.
func (c council) weights() []float64 {
	weights := make([]float64, len(c.voices))
	switch c.settings.Weights {
	case weightsMetropolis:
		degrees := make([]int, len(c.voices))
		for i, voice := range c.voices {
			degrees[i] = voice.Candidate.Neighbours
		}
		weights, _ = metropolisRow(c.own.Neighbours, degrees, c.t, c.settings.Rounds)
	default:
		row := c.row()
		for i, voice := range c.voices {
			if j, ok := slices.BinarySearch(c.present, voice.Peer); ok {
				weights[i] = row[j]
			}
		}
	}
	for i, voice := range c.voices {
		weights[i] /= float64(1 + voice.Age)
	}
	return weights
}

// row is the agent's row over all that are present.
func (c council) row() []float64 {
	self, _ := slices.BinarySearch(c.present, c.self)
	if c.settings.Weights != weightsLeader {
		return uniformRow(len(c.present), self, c.t, c.settings.Rounds)
	}
	leader, _ := slices.BinarySearch(c.present, c.leader())
	return leaderRow(len(c.present), self, leader, c.t, c.settings.Rounds)
}

// leader is the agent of the best response among those that speak, of equal
// ones the first by ID.
func (c council) leader() peer.ID {
	leader, best := c.self, c.own.Response
	for _, voice := range c.voices {
		response := voice.Candidate.Response
		if best == nil || response != nil && (*response > *best || *response == *best && voice.Peer < leader) {
			leader, best = voice.Peer, response
		}
	}
	return leader
}

// average returns what the settings make of all candidates, in the encoded cube.
func (c council) average(space *task.Space) []float64 {
	if c.settings.robust() {
		return c.robust(space)
	}
	return c.mean(space)
}

// mean is the weighted average of all candidates.
func (c council) mean(space *task.Space) []float64 {
	sum := make([]float64, space.Dim())
	own := 1.0
	for i, weight := range c.weights() {
		add(sum, weight, c.voices[i].Candidate.Point.Encoded(space))
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
