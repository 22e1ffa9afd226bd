package ftsde

import (
	"context"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/rff"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/alone"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
	"github.com/fbo-node/fbo/tsampling/peerprior"
)

// Strategy chooses designs on a task of type fts-de. It is immutable.
type Strategy struct {
	task     *task.Task
	cells    Cells
	search   search.Search
	features *rff.Map
	alone    alone.TS
	experts  *peerprior.Strategy // nil with weights: schedule
	points   [][]float64         // designs at which the strength of sums is measured
	gains    []float64           // by cell, the variance of the function's values that noise of variance 1 on the weights causes
}

var (
	_ strategy.Strategy    = (*Strategy)(nil)
	_ strategy.Recommender = (*Strategy)(nil)
)

// source is the Source of designs that depend on a private sum.
const source strategy.Source = "sum"

// phrase returns the Phrase of a design that depends on a private sum of this number of nodes.
func phrase(words string, nodes int) string {
	return words + " the private sum of " + sanitize.Count(nodes, "node")
}

// measuringPoints is the number of designs for measuring the strength of a sum.
const measuringPoints = 400

// New returns the strategy of a task. features must be the shared features of the task.
func New(t *task.Task, features *rff.Map) (*Strategy, error) {
	s := &Strategy{
		task:     t,
		cells:    NewCells(t.Space, settingsOf(t).Cells),
		search:   search.New(t),
		features: features,
		alone:    alone.NewTS(t),
	}
	if settingsOf(t).Weights != weightsEvidence {
		return s, nil
	}
	rng := random.SeedOf(0).Stream("measuring points", 0)
	for range measuringPoints {
		s.points = append(s.points, acquisition.Sample(t.Space, rng))
	}
	s.gains = gains(s.cells, features, s.points)
	var err error
	s.experts, err = peerprior.NewFrom(t, features, s.statements)
	return s, err
}

// Suggest implements strategy.Strategy. With several cells, its starting designs lie in the node's
// cell. If there is no sum yet, it suggests the design of [alone.TS]. With weights: schedule it
// uses the newest sum with probability 1-p_t, and otherwise suggests the design of [alone.TS]. With
// weights: evidence it suggests the design of [peerprior.Strategy] with the sums as peer
// information.
func (s *Strategy) Suggest(ctx context.Context, view strategy.View, trial uint64, seed strategy.Seed) (strategy.Suggestion, error) {
	if s.search.Starting(view, trial) && s.cells.Len() > 1 {
		return s.explore(view, trial, seed)
	}
	sums := sumsOf(view)
	if len(sums) == 0 {
		return s.alone.Suggest(ctx, view, trial, seed)
	}
	if s.experts == nil {
		return s.published(ctx, view, trial, seed, sums[len(sums)-1])
	}
	suggestion, err := s.experts.Suggest(ctx, view, trial, seed)
	if why := &suggestion.Why; why.PeerCount > 0 {
		why.PeerCount = sums[len(sums)-1].Contributors
		if why.Source == peerprior.Source {
			why.Source, why.Phrase = source, phrase("informed by", why.PeerCount)
		}
	}
	return suggestion, err
}

// explore suggests a random design of the node's own cell.
func (s *Strategy) explore(view strategy.View, trial uint64, seed strategy.Seed) (strategy.Suggestion, error) {
	cell := cellOf(s.task.Privacy.Aggregate.Roster, view.Self, s.cells.Len())
	return s.search.StartWithin(view, trial, seed, func(x []float64) bool { return s.cells.Of(x) == cell })
}

// published suggests a design by the schedule of the paper: from the newest sum with probability
// 1-p_t, otherwise from the own posterior.
func (s *Strategy) published(ctx context.Context, view strategy.View, trial uint64, seed strategy.Seed, newest Sum) (strategy.Suggestion, error) {
	own := settingsOf(s.task).Schedule.Own(s.search.AfterStart(trial))
	if s.search.Starting(view, trial) {
		return s.alone.Suggest(ctx, view, trial, seed)
	}
	if seed.Stream("whose sample", trial).Float64() < own {
		suggestion, err := s.alone.Suggest(ctx, view, trial, seed)
		suggestion.Why.OwnProbability = &own
		return suggestion, err
	}
	return s.search.Maximise(ctx, view, trial, seed, s.patches(newest.Weights), strategy.Why{
		Source:         source,
		Phrase:         phrase("sample of", newest.Contributors),
		OwnProbability: &own,
		PeerCount:      newest.Contributors,
		Observations:   newest.Observations,
	})
}

// Recommend implements strategy.Recommender.
func (s *Strategy) Recommend(ctx context.Context, view strategy.View, seed strategy.Seed) task.Design {
	if s.experts != nil && len(sumsOf(view)) > 0 {
		return s.experts.Recommend(ctx, view, seed)
	}
	return s.search.Recommend(ctx, view, seed)
}

func sumsOf(view strategy.View) []Sum {
	result, _ := strategy.ResultOf[Result](view, protocol.AggregateKind)
	return result.Sums
}

func (s *Strategy) patches(weights [][]float64) acquisition.Function {
	return s.cells.Function(s.features, weights)
}
