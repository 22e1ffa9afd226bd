package attack

import (
	"math"
	"math/rand/v2"

	"github.com/fbo-node/fbo/internal/privacy/ledger"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
	"github.com/fbo-node/fbo/tsampling/ftsde"
)

// kindSum is the kind of the information in a sum about one node; no share has it.
const kindSum = "sum"

// promised is the deviation of the noise that a task promises to be on each weight of what an
// attacker learns of one node: with sums, what is left when all other vectors of the least sum,
// and the noise of as many contributors as may collude, are subtracted. 0 is no promise.
func promised(t *task.Task) (float64, error) {
	if t.Privacy == nil {
		return 0, nil
	}
	terms, err := ledger.NewTerms(t)
	if err != nil {
		return 0, err
	}
	if a := t.Privacy.Aggregate; a != nil {
		return terms.Sigma * math.Sqrt(float64(a.MinContributors-a.MaxColluding)), nil
	}
	return terms.Sigma, nil
}

// sums holds what an attacker that knows all vectors but one node's learns about that vector from
// private sums. The sums are not simulated: the node evaluates as it would alone, and from each sum
// that it contributes to the attacker gets its vector with the noise that cannot be subtracted.
type sums struct {
	task   *task.Task // for which the node evaluates
	terms  ledger.Terms
	noise  float64
	first  int // observations until the first
	every  int
	normal *rand.Rand
}

func newSums(t *task.Task, normal *rand.Rand) (*sums, error) {
	terms, err := ledger.NewTerms(t)
	if err != nil {
		return nil, err
	}
	noise, err := promised(t)
	if err != nil {
		return nil, err
	}
	alone := *t
	alone.Strategy = task.Strategy{Type: "ts", InitialDesigns: t.Strategy.InitialDesigns}
	alone.Privacy = nil
	settings := t.Strategy.Settings.(ftsde.Settings)
	return &sums{&alone, terms, noise, t.Strategy.InitialDesigns, settings.ShareEvery, normal}, nil
}

// tell adds the information in a sum about a node with this view, if a sum is due.
func (s *sums) tell(disclosure *Disclosure, view strategy.View) {
	since := view.Observations - s.first
	if since < 0 || since%s.every != 0 || since/s.every >= s.terms.Releases || view.Posterior == nil {
		return
	}
	_, weights := view.Posterior.Mean()
	if norm := math.Sqrt(squared(weights)); norm > s.terms.Clip {
		for i := range weights {
			weights[i] *= s.terms.Clip / norm
		}
	}
	for i := range weights {
		weights[i] += s.noise * s.normal.NormFloat64()
	}
	disclosure.Shares = append(disclosure.Shares, Share{Kind: kindSum, Observations: view.Observations,
		Value: protocol.Weights{Observations: view.Observations, Values: weights}})
}
