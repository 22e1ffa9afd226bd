package agent

import (
	"strings"
	"testing"

	"github.com/fbo-node/fbo/strategy"
)

func TestEventStringIsOneLine(t *testing.T) {
	done := &strategy.Trial{ID: 2, State: strategy.Done, Outcome: &strategy.Outcome{Value: 0.5}}
	for _, c := range []struct {
		event Event
		want  string
	}{
		{Event{Type: TrialStarted, Trial: &strategy.Trial{ID: 3, State: strategy.Running}}, "trial started: trial 3 running: (no design)"},
		{Event{Type: TrialFinished, Trial: done, Best: done, Better: true}, "trial finished: trial 2 done: 0.5 at (no design), the new best"},
		{Event{Type: TrialFinished, Trial: &strategy.Trial{ID: 4, State: strategy.Failed, Reason: "x"}, Best: done}, "trial finished: trial 4 failed: (no design): x, best 0.5 of trial 2"},
		{Event{Type: TrialFinished, Trial: &strategy.Trial{ID: 4, State: strategy.Failed}}, "trial finished: trial 4 failed: (no design), no feasible trial yet"},
		{Event{Type: ShareSent, Kind: "weights", Bytes: 412}, "share sent: weights, 412 bytes"},
		{Event{Type: ShareReceived, Kind: "weights", Bytes: 412, Peer: "p"}, "share received: weights, 412 bytes, of peer " + strategy.ShortID("p")},
		{Event{Type: LeaseEnded, Trial: &strategy.Trial{ID: 3, State: strategy.Waiting}}, "lease ended: trial 3 waiting: (no design)"},
		{Event{Type: WaitEnded, Seconds: 1.5, Authors: 2}, "wait ended 1.5s for peers: shares of 2 nodes"},
		{Event{Type: Warning, Message: "a\nb\x1b"}, `warning: a b\x1b`},
		{Event{}, ""},
	} {
		if got := c.event.String(); got != c.want || strings.Contains(got, "\n") {
			t.Errorf("%q, expected %q", got, c.want)
		}
	}
}
