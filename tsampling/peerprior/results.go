package peerprior

import (
	"context"
	"fmt"
	"math"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/exchange/results"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/internal/surrogate/gp"
	"github.com/fbo-node/fbo/internal/surrogate/multitask"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/alone"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

// ResultsStrategy is the strategy peer-prior on one task with share: results. Its model with peers is
// a multi-task Gaussian process of all results (package multitask), which learns how similar each peer
// is. Its model without peers is that of [alone.Engine]. It maximises the logarithm of
//
//	(1-B)·EI(x) + B·EI_p(x),
//
// where EI_p is the expected improvement under the model with peers and B its weight. B is the product
// of two numbers: the weight by which the models predicted own outcomes before their evaluations
// (Trial.PeerGain), and the largest probability that a peer is related. So a peer cannot raise the
// first by results that repeat those of this agent.
//
// ResultsStrategy is immutable.
type ResultsStrategy struct {
	alone  alone.Engine
	search search.Search
	task   *task.Task
	spec   gp.Spec
}

var (
	_ strategy.Strategy        = (*ResultsStrategy)(nil)
	_ strategy.Recommender     = (*ResultsStrategy)(nil)
	_ strategy.SharesFromStart = (*ResultsStrategy)(nil)
	_ strategy.PeerWeigher     = (*ResultsStrategy)(nil)
)

// NewResults returns the strategy of a task with share: results.
func NewResults(t *task.Task) *ResultsStrategy {
	return &ResultsStrategy{alone: alone.NewEngine(t), search: search.New(t), task: t, spec: surrogate.ProcessSpec(t)}
}

// peerResults holds the peers' results that one suggestion uses.
type peerResults struct {
	authors      []results.Peer // the peers with usable results
	data         []multitask.Data
	observations int // sum of the observations that these peers report
	most         int // largest number of observations of one peer
}

// results returns the usable results of peers: of at most maxResultPeers, drawn anew for each trial if
// there are more.
func (s *ResultsStrategy) results(view strategy.View, trial uint64, seed strategy.Seed) (r peerResults) {
	for _, peer := range search.AtMost(maxResultPeers, results.Of(view), seed.Stream("which results", trial)) {
		obs := peer.Objective()
		y, units, err := surrogate.Standardise(obs)
		if err != nil || units.Scale == 0 {
			continue // no outcome, or only equal ones
		}
		r.authors = append(r.authors, peer)
		r.data = append(r.data, multitask.Data{X: obs.X, Y: y})
		r.observations = strategy.AddObservations(r.observations, peer.Observations)
		r.most = max(r.most, len(obs.Y))
	}
	return r
}

// model returns the model with peers. It rests on outcomes, which stopped trials do not have. Its
// hyperparameters are learned from all results, unless the task fixes them.
func (s *ResultsStrategy) model(ctx context.Context, view strategy.View, r peerResults) (*multitask.Model, error) {
	data, err := exactly(s.task, view)
	if err != nil {
		return nil, err
	}
	data = data.measured()
	own, h := multitask.Data{X: data.x, Y: data.y}, hyperparametersOf(s.task, view)
	if s.task.Surrogate.Fixed == nil {
		// The stream selects observations; any fixed stream will do.
		fitted, err := multitask.Fit(ctx, s.spec, h, own, r.data, strategy.Seed{}.Stream("fit of all results", uint64(len(own.X))))
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil {
			h = fitted
		}
	}
	m, err := multitask.New(s.spec, h, own, r.data)
	if err != nil {
		return nil, fmt.Errorf("the process of all results: %w", err)
	}
	return m, nil
}

// Suggest implements strategy.Strategy. Without peers' results it suggests exactly the designs of
// [alone.Engine].
func (s *ResultsStrategy) Suggest(ctx context.Context, view strategy.View, trial uint64, seed strategy.Seed) (strategy.Suggestion, error) {
	r := s.results(view, trial, seed)
	if len(r.data) == 0 || s.search.Starting(view, trial) && r.most <= s.task.Strategy.InitialDesigns {
		return s.alone.Suggest(ctx, view, trial, seed)
	}
	m, err := s.model(ctx, view, r)
	if err != nil {
		return strategy.Suggestion{}, err
	}
	odds := peerOdds(view) * related(m)
	f, words, err := s.score(ctx, view, m, odds, trial, seed)
	if err != nil {
		return strategy.Suggestion{}, err
	}
	suggestion, err := s.search.Maximise(ctx, view, trial, seed, f, strategy.Why{
		Source:         Source,
		Phrase:         words + ", informed by " + sanitize.Count(len(r.data), "peer"),
		OwnProbability: new(1 - odds),
		PeerCount:      len(r.data),
		Observations:   r.observations,
	})
	if err == nil {
		suggestion.Forecast = s.forecast(view, m, odds, suggestion.Design)
	}
	return suggestion, err
}

// related returns the largest of the probabilities that a peer is related to the agent. If no peer is,
// the model with peers is one of own results that lacks the search for information of [alone.Engine].
func related(m *multitask.Model) (most float64) {
	for _, peer := range m.Peers {
		most = max(most, peer.Related)
	}
	return most
}

// score returns the function to maximise, and its description for people. Before the agent has a
// posterior it is the mean of the model with peers. As with other shares, some trials seek information
// instead of improvement: see [Strategy.improvement].
func (s *ResultsStrategy) score(ctx context.Context, view strategy.View, m *multitask.Model, odds float64, trial uint64, seed strategy.Seed) (acquisition.Function, string, error) {
	if view.Posterior == nil {
		return m.Function(acquisition.Mean(m.Posterior)), "best guess", nil
	}
	engine := s.alone.Improvement
	informs := (odds < 0.5 || search.LastFailed(view)) && s.alone.SeeksInformation(view, trial)
	if informs {
		engine = s.alone.Information
	}
	own, why, err := engine(ctx, view, trial, seed)
	reached, limits := s.search.WithLikelyPending(view, s.search.Feasible(view)), search.Limits(s.search.WithPending(view))
	if err != nil || informs || len(reached) == 0 || odds < minWeight {
		return own, why.Phrase, err
	}
	if m, err = m.WithPending(s.search.Pending(view)); err != nil {
		return nil, "", err
	}
	gain := m.Improvement(reached)
	if len(limits) > 0 {
		gain = acquisition.Sum(gain, acquisition.LogFeasibility(limits...))
	}
	// The improvement of the model with peers is in units of its size.
	return acquisition.LogAverage([]float64{1 - odds, odds * m.Size}, own, gain), why.Phrase, nil
}

// peerOdds returns the weight of the model with peers by its predictions. It is that of Fixed-share, as for the experts
// ([weigh]), in which only outcomes with a forecast count. A forecast's gain is that of the mixture of
// both models by the weight at that time, from which the ratio of the two densities follows.
func peerOdds(view strategy.View) float64 {
	odds, t := priorWeight, 0
	for i := range view.Trials {
		trial := &view.Trials[i]
		if trial.PeerGain == nil || trial.Why.OwnProbability == nil || trial.State != strategy.Done {
			continue
		}
		then := 1 - *trial.Why.OwnProbability
		if !(then > 0 && then <= 1) {
			continue
		}
		ratio := min(max((math.Exp(*trial.PeerGain)-1+then)/then, 1/maxEvidence), maxEvidence)
		t++
		dealt := switching(t)
		odds = (1-dealt)*odds*ratio/(odds*ratio+1-odds) + dealt*priorWeight
	}
	return odds
}

// forecast predicts the objective at a design with both models, and with the own posterior alone. It
// returns nil before the starting designs have outcomes, and while all outcomes are equal.
func (s *ResultsStrategy) forecast(view strategy.View, m *multitask.Model, odds float64, design task.Design) *strategy.Forecast {
	if view.Posterior == nil || view.Observations < s.task.Strategy.InitialDesigns {
		return nil
	}
	_, units, err := surrogate.Outputs(s.task, view.Observed(task.Objective))
	if err != nil || units.Scale == 0 {
		return nil
	}
	x := s.task.Space.Encode(design)
	own, with := strategy.Component{Weight: 1}, strategy.Component{Weight: odds}
	own.Mean, own.Variance = view.Posterior.Predict(x)
	own.Variance += view.Posterior.Hyperparameters().Noise
	with.Mean, with.Variance = m.Predict(x)
	with.Variance += m.Noise()
	mixed := own
	mixed.Weight = 1 - odds
	return &strategy.Forecast{With: []strategy.Component{with, mixed}, Without: []strategy.Component{own}, Units: units}
}

// UsesSharesFromStart implements strategy.SharesFromStart.
func (s *ResultsStrategy) UsesSharesFromStart() bool { return true }

// Recommend implements strategy.Recommender. If the model with peers has more than half of the weight,
// it maximises the lower confidence bound of that model. Otherwise it uses the agent's own posterior.
func (s *ResultsStrategy) Recommend(ctx context.Context, view strategy.View, seed strategy.Seed) task.Design {
	if r := s.results(view, 0, seed); view.Posterior != nil && len(r.data) > 0 && peerOdds(view) > 0.5 {
		if m, err := s.model(ctx, view, r); err == nil && peerOdds(view)*related(m) > 0.5 {
			return s.search.Top(ctx, view, seed, search.AmongFeasible(view, m.Function(acquisition.LCB(m.Posterior, 1))))
		}
	}
	return s.search.Recommend(ctx, view, seed)
}

// PeerWeights implements strategy.PeerWeigher. It returns the probability that each peer is similar.
func (s *ResultsStrategy) PeerWeights(view strategy.View) (all []strategy.PeerWeight, err error) {
	r := s.results(view, 0, strategy.Seed{})
	if len(r.data) == 0 {
		return nil, nil
	}
	m, err := s.model(context.Background(), view, r)
	if err != nil {
		return nil, err
	}
	for i, peer := range r.authors {
		all = append(all, strategy.PeerWeight{Peer: peer.Share.Author, Use: m.Peers[i].Related, Received: peer.Observations})
	}
	return all, nil
}

// discloseResults returns the disclosure in which a node shares its results.
func discloseResults() strategy.Disclosure {
	d := results.Disclosure()
	d.New = func(t *task.Task) (strategy.Strategy, error) { return NewResults(t), nil }
	d.Forecasts = forecasts
	return d
}
