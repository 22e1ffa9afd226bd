package strategytest

import (
	"testing"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
)

// Released passes a computed vector to a private exchange, and returns the decoded share that the
// exchange publishes.
func Released[T any](t testing.TB, e strategy.Exchange, vector []float64) T {
	t.Helper()
	for _, output := range e.Step(strategy.View{}, strategy.WorkDone{Result: vector}) {
		if published, ok := output.(strategy.Publish); ok {
			value, err := e.Decode(published.Payload)
			if err != nil {
				t.Fatal(err)
			}
			return value.(T)
		}
	}
	t.Fatal("nothing was released")
	panic("unreachable")
}

// Releaser runs a private exchange of weights with a view that the test sets. It collects the
// exchange's outputs.
type Releaser struct {
	T        testing.TB
	Exchange strategy.Exchange
	View     strategy.View
	Works    []strategy.Work
	Records  [][]byte
	Sent     []protocol.Weights
	Receipts []protocol.Receipt
	Warnings []string
}

// Step passes an input to the exchange. It fails the test if a share is published without a record
// before it, or is not stored in the journal.
func (r *Releaser) Step(in strategy.Input) {
	r.T.Helper()
	recorded := false
	for _, output := range r.Exchange.Step(r.View, in) {
		switch output := output.(type) {
		case strategy.Record:
			recorded, r.Records = true, append(r.Records, output.Data)
		case strategy.Publish:
			if !recorded {
				r.T.Error("a share without a record before it")
			}
			if output.Ephemeral {
				r.T.Error("a share that the journal does not keep")
			}
			value, err := r.Exchange.Decode(output.Payload)
			if err != nil {
				r.T.Fatal(err)
			}
			r.Sent = append(r.Sent, value.(protocol.Weights))
		case strategy.Receipt:
			receipt, err := protocol.DecodeReceipt(output.Payload, protocol.MaxReceipted)
			if err != nil {
				r.T.Fatal(err)
			}
			r.Receipts = append(r.Receipts, receipt)
		case strategy.Warn:
			r.Warnings = append(r.Warnings, output.Message)
		case strategy.Work:
			r.Works = append(r.Works, output)
		}
	}
}

// Observe adds observations, one at a time, and passes each to the exchange.
func (r *Releaser) Observe(count int) {
	r.T.Helper()
	for range count {
		r.View.Observations++
		r.Step(strategy.TrialsEnded{})
	}
}
