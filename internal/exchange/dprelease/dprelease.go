// Package dprelease implements the exchange of agents on tasks with privacy by mechanism local.
// Each agent releases vectors with noise, at numbers of observations that are fixed in advance. An
// agent whose ledger has no releases left shares nothing more.
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

// Spec defines the released vector and its encoding. It must not change after New.
type Spec struct {
	Kind string        // name of the exchange and kind of its shares
	TTL  time.Duration // lifetime of a share that its author does not replace

	// Due returns the number of observations after which a release is due. Releases count from 1. A
	// share contains this number, even if it is late.
	Due func(release int) int

	// Decode implements Exchange.Decode, except for the check of the release's number.
	Decode func(payload []byte) (any, error)
	// Number returns the number of the release that a decoded share contains, or 0 if it is no
	// release.
	Number func(value any) int

	// Vector returns the vector to release for this view, with the length that task.Release
	// defines. It returns nil if there is nothing to release. It runs concurrently with the agent.
	Vector func(ctx context.Context, view strategy.View, seed random.Seed) ([]float64, error)
	// Payload returns the payload of a share with the noisy vector.
	Payload func(noisy []float64, release int) ([]byte, error)
}

// Exchange implements strategy.Exchange. It holds the state of one agent.
type Exchange struct {
	spec   Spec
	ledger *ledger.Ledger

	drawnAt int  // number of observations when the newest vector was requested
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

// Disown prevents all further releases. why is the reason, for example [strategy.Env.Unaccounted].
// An empty reason changes nothing.
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

// Decode implements strategy.Exchange. It rejects shares whose release is not one of the planned
// ones.
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

// Step implements strategy.Exchange. The receipt is the last output of a step, so that it follows
// the records that it covers.
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
			return nil // releases were refused while the vector was computed
		}
		vector, _ := in.Result.([]float64)
		return append(e.release(vector), e.draw(view)...)
	}
	return nil
}

const beatTimer = "beat"

func beat() strategy.Output { return strategy.SetTimer{Name: beatTimer, After: ledger.Beat} }

// wait handles the beat timer: it counts the time for which releases have waited for silent peers.
func (e *Exchange) wait(view strategy.View) []strategy.Output {
	out := []strategy.Output{beat()}
	if change := e.ledger.Count(presence.Of(view).Present); change != "" {
		out = append(out, strategy.Warn{Message: change})
	}
	return append(out, e.draw(view)...)
}

// draw requests the next vector if a release is due, at most one for each observation. Several
// releases may be due at once: peers had not yet sent what they store, or many trials were
// imported. The missed ones are not made up for. They would cost as much privacy budget as later
// releases and contain no new information.
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

// release spends a DP release on the vector. The record of the release precedes the share. A nil
// vector is replaced by zeros with noise, since silence would disclose that there is no vector.
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

// echo compares an own share or receipt that a peer has sent back with the journal.
func (e *Exchange) echo(share strategy.Share) []strategy.Output {
	if receipt, ok := share.Value.(protocol.Receipt); ok {
		return e.carry(e.ledger.Reconcile(receipt))
	}
	if number := e.spec.Number(share.Value); number > 0 {
		return e.carry(e.ledger.Echo(number))
	}
	return nil
}

// carry returns the outputs for a finding of the ledger. A nil record means that the finding is not
// new. A non-empty reason is shown to the user.
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
