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

// kindSum is the kind of the data about one node that a sum discloses. No share has this kind.
const kindSum = "sum"

// promised returns the standard deviation of the privacy noise on each weight that an attacker
// learns about one node. With sums it is the noise that remains in the smallest sum if all other
// vectors are subtracted, and the noise of as many contributors as may collude. 0 means that the
// task promises no noise.
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

// sums computes what private sums disclose about one node's vector to an attacker that knows all
// other vectors. It does not simulate the sums: the node evaluates without peers. For each sum to
// which the node contributes, the attacker gets its vector with the noise that cannot be
// subtracted.
type sums struct {
	task   *task.Task // task for which the node evaluates
	terms  ledger.Terms
	noise  float64
	first  int // number of observations before the first sum
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

// tell adds the data that a sum discloses about a node with this view, if a sum is due.
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
