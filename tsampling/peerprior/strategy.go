package peerprior

import (
	"cmp"
	"context"
	"slices"

	"github.com/ipfs/go-cid"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/optprior"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/internal/surrogate/gp"
	"github.com/fbo-node/fbo/rff"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/alone"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

// Strategy is the strategy peer-prior on one task. It is immutable.
type Strategy struct {
	alone      alone.Engine
	search     search.Search
	task       *task.Task
	spec       gp.Spec
	features   *rff.Map
	id         cid.Cid     // of the task
	references *references // cache; strategies of several tasks may share it
	layout     *optprior.Layout
	inputOf    inputMode
	ofPeers    bool // the input comes from peers' shares
}

var (
	_ strategy.Strategy        = (*Strategy)(nil)
	_ strategy.Recommender     = (*Strategy)(nil)
	_ strategy.SharesFromStart = (*Strategy)(nil)
)

// Source is the source of designs that depend on peers' shares.
const Source strategy.Source = "peers"

// New returns the strategy of a task with exact shares. features must be the shared features of the
// task, which are the same for all agents.
func New(t *task.Task, features *rff.Map) (*Strategy, error) {
	return newStrategy(t, features, fromMeans, true)
}

// NewCoarse returns the strategy of a task with coarse shares. features need not be equal to those
// of other agents.
func NewCoarse(t *task.Task, features *rff.Map) (*Strategy, error) {
	return newStrategy(t, features, fromDensities, true)
}

func newStrategy(t *task.Task, features *rff.Map, inputOf inputMode, ofPeers bool) (*Strategy, error) {
	s := &Strategy{
		alone:    alone.NewEngine(t),
		search:   search.New(t),
		task:     t,
		spec:     surrogate.ProcessSpec(t),
		features: features,
		layout:   optprior.NewLayout(t.Space),
		inputOf:  inputOf,
		ofPeers:  ofPeers,

		id:         t.ID(),
		references: newReferences(),
	}
	return s, nil
}

// reference returns the reference of the task. It computes it if the cache does not have it.
func (s *Strategy) reference() *reference {
	return s.references.of(s.id, func() *reference { return newReference(s.task.Space, s.features) })
}

// Suggest implements strategy.Strategy. Without peers' shares it suggests
// exactly the designs of [alone.Engine].
func (s *Strategy) Suggest(ctx context.Context, view strategy.View, trial uint64, seed strategy.Seed) (strategy.Suggestion, error) {
	o, err := s.mixtureOf(view, trial, seed)
	if err != nil {
		return strategy.Suggestion{}, err
	}
	if o.peers == 0 || s.search.Starting(view, trial) && o.most <= s.task.Strategy.InitialDesigns {
		return s.alone.Suggest(ctx, view, trial, seed)
	}
	if err := ctx.Err(); err != nil {
		return strategy.Suggestion{}, err
	}
	f, words, err := s.score(ctx, view, o, trial, seed)
	if err != nil {
		return strategy.Suggestion{}, err
	}
	suggestion, err := s.search.Maximise(ctx, view, trial, seed, f, strategy.Why{
		Source:         Source,
		Phrase:         words + ", informed by " + sanitize.Count(o.peers, "peer"),
		OwnProbability: new(1 - o.peerOdds),
		PeerCount:      o.peers,
		Observations:   o.observations,
	})
	if err == nil {
		suggestion.Forecast = s.forecast(view, o, suggestion.Design)
	}
	return suggestion, err
}

// score returns the function to maximise, and its description for people. The function is the
// logarithm of the expected improvement, plus a term that attracts designs to the optima that peers
// estimate. Before the agent has a posterior, the function is that term alone. If peers share no
// estimated optima either, it is the mean m of the consensus.
func (s *Strategy) score(ctx context.Context, view strategy.View, o *mixture, trial uint64, seed strategy.Seed) (acquisition.Function, string, error) {
	near := s.attraction(view, o)
	if view.Posterior == nil {
		if near == nil {
			near = o.around.function(1)
		}
		return near, "best guess", nil
	}
	f, words, err := s.improvement(ctx, view, o, trial, seed)
	if err == nil && near != nil {
		f = acquisition.Sum(f, near)
	}
	return f, words, err
}

// attraction returns the term that attracts designs to peers' estimated optima. It grows with the
// weight of the experts with peers, and shrinks with the number of own feasible trials. It is nil
// if peers share no estimates.
func (s *Strategy) attraction(view strategy.View, o *mixture) acquisition.Function {
	if len(o.densityPeers) == 0 {
		return nil
	}
	return optprior.LogPrior(o.densityPeers, trust*o.peerOdds, exponent/float64(max(s.search.CountFeasible(view), 1)))
}

// improvement returns the logarithm of the expected improvement, averaged over the experts.
// [alone.Engine] takes the place of the experts without peers.
//
// In some trials the engine uses entropy search instead of improvement. improvement then does so
// too in two cases: the experts with peers have less than half of the weight, or the newest ended
// trial failed. A failure gives no observation of the objective, so expected improvement would
// choose a similar design again.
func (s *Strategy) improvement(ctx context.Context, view strategy.View, o *mixture, trial uint64, seed strategy.Seed) (acquisition.Function, string, error) {
	engine := s.alone.Improvement
	informs := (o.peerOdds < 0.5 || search.LastFailed(view)) && s.alone.SeeksInformation(view, trial)
	if informs {
		engine = s.alone.Information
	}
	own, why, err := engine(ctx, view, trial, seed)
	reached, limits := s.search.WithLikelyPending(view, s.search.Feasible(view)), search.Limits(s.search.WithPending(view))
	if err != nil || informs || len(reached) == 0 {
		return own, why.Phrase, err
	}
	var experts []*expertPosterior
	pending := s.search.Pending(view)
	for _, e := range o.experts {
		if e.weight < minWeight {
			continue
		}
		b, err := e.posterior(o.data)
		if err == nil {
			b, err = b.withPending(pending)
		}
		if err != nil {
			return nil, "", err
		}
		experts = append(experts, b)
	}
	if len(experts) == 0 {
		return own, why.Phrase, nil
	}
	var gain acquisition.Function = newExpertGain(experts, reached)
	if len(limits) > 0 {
		gain = acquisition.Sum(gain, acquisition.LogFeasibility(limits...))
	}
	// The weights of the experts are part of their gain.
	return acquisition.LogAverage([]float64{1 - o.peerOdds, 1}, own, gain), why.Phrase, nil
}

// UsesSharesFromStart implements strategy.SharesFromStart. It returns false if the input is
// statements instead of peers' shares.
func (s *Strategy) UsesSharesFromStart() bool { return s.ofPeers }

// Recommend implements strategy.Recommender. If the experts with peers have more than half of the
// weight, it maximises the lower confidence bound of the expert with the largest weight among them.
// Otherwise it uses the agent's own posterior.
func (s *Strategy) Recommend(ctx context.Context, view strategy.View, seed strategy.Seed) task.Design {
	if view.Posterior != nil {
		if o, err := s.mixtureOf(view, 0, seed); err == nil && o.peerOdds > 0.5 {
			if b, err := o.best().posterior(o.data); err == nil {
				return s.search.Top(ctx, view, seed, search.LowerBound(view, b))
			}
		}
	}
	return s.search.Recommend(ctx, view, seed)
}

// mixture is the mixture of experts that models an agent's observations and its peer information.
type mixture struct {
	peerInput
	data     *data
	around   *consensus
	experts  []*expert // experts that use peer information
	alone    []*expert // experts without peer information
	peerOdds float64   // total weight of the experts that use peer information
}

// best returns the expert with the largest weight among those that use peer information.
func (o *mixture) best() *expert {
	return slices.MaxFunc(o.experts, func(a, b *expert) int { return cmp.Compare(a.weight, b.weight) })
}

// mixtureOf returns the mixture of an agent. It has no experts if there is no peer information.
func (s *Strategy) mixtureOf(view strategy.View, trial uint64, seed strategy.Seed) (*mixture, error) {
	own, err := exactly(s.task, view)
	if err != nil {
		return nil, err
	}
	o := &mixture{peerInput: s.inputOf(s, view, trial, seed, own.x)}
	if o.peers == 0 {
		return o, nil
	}
	o.data = newData(s.spec, s.hyperparameters(view), own)
	weighPeers(o.signals, o.data)
	o.around = s.poolPeers(o.data, o.signals)
	o.experts = experts(1-aloneOdds, o.around, o.around.atOwn, o.around.deviations)
	o.alone = experts(aloneOdds, nil, nil, nil)
	weigh(slices.Concat(o.experts, o.alone), o.data)
	o.peerOdds = weight(o.experts)
	return o, nil
}

// ownData holds the agent's own standardised observations, as its model uses them.
type ownData struct {
	x     [][]float64
	y     []float64
	extra []float64 // variance of each output besides the noise; nil if all are measured
	units surrogate.Units
}

func observations(t *task.Task, view strategy.View) (o ownData, err error) {
	obs := view.Observed(task.Objective)
	if o.x = obs.X; len(obs.Y) > 0 {
		o.y, o.units, err = surrogate.Outputs(t, obs)
		o.extra = o.units.Variances(obs)
	}
	return o, err
}

// some returns the observations with these indices.
func (o ownData) some(indices []int) ownData {
	chosen := ownData{units: o.units}
	for _, i := range indices {
		chosen.x, chosen.y = append(chosen.x, o.x[i]), append(chosen.y, o.y[i])
		if o.extra != nil {
			chosen.extra = append(chosen.extra, o.extra[i])
		}
	}
	return chosen
}

// measured returns the observations that are measured, without those that are predicted.
func (o ownData) measured() ownData {
	if o.extra == nil {
		return o
	}
	var indices []int
	for i, variance := range o.extra {
		if variance == 0 {
			indices = append(indices, i)
		}
	}
	return o.some(indices)
}

// newest returns the newest observations, at most most.
func (o ownData) newest(most int) ownData {
	older := max(len(o.x)-most, 0)
	o.x, o.y = o.x[older:], o.y[older:]
	if o.extra != nil {
		o.extra = o.extra[older:]
	}
	return o
}

// exactly returns the observations that an exact process learns from. A random-feature model may
// learn from more (strategy.View.ExactlyModelled).
func exactly(t *task.Task, view strategy.View) (ownData, error) {
	o, err := observations(t, view)
	exact := view.ExactlyModelled()
	if err != nil || len(exact) == len(o.x) {
		return o, err
	}
	var indices []int
	for at, i := range view.Modelled(task.Objective) {
		if _, ok := slices.BinarySearch(exact, i); ok {
			indices = append(indices, at)
		}
	}
	return o.some(indices), nil
}

// hyperparameters returns the hyperparameters of the agent's posterior. Before there is a posterior
// it returns the task's lengthscales and initialNoise.
func (s *Strategy) hyperparameters(view strategy.View) gp.Hyperparameters {
	return hyperparametersOf(s.task, view)
}

func hyperparametersOf(t *task.Task, view strategy.View) gp.Hyperparameters {
	h := gp.Hyperparameters{Noise: initialNoise}
	if view.Posterior != nil {
		h = view.Posterior.Hyperparameters().Process()
	}
	if len(h.Lengthscales) == 0 {
		h.Lengthscales = surrogate.InitialLengthscales(t)
	}
	return h
}
