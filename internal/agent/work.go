package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fbo-node/fbo/internal/recoverpanic"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
)

// The functions of this file call the code of strategies, exchanges and surrogates so that a panic
// ends one step and not the process. So do the places that construct these or read their results.

// job is a Work with the function that processes its result.
type job struct {
	name   string // name of the Work
	who    string // the called code, for errors
	run    func(ctx context.Context) (any, error)
	finish func(now time.Time, value any, err error)
	undo   func() // resets the agent's state, as if an interrupted Work had not been started
}

// outcome is the result of a Work.
type outcome struct {
	value any
	err   error
	cut   bool // the context ended before the Work did, so there is no result
}

func (a *Agent) startWork(j job) {
	a.lastWork++
	a.work[a.lastWork] = j
	a.ready.Work = append(a.ready.Work, Work{ID: a.lastWork, Name: j.name, Run: func(ctx context.Context) any {
		value, err := recoverpanic.Call(j.who, func() (any, error) { return j.run(ctx) })
		if ctx.Err() != nil {
			return outcome{cut: true}
		}
		return outcome{value: value, err: err}
	}})
}

// Computing reports whether a Work has no result yet. If it is false, the agent has published every
// share that its inputs cause.
func (a *Agent) Computing() bool { return len(a.work) > 0 }

// Done passes the result of a Work to the agent. The result of a Work whose context ended changes
// nothing; the Work begins again with the next input.
func (a *Agent) Done(now time.Time, id uint64, result any) {
	j, ok := a.work[id]
	if !ok {
		panic(fmt.Sprintf("agent: Done(%d): there is no such work", id))
	}
	delete(a.work, id)
	o := result.(outcome)
	if o.cut {
		j.undo()
		return
	}
	j.finish(now, o.value, o.err)
	a.pump(now)
}

// warnOf is warn, and adds the stack if err is a panic.
func (a *Agent) warnOf(err error, format string, args ...any) {
	e := Event{Type: Warning, Message: fmt.Sprintf(format, args...)}
	if p := recovered(err); p != nil {
		e.Stack = string(p.Stack)
	}
	a.event(e)
}

// recovered returns the panic that err wraps, or nil.
func recovered(err error) *recoverpanic.Panic {
	var p *recoverpanic.Panic
	errors.As(err, &p)
	return p
}

func nameOf(exchange string) string { return fmt.Sprintf("the exchange %q", exchange) }

// decode calls Decode of an exchange, and returns the value and the value's slot. If Decode panics,
// the payload counts as malformed, so that the sender gets a violation. The agent warns the user
// only once for each kind, because a hostile peer can use any number of identities.
func (a *Agent) decode(exchange strategy.Exchange, kind string, payload []byte) (value any, slot uint64, err error) {
	value, err = recoverpanic.Call(nameOf(kind), func() (any, error) {
		value, err := exchange.Decode(payload)
		if err == nil {
			slot = strategy.SlotOf(value)
		}
		return value, err
	})
	if recovered(err) == nil {
		return value, slot, err
	}
	if !a.exchanges.undecoded[kind] {
		a.exchanges.undecoded[kind] = true
		a.warnOf(err, "%v at a share, which is not accepted; neither are further ones like it, without another warning", err)
	}
	return nil, 0, fmt.Errorf("%w: %w", protocol.ErrMalformed, err)
}

// stepOf calls Step of an exchange. If Step panics, the exchange gets no further input, since it
// may have changed only part of its state, such as the spent privacy budget. This limits the
// damage, and a peer that can cause the panic can do so only once. The next start reconstructs the
// state from the records. The agent still receives, stores and forwards shares of this kind.
func (a *Agent) stepOf(now time.Time, exchange strategy.Exchange, name string, in strategy.Input) []strategy.Output {
	outputs, err := recoverpanic.Call(nameOf(name), func() ([]strategy.Output, error) { return exchange.Step(a.view(now), in), nil })
	if err != nil {
		a.exchanges.stop(name)
		a.warnOf(err, "%v; it takes no further part until the next start of the node", err)
		if a.wait.exchange == name {
			a.waitTimedOut("it has stopped")
		}
	}
	return outputs
}

// named returns the exchanges by name, and the names in order. Each exchange must have a unique
// name.
func named(list []strategy.Exchange) (byName map[string]strategy.Exchange, order []string, err error) {
	byName = map[string]strategy.Exchange{}
	for i, exchange := range list {
		if exchange == nil {
			return nil, nil, fmt.Errorf("exchange %d of the task is nil", i+1)
		}
		name, err := recoverpanic.Call("an exchange", func() (string, error) { return exchange.Name(), nil })
		if err != nil {
			return nil, nil, err
		}
		if _, double := byName[name]; double || name == "" {
			return nil, nil, fmt.Errorf("two exchanges of the task have the name %q, or it is empty; each needs one of its own", name)
		}
		byName[name], order = exchange, append(order, name)
	}
	return byName, order, nil
}
