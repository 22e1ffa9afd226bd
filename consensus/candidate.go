package consensus

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// candidateTTL is how long a candidate may be used. Its author must be present
// too, so that this only has to exceed a deadline and an evaluation: who is in
// step is known by the candidate of the round before.
const candidateTTL = 7 * 24 * time.Hour

// deadlineOf is how long after its own candidate an agent waits for those of others.
func deadlineOf(settings Settings) time.Duration {
	return time.Duration(settings.RoundTimeout) * time.Second
}

// candidateExchange is what both exchanges do: make, publish and understand candidates.
type candidateExchange struct {
	task     *task.Task
	settings Settings
	own      strategy.Strategy // of an agent alone
}

func newCandidateExchange(t *task.Task) (candidateExchange, error) {
	own, err := ownStrategy(t)
	return candidateExchange{task: t, settings: settingsOf(t), own: own}, err
}

// Name implements strategy.Exchange.
func (t candidateExchange) Name() string { return protocol.CandidateKind }

// decode understands a candidate, which has a response exactly where the task
// exchanges it.
func (t candidateExchange) decode(payload []byte) (protocol.Candidate, error) {
	c, err := protocol.DecodeCandidate(payload, t.task.Space, t.settings.Rounds)
	if err != nil {
		return protocol.Candidate{}, err
	}
	if exchanged := t.settings.Response != ""; exchanged != (c.Response != nil) {
		return protocol.Candidate{}, fmt.Errorf("%w: a candidate whose response is given: %v, the task wants: %v", protocol.ErrMalformed, !exchanged, exchanged)
	}
	return c, nil
}

// round is the one that the agent's next trial belongs to; 0 while it still
// tries starting designs, knows nothing yet, or has no rounds left.
func (t candidateExchange) round(view strategy.View) int {
	next := len(view.Trials) + 1 - t.task.Strategy.InitialDesigns
	if view.Observations == 0 || next < 1 || next > t.settings.Rounds {
		return 0
	}
	return next
}

// work computes the candidate of a round.
func (t candidateExchange) work(round int) strategy.Work {
	return strategy.Work{Name: "candidate", Run: func(ctx context.Context, view strategy.View, seed strategy.Seed) (any, error) {
		view = view.WithoutPending() // a candidate is published
		trial := uint64(round + t.task.Strategy.InitialDesigns)
		suggestion, err := t.own.Suggest(ctx, view, trial, seed)
		if err != nil {
			return nil, err
		}
		return protocol.Candidate{
			Round:        round,
			Point:        protocol.PointOf(t.task.Space, suggestion.Design),
			Response:     t.response(view, seed.Stream("response", trial)),
			VisiblePeers: len(presence.Of(view).Present) - 1,
		}, nil
	}}
}

// response is the best one so far, larger being better, as the task has it
// exchanged; without a trial that may be feasible, the worst that a share may hold. A
// sum of it and noise beyond what a share may hold becomes that.
func (t candidateExchange) response(view strategy.View, rng *rand.Rand) *float64 {
	if t.settings.Response == "" {
		return nil
	}
	best := math.Inf(-1)
	if trial := strategy.Best(t.task, view.Trials); trial != nil {
		best = t.task.Goal.Sign() * trial.Outcome.Value
	}
	if t.settings.Response == responseNoisy {
		best += t.settings.ResponseNoise * rng.NormFloat64()
	}
	best = min(max(best, -protocol.MaxUnit), protocol.MaxUnit)
	return &best
}

func (t candidateExchange) publish(c protocol.Candidate, slot uint64) []strategy.Output {
	payload, err := c.Encode(t.task.Space, t.settings.Rounds)
	if err != nil {
		return nil // a design of the space always encodes
	}
	return []strategy.Output{strategy.Publish{Slot: slot, Payload: payload, TTL: candidateTTL}}
}
