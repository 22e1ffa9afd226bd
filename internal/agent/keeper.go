package agent

import (
	"errors"
	"time"

	"github.com/fbo-node/fbo/internal/recoverpanic"
	"github.com/fbo-node/fbo/strategy"
)

// ErrKeeping is the error of an Ask to a keeper.
var ErrKeeping = errors.New("this node evaluates nothing more on the task: it only keeps and passes on shares")

// Keep makes the agent a keeper for the rest of this run. It returns running trials and announces
// to peers that the agent leaves. From then on the agent receives, stores and forwards shares, and
// its exchanges publish nothing. Config.Keep does the same from the start.
func (a *Agent) Keep(now time.Time) {
	if a.keeping {
		return
	}
	a.Stop(now)
	a.keeping = true
	a.exchanges.quiet()
	a.pump(now)
}

// Settled reports whether the models include all outcomes, and all shares that follow from them are
// computed and published.
func (a *Agent) Settled() bool {
	return a.keeping || a.caughtUp() && a.exchanges.working == 0 && len(a.exchanges.queue) == 0
}

// Release ends the delay of Config.Hold: the strategy chooses the first design with the shares that
// have arrived.
func (a *Agent) Release(now time.Time) {
	if !a.held {
		return
	}
	if a.Held() {
		authors, _ := a.Knowledge(now)
		a.event(Event{Type: WaitEnded, Seconds: now.Sub(a.born).Seconds(), Authors: authors})
	}
	a.held = false
	a.pump(now)
}

// follows reports whether the first design of a strategy can use peers' shares.
func follows(s strategy.Strategy) bool {
	f, ok := s.(strategy.SharesFromStart)
	if !ok {
		return false
	}
	yes, err := recoverpanic.Call("the strategy", func() (bool, error) { return f.UsesSharesFromStart(), nil })
	return yes && err == nil
}

// Held reports whether designs are delayed until Release. An outcome, imported or reported by Tell,
// also ends the delay.
func (a *Agent) Held() bool { return a.held && a.trials.done == 0 }

// refuse answers the requests to a keeper with ErrKeeping.
func (a *Agent) refuse() {
	for _, request := range a.asks {
		a.ready.Answers = append(a.ready.Answers, Answer{Request: request, Err: ErrKeeping})
		delete(a.claims, request)
	}
	a.asks = nil
}

// EvaluationTime returns the mean duration of this agent's evaluations, including those of earlier
// runs and failed ones; zero if none has ended.
func (a *Agent) EvaluationTime() time.Duration {
	var total time.Duration
	count := 0
	for _, t := range a.trials.list {
		if t.Why.Source != strategy.Imported && !t.Finished.IsZero() && t.Finished.After(t.Started) {
			total += t.Finished.Sub(t.Started)
			count++
		}
	}
	if count == 0 {
		return 0
	}
	return total / time.Duration(count)
}
