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

// candidateTTL is the lifetime of a candidate. Its author must be present too for the candidate to
// be used. The lifetime must only exceed a deadline and an evaluation, since the candidate of the
// previous round shows whether its author is in step.
const candidateTTL = 7 * 24 * time.Hour

// deadlineOf returns the time for which an agent waits for peers' candidates after it has published
// its own.
func deadlineOf(settings Settings) time.Duration {
	return time.Duration(settings.RoundTimeout) * time.Second
}

// candidateExchange is the common part of both exchanges: it computes, publishes and decodes
// candidates.
type candidateExchange struct {
	task     *task.Task
	settings Settings
	own      strategy.Strategy // chooses the candidate, as an agent without peers would
}

func newCandidateExchange(t *task.Task) (candidateExchange, error) {
	own, err := ownStrategy(t)
	return candidateExchange{task: t, settings: settingsOf(t), own: own}, err
}

// Name implements strategy.Exchange.
func (t candidateExchange) Name() string { return protocol.CandidateKind }

// decode returns a candidate. It must have a response if and only if the task exchanges responses.
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

// round returns the number of the round to which the agent's next trial belongs. It returns 0 for a
// starting design, before the first observation, and after the last round.
func (t candidateExchange) round(view strategy.View) int {
	next := len(view.Trials) + 1 - t.task.Strategy.InitialDesigns
	if view.Observations == 0 || next < 1 || next > t.settings.Rounds {
		return 0
	}
	return next
}

// work returns the computation of the candidate of a round.
func (t candidateExchange) work(round int) strategy.Work {
	return strategy.Work{Name: "candidate", Run: func(ctx context.Context, view strategy.View, seed strategy.Seed) (any, error) {
		view = view.WithoutPending() // peers receive the candidate, which must not disclose pending designs
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

// response returns the best value of the objective so far, negated if the goal is minimize, in the
// form that the task exchanges: exact or with noise. It returns nil if the task exchanges none.
// Without a feasible trial it is the worst value that a share may hold. Values beyond the limits of
// a share are moved to the limit.
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
