package agent

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/fbo-node/fbo/consensus"
	"github.com/fbo-node/fbo/consensus/density"
	"github.com/fbo-node/fbo/consensus/designs"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/alone"
	"github.com/fbo-node/fbo/strategy/exchange/presence"
	"github.com/fbo-node/fbo/surrogate"
	"github.com/fbo-node/fbo/task"
	"github.com/fbo-node/fbo/tsampling"
	"github.com/fbo-node/fbo/tsampling/ftsde"
	"github.com/fbo-node/fbo/tsampling/peerprior"
)

// NewStrategy returns the strategy that a task names. It is immutable, so that
// agents of one process may share it. A further strategy is one more case here
// and in NewExchanges.
func NewStrategy(t *task.Task) (strategy.Strategy, error) {
	switch t.Strategy.Type {
	case "ts":
		return tsampling.NewTS(t), nil
	case "logei":
		return alone.NewLogEI(t), nil
	case "ucb":
		return alone.NewUCB(t), nil
	case "consensus":
		return consensus.New(t)
	case "constrained-gp":
		return designs.New(t), nil
	case "density":
		return density.New(t), nil
	}
	features, err := surrogate.SharedMap(t)
	if err != nil {
		return nil, err
	}
	switch t.Strategy.Type {
	case "fts":
		return tsampling.NewFTS(t, features), nil
	case "fts-de":
		return ftsde.New(t, features)
	case "peer-prior":
		return peerprior.New(t, features)
	}
	return nil, unknownStrategy(t)
}

// NewExchanges returns the exchanges that the task's strategy rests on, for one
// agent, which key names. Where the task promises privacy, entropy must be the Reader
// of crypto/rand; otherwise it is not used.
func NewExchanges(t *task.Task, key crypto.PrivKey, entropy io.Reader) ([]strategy.Exchange, error) {
	switch t.Strategy.Type {
	case "ts", "logei", "ucb":
		return []strategy.Exchange{presence.New()}, nil
	case "fts":
		sharing, err := tsampling.NewSharing(t, entropy)
		return []strategy.Exchange{presence.New(), sharing}, err
	case "fts-de":
		sums, err := ftsde.NewExchange(t, key, entropy)
		return []strategy.Exchange{presence.New(), sums}, err
	case "peer-prior":
		return []strategy.Exchange{presence.New(), peerprior.NewSharing(t)}, nil
	case "consensus":
		rounds, err := consensus.NewExchange(t)
		return []strategy.Exchange{presence.New(), rounds}, err
	case "constrained-gp":
		return []strategy.Exchange{presence.New(), designs.NewSharing(t)}, nil
	case "density":
		return []strategy.Exchange{presence.New(), density.NewSharing(t)}, nil
	}
	return nil, unknownStrategy(t)
}

func unknownStrategy(t *task.Task) error {
	return fmt.Errorf("agent: strategy %q is unknown to this version", t.Strategy.Type)
}

type exchanges struct {
	order   []string
	byName  map[string]strategy.Exchange
	results map[string]any
	news    map[string]int // counts the results of each
	timers  map[timer]time.Time
	queue   []exchangeWork // waits until the posterior has caught up
	working int            // computations that run

	stopped   map[string]bool // those that a panic ended, until the next start
	undecoded map[string]bool // kinds of shares of which one made Decode panic
}

type timer struct{ exchange, name string }

type exchangeWork struct {
	exchange string
	strategy.Work
}

func newExchanges(list []strategy.Exchange) exchanges {
	e := exchanges{
		byName:  map[string]strategy.Exchange{},
		results: map[string]any{},
		news:    map[string]int{},
		timers:  map[timer]time.Time{},

		stopped:   map[string]bool{},
		undecoded: map[string]bool{},
	}
	for _, exchange := range list {
		e.order = append(e.order, exchange.Name())
		e.byName[exchange.Name()] = exchange
	}
	return e
}

func (e *exchanges) snapshot() map[string]any { return maps.Clone(e.results) }

// due removes and returns the timers that have run out, the oldest first.
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

// quiet forgets what was to come.
func (e *exchanges) quiet() {
	clear(e.timers)
	e.queue = nil
}

// stop ends an exchange and forgets what it wanted to come.
func (e *exchanges) stop(name string) {
	e.stopped[name] = true
	maps.DeleteFunc(e.timers, func(t timer, _ time.Time) bool { return t.exchange == name })
	e.queue = slices.DeleteFunc(e.queue, func(w exchangeWork) bool { return w.exchange == name })
}

// step gives an exchange one input and carries out what it asks for. An input
// for an exchange that the task does not have or that has stopped is ignored, and so
// are all inputs of an agent that only keeps shares.
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
		case strategy.Send:
			a.ready.Send = append(a.ready.Send, Direct{To: output.To, Exchange: name, Data: output.Data})
		case strategy.SetTimer:
			a.exchanges.timers[timer{name, output.Name}] = now.Add(output.After)
		case strategy.Work:
			a.exchanges.queue = append(a.exchanges.queue, exchangeWork{name, output})
		case strategy.Warn:
			a.warn("%s", output.Message)
		case strategy.Result:
			a.exchanges.results[name] = output.Value
			a.exchanges.news[name]++
			if a.waitFor == name {
				a.waitFor = ""
			}
		}
	}
}

// startExchangeWork starts what was queued. The seed depends on the epoch, so
// that a restarted agent does not send the draw it sent before under a new
// stamp.
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
		}})
	}
}

// publish signs a share under the next stamp. The stamp is safe to use: the
// record of its epoch, and of the share unless it is ephemeral, precede it in
// every Ready.
func (a *Agent) publish(now time.Time, kind string, p strategy.Publish) {
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
	a.shares.put(strategy.Share{Share: share}, now, 0)
	if own, ok := a.shares.held[share.Key]; ok {
		own.ephemeral = p.Ephemeral
	}
	a.counts.Sent[kind]++
	a.ready.Publish = append(a.ready.Publish, share)
	a.event(Event{Type: ShareSent, Kind: kind, Stamp: &share.Stamp, Bytes: len(share.Envelope)})
}
