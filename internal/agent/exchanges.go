package agent

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
)

// NewExchanges returns the exchanges of one agent: presence, and those of the strategy's
// registration.
func NewExchanges(r strategy.Registration, env strategy.Env) ([]strategy.Exchange, error) {
	list := []strategy.Exchange{presence.New()}
	disclosure := r.Disclosure(env.Task)
	if disclosure.Exchanges == nil {
		return list, nil
	}
	further, err := disclosure.Exchanges(env)
	return append(list, further...), err
}

type exchanges struct {
	order   []string
	byName  map[string]strategy.Exchange
	results map[string]any // by exchange; the map is replaced and never changed, because views contain it
	news    map[string]int // number of results of each exchange so far
	timers  map[timer]time.Time
	queue   []exchangeWork // computations that wait until the posteriors include all observations
	working int            // number of running computations

	stopped   map[string]bool // exchanges that a panic ended, until the next start
	undecoded map[string]bool // kinds of shares for which Decode has panicked
}

type timer struct{ exchange, name string }

type exchangeWork struct {
	exchange string
	strategy.Work
}

func newExchanges(list []strategy.Exchange) (exchanges, error) {
	byName, order, err := named(list)
	return exchanges{
		order:   order,
		byName:  byName,
		results: map[string]any{},
		news:    map[string]int{},
		timers:  map[timer]time.Time{},

		stopped:   map[string]bool{},
		undecoded: map[string]bool{},
	}, err
}

// show makes a result of an exchange part of later views.
func (e *exchanges) show(name string, value any) {
	e.results = maps.Clone(e.results)
	e.results[name] = value
	e.news[name]++
}

// due removes and returns the expired timers, oldest first.
func (e *exchanges) due(now time.Time) []timer {
	var due []timer
	for t, at := range e.timers {
		if !at.After(now) {
			due = append(due, t)
		}
	}
	slices.SortFunc(due, func(a, b timer) int {
		return cmp.Or(e.timers[a].Compare(e.timers[b]), cmp.Compare(a.exchange, b.exchange), cmp.Compare(a.name, b.name))
	})
	for _, t := range due {
		delete(e.timers, t)
	}
	return due
}

func (e *exchanges) next() time.Time { return earliest(slices.Collect(maps.Values(e.timers))...) }

// quiet drops all timers and queued computations.
func (e *exchanges) quiet() {
	clear(e.timers)
	e.queue = nil
}

// stop ends an exchange and drops its timers and queued computations.
func (e *exchanges) stop(name string) {
	e.stopped[name] = true
	maps.DeleteFunc(e.timers, func(t timer, _ time.Time) bool { return t.exchange == name })
	e.queue = slices.DeleteFunc(e.queue, func(w exchangeWork) bool { return w.exchange == name })
}

// step passes one input to an exchange and applies its outputs. It ignores an input for an exchange
// that the task does not have or that has stopped, and all inputs of a keeper.
func (a *Agent) step(now time.Time, name string, in strategy.Input) {
	exchange, ok := a.exchanges.byName[name]
	if !ok || a.keeping || a.exchanges.stopped[name] {
		return
	}
	for _, output := range a.stepOf(now, exchange, name, in) {
		switch output := output.(type) {
		case strategy.Record:
			a.record(Record{Note: &NoteRecord{Exchange: name, Data: output.Data}})
		case strategy.Publish:
			a.publish(now, name, output)
		case strategy.Receipt:
			a.publishReceipt(now, output.Payload)
		case strategy.Send:
			a.counts.DirectMessagesSent++
			a.ready.Send = append(a.ready.Send, Direct{To: output.To, Exchange: name, Data: output.Data})
		case strategy.SetTimer:
			a.exchanges.timers[timer{name, output.Name}] = now.Add(output.After)
		case strategy.Work:
			a.exchanges.queue = append(a.exchanges.queue, exchangeWork{name, output})
		case strategy.Warn:
			a.warn("%s", output.Message)
		case strategy.Result:
			a.exchanges.show(name, output.Value)
			if a.wait.exchange == name {
				a.wait.exchange = ""
			}
		}
	}
}

// startExchangeWork starts the queued computations. Their seed depends on the epoch. So a restarted
// agent does not publish the same random draw again under a new stamp.
func (a *Agent) startExchangeWork(now time.Time) {
	queue := a.exchanges.queue
	a.exchanges.queue = nil
	for _, w := range queue {
		view, seed := a.view(now), a.cfg.Seed.Derive("exchange "+w.exchange, a.epoch)
		a.exchanges.working++
		a.startWork(job{name: fmt.Sprintf("%s: %s", w.exchange, w.Name), who: nameOf(w.exchange), run: func(ctx context.Context) (any, error) {
			return w.Run(ctx, view, seed)
		}, undo: func() {
			a.exchanges.working--
			a.exchanges.queue = append(a.exchanges.queue, w)
		}, finish: func(now time.Time, result any, err error) {
			a.exchanges.working--
			if err != nil {
				a.warnOf(err, "%s: %s: %v", w.exchange, w.Name, err)
			}
			a.step(now, w.exchange, strategy.WorkDone{Name: w.Name, Result: result, Err: err})
			if err != nil && a.waits() && a.wait.exchange == w.exchange {
				a.waitTimedOut("its computation failed")
			}
		}})
	}
}

// publish signs a share with the next stamp. No crash can lead to a second use of the stamp: the
// record of its epoch, and the record of the share unless it is ephemeral, come before the share in
// every Ready.
//
// The agent does not send a share that its own Decode refuses, because peers would refuse the share
// too and count a violation.
func (a *Agent) publish(now time.Time, kind string, p strategy.Publish) {
	if !p.Ephemeral {
		_, slot, err := a.decode(a.exchanges.byName[kind], kind, p.Payload)
		if err == nil && slot != p.Slot {
			err = fmt.Errorf("it was published in slot %d, and what it holds has slot %d", p.Slot, slot)
		}
		if err != nil {
			a.warnOf(err, "%s: a share was not sent, because peers would refuse it: %v", kind, err)
			return
		}
	}
	a.sequence++
	share, err := protocol.Seal(protocol.Share{
		Task:    a.id,
		Key:     protocol.Key{Kind: kind, Slot: p.Slot},
		Stamp:   protocol.Stamp{Epoch: a.epoch, Sequence: a.sequence},
		TTL:     p.TTL,
		Payload: p.Payload,
	}, a.cfg.Key)
	if err != nil {
		a.warn("%s: %v", kind, err)
		return
	}
	if !p.Ephemeral {
		a.record(Record{Sent: &SentRecord{Kind: kind, Slot: p.Slot, Envelope: share.Envelope, Time: now}})
	}
	a.shares.keep(&held{Share: strategy.Share{Share: share}, accepted: now, expires: now.Add(share.TTL), ephemeral: p.Ephemeral}, now, Source{})
	a.counts.Sent[kind]++
	if !a.topic.large || kind == presence.Kind { // in a large topic the next presence message announces it
		a.ready.Publish = append(a.ready.Publish, share)
	}
	a.event(Event{Type: ShareSent, Kind: kind, Stamp: &share.Stamp, Bytes: len(share.Envelope)})
}
