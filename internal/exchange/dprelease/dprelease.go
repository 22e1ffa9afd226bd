// Package dprelease is the exchange of agents on tasks with privacy by mechanism local. Each agent
// releases a vector with noise, at numbers of observations that are fixed in advance. It shares
// nothing more when its ledger has no releases left.
//
// The strategy that uses the exchange defines the vector and its encoding in a [Spec].
package dprelease

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/internal/privacy/ledger"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Spec defines the released vector and its encoding. It must not change.
type Spec struct {
	Kind string        // name of the exchange and kind of its shares
	TTL  time.Duration // validity of a share without another from its author

	// Due returns the number of observations after which a release is due, the first being 1. A
	// share states this number, even if it is late.
	Due func(release int) int

	// Decode is that of the exchange, without the check of the number of the release.
	Decode func(payload []byte) (any, error)
	// Number returns the number of the release of a decoded share; 0: it is no release.
	Number func(value any) int

	// Vector returns the vector to release for this view, of the length in task.Release, or nil if
	// there is nothing to release. It runs concurrently with the agent.
	Vector func(ctx context.Context, view strategy.View, seed random.Seed) ([]float64, error)
	// Payload returns the payload of a share with the noisy vector.
	Payload func(noisy []float64, release int) ([]byte, error)
}

// Exchange is the state machine of one agent.
type Exchange struct {
	spec   Spec
	ledger *ledger.Ledger

	drawnAt int  // number of observations at the newest requested vector
	drawing bool // a vector is being computed
}

var _ strategy.Exchange = (*Exchange)(nil)

// New returns the exchange of one agent on a task with mechanism local. entropy must be the
// Reader of crypto/rand outside of tests.
func New(t *task.Task, entropy io.Reader, spec func(ledger.Terms) Spec) (*Exchange, error) {
	account, err := ledger.NewLedger(t, entropy)
	if err != nil {
		return nil, err
	}
	return &Exchange{spec: spec(account.Terms), ledger: account}, nil
}

// Disown refuses all releases for a reason, such as [strategy.Env.Unaccounted]. An empty reason
// changes nothing.
func (e *Exchange) Disown(why string) { e.ledger.Disown(why) }

// spent is the value of the exchange's Result.
type spent struct{ ledger.State }

// Status implements strategy.StatusReporter.
func (s spent) Status() []strategy.StatusItem {
	return []strategy.StatusItem{strategy.PrivacyItem(s.State)}
}

func (e *Exchange) show() strategy.Output { return strategy.Result{Value: spent{e.ledger.State()}} }

// Name implements strategy.Exchange.
func (e *Exchange) Name() string { return e.spec.Kind }

// Decode implements strategy.Exchange: a share has the number of one of the planned
// releases.
func (e *Exchange) Decode(payload []byte) (any, error) {
	value, err := e.spec.Decode(payload)
	if err != nil {
		return nil, err
	}
	if number := e.spec.Number(value); number < 1 || number > e.ledger.Releases {
		return nil, fmt.Errorf("%w: private release %d, the task plans %d", protocol.ErrMalformed, number, e.ledger.Releases)
	}
	return value, nil
}

// Step implements strategy.Exchange. After any input, the receipt follows the records that it
// covers.
func (e *Exchange) Step(view strategy.View, in strategy.Input) []strategy.Output {
	out := e.account(view, in)
	if _, replays := in.(strategy.Replayed); replays {
		return out
	}
	if payload := e.ledger.Announce(); payload != nil {
		out = append(out, strategy.Receipt{Payload: payload})
	}
	return out
}

func (e *Exchange) account(view strategy.View, in strategy.Input) []strategy.Output {
	switch in := in.(type) {
	case strategy.Replayed:
		e.ledger.Replay(in.Data)
	case strategy.Start:
		return append([]strategy.Output{e.show(), beat()}, e.draw(view)...)
	case strategy.Timer:
		return e.wait(view)
	case strategy.CaughtUp:
		e.ledger.CaughtUp(in.Peer)
		return e.draw(view)
	case strategy.TrialsEnded:
		return e.draw(view)
	case strategy.Echo:
		return append(e.echo(in.Share), e.draw(view)...)
	case strategy.EquivocationFound:
		return e.carry(e.ledger.Contradicted(in.Proof))
	case strategy.WorkDone:
		e.drawing = false
		if !e.ledger.Open() {
			return nil // refused while the vector was computed
		}
		vector, _ := in.Result.([]float64)
		return append(e.release(vector), e.draw(view)...)
	}
	return nil
}

const beatTimer = "beat"

func beat() strategy.Output { return strategy.SetTimer{Name: beatTimer, After: ledger.Beat} }

// wait counts the time for which releases have waited for silent peers.
func (e *Exchange) wait(view strategy.View) []strategy.Output {
	out := []strategy.Output{beat()}
	if change := e.ledger.Count(presence.Of(view).Present); change != "" {
		out = append(out, strategy.Warn{Message: change})
	}
	return append(out, e.draw(view)...)
}

// draw requests the next vector if a release is due, at most one for each observation. A release
// may be late because peers had not sent enough yet, and imported trials may make many due at once.
// Catching up would cost as much privacy budget as new releases and contain no new information.
func (e *Exchange) draw(view strategy.View) []strategy.Output {
	next := e.ledger.State().Released + 1
	if e.drawing || view.Observations <= e.drawnAt || !e.ledger.Open() || view.Observations < e.spec.Due(next) {
		return nil
	}
	if present := presence.Of(view).Present; !e.ledger.Trusted(present) {
		if waits := e.ledger.Waits(present); waits != "" {
			return []strategy.Output{strategy.Warn{Message: waits}}
		}
		return nil
	}
	e.drawing, e.drawnAt = true, view.Observations
	return []strategy.Output{strategy.Work{Name: e.spec.Kind, Run: func(ctx context.Context, view strategy.View, seed random.Seed) (any, error) {
		return e.spec.Vector(ctx, view, seed)
	}}}
}

// release spends a release on the vector; its record precedes the share. If there is no vector,
// silence would disclose that, so the share is noise on zeros.
func (e *Exchange) release(vector []float64) []strategy.Output {
	if vector == nil {
		vector = make([]float64, e.ledger.Numbers())
	}
	noisy, number, record, err := e.ledger.Release(vector)
	if err != nil {
		return []strategy.Output{strategy.Warn{Message: err.Error()}}
	}
	payload, err := e.spec.Payload(noisy, number)
	if err != nil {
		return []strategy.Output{strategy.Warn{Message: err.Error()}}
	}
	return []strategy.Output{
		strategy.Record{Data: record},
		strategy.Publish{Payload: payload, TTL: e.spec.TTL},
		e.show(),
	}
}

// echo compares a share of this node that peers hold with the journal.
func (e *Exchange) echo(share strategy.Share) []strategy.Output {
	if receipt, ok := share.Value.(protocol.Receipt); ok {
		return e.carry(e.ledger.Reconcile(receipt))
	}
	if number := e.spec.Number(share.Value); number > 0 {
		return e.carry(e.ledger.Echo(number))
	}
	return nil
}

// carry applies the ledger's finding; the record is nil if there is nothing new.
func (e *Exchange) carry(record []byte, reason string) []strategy.Output {
	if record == nil {
		return nil
	}
	out := []strategy.Output{strategy.Record{Data: record}, e.show()}
	if reason != "" {
		out = append(out, strategy.Warn{Message: "this node shares nothing more: " + reason})
	}
	return out
}
