package consensus

import (
	"slices"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// PeerCandidate is a peer's candidate, with its age.
type PeerCandidate struct {
	Peer      peer.ID
	Candidate protocol.Candidate
	Age       int // number of own rounds since the candidate arrived; its weight is multiplied by 1/(1+Age)
}

// averager computes the average of the candidates of one round.
type averager struct {
	self       peer.ID
	own        protocol.Candidate
	present    []peer.ID       // all present agents, sorted, self included
	candidates []PeerCandidate // candidates of present peers; some peers may lack one
	t          int
	settings   Settings
	fits       []float64 // similarity of each candidate, 0 to 1; set only with weights: similarity
}

// averager returns the averager of a closed round, which must have an own candidate.
func (r Round) averager(space *task.Space, view strategy.View, settings Settings) averager {
	return averager{self: view.Self, own: *r.Own, present: r.Present, candidates: r.Candidates, t: r.Number, settings: settings}.asLiked(space, view)
}

// asLiked returns c with fits set from the view, if the weights are by similarity.
func (c averager) asLiked(space *task.Space, view strategy.View) averager {
	if c.settings.Weights == weightsSimilarity {
		c.fits = similarities(space, view, c.own.Point.Encoded(space), c.candidates)
	}
	return c
}

// weights returns the weight of each peer's candidate. The own candidate has the remaining weight,
// 1 minus their sum.
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

// row returns the agent's row of the weight matrix, over all present agents.
func (c averager) row() []float64 {
	self, _ := slices.BinarySearch(c.present, c.self)
	if c.settings.Weights != weightsLeader {
		return uniformRow(len(c.present), self, c.t, c.settings.Rounds)
	}
	leader, _ := slices.BinarySearch(c.present, c.leader())
	return leaderRow(len(c.present), self, leader, c.t, c.settings.Rounds)
}

// leader returns the agent with the best response among the own candidate and those of the peers.
// Among equal responses it returns the first agent by ID.
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

// average returns the average of all candidates by the settings, as a point of the encoded cube.
func (c averager) average(space *task.Space) []float64 {
	if c.settings.robust() {
		return c.robust(space)
	}
	return c.mean(space)
}

// mean returns the weighted mean of all candidates.
func (c averager) mean(space *task.Space) []float64 {
	sum := make([]float64, space.Dim())
	own, peers := c.encoded(space)
	rest := 1.0
	for i, weight := range c.weights() {
		add(sum, weight, peers[i])
		rest -= weight
	}
	add(sum, rest, own)
	return sum
}

// encoded returns the encoded candidates. A candidate in which a parameter is inactive has no vote on
// it: its coordinates are then the weighted mean of those of the others.
func (c averager) encoded(space *task.Space) (own []float64, peers [][]float64) {
	own = c.own.Point.Encoded(space)
	all, weights := [][]float64{own}, append([]float64{1}, c.weights()...)
	for i, voice := range c.candidates {
		all = append(all, voice.Candidate.Point.Encoded(space))
		weights[0] -= weights[i+1]
	}
	if !space.Conditional() {
		return own, all[1:]
	}
	active := make([][]bool, len(all))
	for i, x := range all {
		active[i] = make([]bool, space.Len())
		space.Active(active[i], x)
	}
	for k, block := range space.Blocks() {
		mean, total := make([]float64, block.Len), 0.0
		for i, x := range all {
			if active[i][k] {
				add(mean, weights[i], x[block.Start:block.Start+block.Len])
				total += weights[i]
			}
		}
		for i, x := range all {
			for j := range mean {
				if !active[i][k] && total > 0 {
					x[block.Start+j] = mean[j] / total
				}
			}
		}
	}
	return own, all[1:]
}

func add(sum []float64, weight float64, x []float64) {
	for i, v := range x {
		sum[i] += weight * v
	}
}
