package attack

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/task"
)

// Attack is a way of reading shares.
type Attack struct {
	Name  string   // a phrase for people, such as "inversion of all shares"
	Kinds []string // of shares that it reads; it is for tasks whose nodes send one of them
	Scene Scene    // what the attacker does to hear them

	// Applies, when not nil, reports whether the attack is useful on a task whose nodes send such
	// shares.
	Applies func(t *task.Task) bool

	// Most is the number of observations beyond which it would take too long; 0: none.
	Most int

	// Guess returns what the attacker takes the inputs and values for. Fewer than there are
	// get others beside them, around the best of them or anywhere. It depends on its arguments alone. Its error is that
	// of ctx, or one that ends the run.
	Guess func(ctx context.Context, seen *Seen, rng *rand.Rand) (Guess, error)
}

// Scene is a way in which an attacker receives shares.
type Scene string

// Scenes.
const (
	Listen   Scene = "listen"   // takes part as any other node does
	Steer    Scene = "steer"    // all other nodes are the attacker's, and share what leads the node
	Restarts Scene = "restarts" // the node starts five times anew with the same data, each time without its journal
	Renamed  Scene = "renamed"  // the node runs five tasks that differ in name, with the same data
)

// Seen is what an attacker knows.
type Seen struct {
	Task         *task.Task
	Observations int          // that the node has
	Disclosures  []Disclosure // more than one after restarts and with other names
	Deviation    float64      // of the noise that a promise of privacy puts on each weight; 0: none is promised
	Planted      [][]float64  // where the attacker has wanted the node to evaluate, in order
}

// Disclosure is what a node has shared in one life.
type Disclosure struct {
	Task   *task.Task
	Shares []Share // in order
}

// Share is one share of the node.
type Share struct {
	Kind         string
	Observations int // number of observations that the share states
	Payload      []byte
	Value        any // decoded: a type of package protocol
}

// Guess is what an attacker takes the truth for.
type Guess struct {
	X    [][]float64 // encoded designs, most certain first
	Y    []float64   // of each, in the objective's units with larger being better; nil: no guess
	Best []float64   // the best of the designs; nil: the one of largest Y, or without the believed optimum
	Note string      // what else was seen, a phrase; often empty
}

// Truth is what the attacker would know.
type Truth struct {
	X                [][]float64
	Y                []float64 // larger is better
	EstimatedOptimum []float64 // where the node believes the optimum to be
	Noise            float64   // variance of its process's noise, in standardised units
}

// Attacks lists all.
func Attacks() []Attack {
	return slices.Concat(meanAttacks(), sampleAttacks(), designAttacks(), coarseAttacks(), replayAttacks(), steerAttacks())
}

// decode returns the payload of a share by its kind; nil for kinds without an attack.
func decode(t *task.Task, kind string, payload []byte) (value any, observations int, err error) {
	switch kind {
	case protocol.MeanKind:
		m, err := protocol.DecodeMean(payload, t.Surrogate.Features, t.Space.Len())
		return m, m.Observations, err
	case protocol.WeightsKind:
		w, err := protocol.DecodeWeights(payload, t.Surrogate.Features)
		return w, w.Observations, err
	case protocol.DensityKind:
		d, err := protocol.DecodeDensity(payload, t.Space)
		return d, d.Observations, err
	case protocol.NearOptimalKind:
		n, err := protocol.DecodeNearOptimal(payload, t.Space)
		return n, n.Observations, err
	case protocol.FeasibilityKind:
		f, err := protocol.DecodeFeasibility(payload, t.Space)
		return f, f.Observations, err
	case protocol.CandidateKind:
		c, err := protocol.DecodeCandidate(payload, t.Space, candidateRounds)
		return c, t.Strategy.InitialDesigns + c.Round - 1, err
	}
	return nil, 0, nil
}

// candidateRounds bounds the rounds of a candidate, which the exchange has checked.
const candidateRounds = 1 << 30

// valuesOf lists the values of one type, in order.
func valuesOf[T any](disclosure Disclosure) (all []T) {
	for _, share := range disclosure.Shares {
		if value, ok := share.Value.(T); ok {
			all = append(all, value)
		}
	}
	return all
}

// until returns the part that was seen when the node had at most this number of observations.
func (s *Seen) until(observations int) *Seen {
	cut := &Seen{Task: s.Task, Observations: observations, Deviation: s.Deviation, Planted: s.Planted}
	for _, disclosure := range s.Disclosures {
		early := func(share Share) bool { return share.Observations > observations }
		cut.Disclosures = append(cut.Disclosures, Disclosure{disclosure.Task, slices.DeleteFunc(slices.Clone(disclosure.Shares), early)})
	}
	return cut
}
