package attack

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/task"
)

// Attack is a method to estimate a node's observations from its shares.
type Attack struct {
	Name  string   // a phrase for people, such as "inversion of all shares"
	Kinds []string // kinds of shares that it uses; it applies to tasks whose nodes send one of them
	Scene Scene    // how the attacker gets the shares

	// Applies, if not nil, reports whether the attack is useful on a task whose nodes send such
	// shares.
	Applies func(t *task.Task) bool

	// Several means that the attack reads shares of a task with several objectives, otherwise of one.
	Several bool

	// Most is the largest number of observations for which the attack is fast enough; 0 means any.
	Most int

	// Guess returns the estimated inputs and values. If it returns fewer guesses than there are
	// inputs, the scoring adds some, around the best guess or anywhere. The result depends only on
	// the arguments. The error is that of ctx, or one that ends the run.
	Guess func(ctx context.Context, seen *Seen, rng *rand.Rand) (Guess, error)
}

// Scene is the way in which an attacker receives shares.
type Scene string

// Scenes.
const (
	Listen   Scene = "listen"   // takes part like any other node
	Steer    Scene = "steer"    // controls all other nodes, whose shares lead the attacked node to chosen designs
	Restarts Scene = "restarts" // the node starts five times with the same data, each time without its journal
	Renamed  Scene = "renamed"  // the node runs five tasks that differ only in name, with the same data
	Collude  Scene = "collude"  // as many nodes as may collude subtract their contributions from sums
)

// Seen holds the data that an attacker has.
type Seen struct {
	Task         *task.Task
	Observations int          // number of observations of the node
	Disclosures  []Disclosure // more than one in the scenes Restarts and Renamed
	Deviation    float64      // standard deviation of the privacy noise on each weight; 0 means none
	Planted      [][]float64  // designs to which the attacker led the node, in order
}

// Disclosure holds the shares of a node between one start and the next.
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

// Guess is an attacker's estimate of the truth.
type Guess struct {
	X    [][]float64 // encoded designs, the most certain first
	Y    []float64   // value of each design in the objective's units, larger is better; nil means no guess
	Best []float64   // the best design; nil means the design with the largest Y, or without Y the estimated optimum
	Note string      // other findings, as a phrase; often empty

	own int // number of designs in X that the attack itself guesses, before others complete them; 0 means all
}

// Truth holds the data that the attacker wants to know.
type Truth struct {
	X                [][]float64
	Y                []float64   // larger is better
	EstimatedOptimum []float64   // the node's own estimate of the optimum; with several objectives the design with the best first one
	Front            [][]float64 // with several objectives, the designs of the Pareto front in the order of the first
	Noise            float64     // variance of the noise in the node's process, in standardised units
}

// Attacks returns all attacks.
func Attacks() []Attack {
	return slices.Concat(meanAttacks(), resultsAttacks(), sampleAttacks(), designAttacks(), coarseAttacks(), replayAttacks(), steerAttacks(), exactSumAttacks(), frontAttacks())
}

// decode decodes the payload of a share by its kind. value is nil for kinds without an attack.
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
	case protocol.ResultsKind:
		r, err := protocol.DecodeResults(payload, t.Space, t.Constraints)
		return r, r.Observations, err
	case protocol.CandidateKind:
		c, err := protocol.DecodeCandidate(payload, t.Space, candidateRounds)
		return c, t.Strategy.InitialDesigns + c.Round - 1, err
	}
	return nil, 0, nil
}

// candidateRounds is a limit on the rounds of a candidate that never applies; the exchange has
// checked them.
const candidateRounds = 1 << 30

// valuesOf returns the values of one type, in order.
func valuesOf[T any](disclosure Disclosure) (all []T) {
	for _, share := range disclosure.Shares {
		if value, ok := share.Value.(T); ok {
			all = append(all, value)
		}
	}
	return all
}

// until returns the part of s that was visible while the node had at most this number of
// observations.
func (s *Seen) until(observations int) *Seen {
	cut := &Seen{Task: s.Task, Observations: observations, Deviation: s.Deviation, Planted: s.Planted}
	for _, disclosure := range s.Disclosures {
		early := func(share Share) bool { return share.Observations > observations }
		cut.Disclosures = append(cut.Disclosures, Disclosure{disclosure.Task, slices.DeleteFunc(slices.Clone(disclosure.Shares), early)})
	}
	return cut
}
