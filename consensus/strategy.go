package consensus

import (
	"context"
	"fmt"
	"time"

	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/alone"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

// source is the Source of designs that are averages of candidates.
const source strategy.Source = "consensus"

// Strategy chooses the weighted average of the agent's own candidate and those of its peers.
// Without candidates of peers it chooses the designs of the acquisition function, its own
// candidates.
type Strategy struct {
	task     *task.Task
	settings Settings
	search   search.Search
	own      strategy.Strategy
}

var _ strategy.Strategy = Strategy{}

// New returns the strategy for a task of type consensus.
func New(t *task.Task) (Strategy, error) {
	own, err := ownStrategy(t)
	return Strategy{task: t, settings: settingsOf(t), search: search.New(t).WithoutCentre(), own: own}, err
}

// NewExchange returns the exchange of one agent for a task of type consensus.
func NewExchange(t *task.Task) (strategy.Exchange, error) {
	if settingsOf(t).Mode == modeRounds {
		return newRounds(t)
	}
	return newLatest(t)
}

// ownStrategy returns the strategy of an agent without peers.
func ownStrategy(t *task.Task) (strategy.Strategy, error) {
	switch name := settingsOf(t).Acquisition; name {
	case acquisitionLogEI:
		return alone.NewLogEI(t), nil
	case acquisitionUCB:
		return alone.NewUCB(t), nil
	case acquisitionTS:
		return alone.NewTS(t), nil
	default:
		return nil, fmt.Errorf("acquisition %q is unknown to this version", name)
	}
}

// Suggest implements strategy.Strategy.
func (s Strategy) Suggest(ctx context.Context, view strategy.View, trial uint64, seed strategy.Seed) (strategy.Suggestion, error) {
	if s.search.Starting(view, trial) {
		return s.search.Start(view, trial, seed)
	}
	if s.search.AfterStart(trial) > uint64(s.settings.Rounds) {
		return s.own.Suggest(ctx, view, trial, seed)
	}
	if s.settings.Mode == modeRounds {
		return s.inRound(ctx, view, trial, seed)
	}
	return s.withLatest(ctx, view, trial, seed)
}

// preparing is the maximum time for the computation of the own candidate, before the deadline
// starts. An agent that needs longer has failed, and the strategy stops waiting.
const preparing = time.Hour

// inRound waits until the round has closed and then chooses the average. With several evaluators,
// several trials may belong to one round. The first of them takes the average, and the others are
// chosen without peers.
func (s Strategy) inRound(ctx context.Context, view strategy.View, trial uint64, seed strategy.Seed) (strategy.Suggestion, error) {
	round, _ := strategy.ResultOf[Round](view, protocol.CandidateKind)
	if round.Open && view.Waited == "" {
		return strategy.Suggestion{Wait: strategy.Wait{Exchange: protocol.CandidateKind, For: deadlineOf(s.settings) + preparing}}, nil
	}
	if round.Open || round.Own == nil || len(round.Candidates) == 0 {
		return s.own.Suggest(ctx, view, trial, seed)
	}
	design := s.task.Space.Decode(round.averager(s.task.Space, view, s.settings).average(s.task.Space))
	if s.search.Tried(view, design) {
		return s.own.Suggest(ctx, view, trial, seed)
	}
	return strategy.Suggestion{Design: design, Why: strategy.Why{
		Source:    source,
		Phrase:    fmt.Sprintf("%s with the candidates of %s in round %d", s.settings.average(), sanitize.Count(len(round.Candidates), "peer"), round.Number),
		PeerCount: len(round.Candidates),
		Round:     round.Number,
	}}, nil
}

func (s Strategy) withLatest(ctx context.Context, view strategy.View, trial uint64, seed strategy.Seed) (strategy.Suggestion, error) {
	own, err := s.own.Suggest(ctx, view, trial, seed)
	present := presence.Of(view)
	round := int(s.search.AfterStart(trial))
	candidates := latestCandidates(view, present.Has, round)
	if err != nil || len(candidates) == 0 {
		return own, err
	}
	c := averager{
		self:       view.Self,
		own:        protocol.Candidate{Round: round, Point: protocol.PointOf(s.task.Space, own.Design), VisiblePeers: len(present.Present) - 1},
		present:    present.Present,
		candidates: candidates,
		t:          round,
		settings:   s.settings,
	}.asLiked(s.task.Space, view)
	design := s.task.Space.Decode(c.average(s.task.Space))
	if s.search.Tried(view, design) {
		return own, nil
	}
	return strategy.Suggestion{Design: design, Why: strategy.Why{
		Source:    source,
		Phrase:    s.settings.average() + " with the latest candidates of " + sanitize.Count(len(candidates), "peer"),
		PeerCount: len(candidates),
	}}, nil
}
