package fair

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/alone"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

// source is the source of designs that a batch assigns to this node.
const source strategy.Source = "assigned"

const (
	// choosing is the maximum time, after a round's deadline, for the choice and check of its batch.
	choosing = 10 * time.Minute
	// missing is the maximum time that a node waits for an absent mediator.
	missing = 30 * time.Second
)

// Strategy chooses the design that the batch of each round assigns to this node. Its starting
// designs are random. If no batch arrives, it maximises the expected improvement under the node's
// own posterior.
type Strategy struct {
	task     *task.Task
	settings Settings
	search   search.Search
	own      alone.LogEI
}

var _ strategy.Strategy = Strategy{}

// New returns the strategy for a task of type fair.
func New(t *task.Task) Strategy {
	return Strategy{task: t, settings: settingsOf(t), search: search.New(t).WithoutCentre(), own: alone.NewLogEI(t)}
}

// Suggest implements strategy.Strategy.
func (s Strategy) Suggest(ctx context.Context, view strategy.View, trial uint64, seed strategy.Seed) (strategy.Suggestion, error) {
	if s.search.Starting(view, trial) {
		return s.search.Start(view, trial, seed)
	}
	round, _ := strategy.ResultOf[Round](view, protocol.FairKind)
	if !round.Design.IsZero() && !taken(view, round.Of) {
		phrase := fmt.Sprintf("of the batch of round %d, for %s", round.Of, parties(round.Parties))
		if late := round.Roster - round.Parties; late > 0 {
			phrase += fmt.Sprintf(", %d without a design", late)
		}
		return strategy.Suggestion{Design: round.Design, Why: strategy.Why{
			Source: source, Phrase: phrase, Round: round.Of, PeerCount: round.Parties - 1,
		}}, nil
	}
	if view.Waited == "" {
		return strategy.Suggestion{Wait: strategy.Wait{Exchange: protocol.FairKind, For: s.patience(round)}}, nil
	}
	suggestion, err := s.alone(ctx, view, trial, seed)
	if suggestion.Why.Phrase != "" {
		suggestion.Why.Phrase += ", alone, since no batch came"
		if round.Alone {
			suggestion.Why.Phrase += ": the mediator is not there"
		}
	}
	return suggestion, err
}

// alone chooses a design from this node's own results, within the moves that the task allows.
func (s Strategy) alone(ctx context.Context, view strategy.View, trial uint64, seed strategy.Seed) (strategy.Suggestion, error) {
	if s.task.MaxMoves == 0 {
		return s.own.Suggest(ctx, view, trial, seed)
	}
	var visits []visit
	for _, trial := range view.Trials {
		i, ok := s.task.Space.Listing().Index(trial.Design)
		if !ok {
			continue
		}
		v := visit{design: i}
		if trial.State == strategy.Done {
			value := s.task.Goal.Sign() * trial.Outcome.Value
			v.value = &value
		}
		visits = append(visits, v)
	}
	f, why := s.own.Score(view)
	points := encodings(s.task.Space, moves(s.task, visits))
	best, most := points[0], math.Inf(-1)
	for _, x := range points {
		if value := f.Value(x); value > most {
			best, most = x, value
		}
	}
	return strategy.Suggestion{Design: s.task.Space.Decode(best), Why: why}, nil
}

func (s Strategy) patience(round Round) time.Duration {
	if round.Alone {
		return missing
	}
	return 2*time.Duration(s.settings.RoundTimeout)*time.Second + choosing
}

// taken reports whether the design of a round has a trial.
func taken(view strategy.View, round int) bool {
	for _, trial := range view.Trials {
		if trial.Why.Source == source && trial.Why.Round == round {
			return true
		}
	}
	return false
}
