package agent

import (
	"fmt"
	"time"

	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/strategy"
)

// waiting holds the state of the strategy's waits before it chooses the next trial. A strategy may
// wait several times for one trial. The time limit of each Wait counts from the first one, so that
// a strategy cannot wait forever.
type waiting struct {
	since    time.Time // time of the first Wait; zero before it
	exchange string    // exchange that the strategy now waits for; empty: none
	until    time.Time // end of the wait for exchange
	timedOut string    // exchange whose wait ended without a Result; empty: none
}

func (w *waiting) begin(now time.Time, wish strategy.Wait) {
	if w.since.IsZero() {
		w.since = now
	}
	w.exchange, w.until = wish.Exchange, w.since.Add(wish.For)
}

// mayWait returns an error if the strategy may not wait. The argument timedOut is the exchange
// whose wait ended without a Result, or empty.
func (a *Agent) mayWait(wish strategy.Wait, timedOut string) error {
	_, talks := a.exchanges.byName[wish.Exchange]
	switch {
	case !talks:
		return fmt.Errorf("the strategy waits for exchange %q, which the task does not have", wish.Exchange)
	case wish.For <= 0:
		return fmt.Errorf("the strategy waits for exchange %q for %v, expected more than 0", wish.Exchange, wish.For)
	case timedOut != "":
		return fmt.Errorf("the strategy keeps waiting for exchange %q after its wait for %q ended without a result; expected a design", wish.Exchange, timedOut)
	}
	return nil
}

func (a *Agent) waits() bool { return a.wait.exchange != "" && len(a.asks) > 0 }

// waitEnd returns the time at which the strategy's wait ends; zero if it does not wait.
func (a *Agent) waitEnd() time.Time {
	if !a.waits() {
		return time.Time{}
	}
	return a.wait.until
}

// waitTimedOut ends a wait without a Result. The strategy then must choose a design.
func (a *Agent) waitTimedOut(reason string) {
	a.warn("trial %d is chosen without a result of exchange %s: %s", a.trials.next(), a.wait.exchange, reason)
	a.wait.timedOut, a.wait.exchange = a.wait.exchange, ""
}

// WaitsFor returns the reason why the oldest Ask has no answer yet; it is empty if no Ask waits.
func (a *Agent) WaitsFor() string {
	switch {
	case len(a.asks) == 0:
		return ""
	case a.Held():
		return "the first design waits for the shares of peers"
	case !a.caughtUp():
		return fmt.Sprintf("the surrogate learns from %s", sanitize.Count(a.trials.done, "outcome"))
	case a.waits():
		return fmt.Sprintf("the strategy waits for a result of exchange %q, until %s at most", a.wait.exchange, a.wait.until.UTC().Format(time.RFC3339))
	default:
		return "the strategy chooses a design"
	}
}
