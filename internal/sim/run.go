package sim

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/internal/recoverpanic"
	"github.com/fbo-node/fbo/internal/virtualtime"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// Run simulates a scenario until every member has used its budget. It returns early, with an error,
// if ctx ends or an agent cannot choose a design.
func Run(ctx context.Context, s Scenario) (Result, error) {
	if err := s.validate(); err != nil {
		return Result{}, err
	}
	if s.Strategies == nil {
		s.Strategies = all.Strategies()
	}
	registration, err := s.Strategies.Of(s.Task)
	if err != nil {
		return Result{}, err
	}
	if s.Model == nil {
		if s.Model, err = registration.Model(s.Task); err != nil {
			return Result{}, err
		}
	}
	r := &run{ctx: ctx, Scenario: s, registration: registration, network: newNetwork(s), indices: map[peer.ID]int{}, unfinished: len(s.Members)}
	if r.strategy, err = r.newStrategy(s.Task); err != nil {
		return Result{}, err
	}
	r.Workers = cmp.Or(r.Workers, runtime.GOMAXPROCS(0))
	for i := range s.Members {
		m, err := newMember(r, i)
		if err != nil {
			return Result{}, fmt.Errorf("member %d: %w", i, err)
		}
		r.members = append(r.members, m)
		r.indices[m.id] = i
		r.schedule(s.Members[i].Start, m.join)
	}
	for r.unfinished > 0 {
		if err := r.instant(ctx); err != nil {
			return Result{}, err
		}
	}
	result := Result{Elapsed: r.now()}
	for _, m := range r.members {
		result.Members = append(result.Members, m.summary())
	}
	return result, nil
}

// run is the state of a simulation.
type run struct {
	ctx context.Context
	Scenario
	registration strategy.Registration
	strategy     strategy.Strategy // shared by all members without their own strategy or space
	network      *network
	delivering   *sent
	members      []*member
	indices      map[peer.ID]int
	waiting      []*member // members that have something to compute
	unfinished   int       // number of members with remaining budget

	events virtualtime.Queue[func()]
	failed error
}

func (r *run) newStrategy(t *task.Task) (strategy.Strategy, error) {
	return recoverpanic.Call("the making of the strategy", func() (strategy.Strategy, error) { return r.registration.NewStrategy(t) })
}

// began is the start of virtual time: an arbitrary date, since agents need one.
var began = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

func (r *run) now() time.Duration { return r.events.Now() }

func (r *run) clock() time.Time { return began.Add(r.now()) }

func (r *run) schedule(at time.Duration, do func()) {
	r.events.Schedule(at, do)
}

// instant processes all events with the next time, including those that they cause at that time.
func (r *run) instant(ctx context.Context) error {
	r.events.Take()()
	due := func() bool { at, ok := r.events.Next(); return ok && at == r.now() }
	for {
		for due() {
			r.events.Take()()
		}
		if err := r.compute(ctx); err != nil {
			return err
		}
		if !due() {
			return r.failed
		}
	}
}

// compute runs the computations of the members until there are none left. It passes the results to
// the agents in the order of the members, so that the run is reproducible.
func (r *run) compute(ctx context.Context) error {
	for {
		if len(r.waiting) == 0 {
			return ctx.Err()
		}
		slices.SortFunc(r.waiting, func(a, b *member) int { return cmp.Compare(a.index, b.index) })
		var tasks []*computation
		for _, m := range r.waiting {
			for _, work := range m.work {
				tasks = append(tasks, &computation{member: m, work: work})
			}
			m.work = nil
		}
		r.waiting = nil
		if err := r.parallel(ctx, tasks); err != nil {
			return err
		}
		for _, t := range tasks {
			t.member.finish(t)
		}
	}
}

// computation is a Work of a member's agent, with its result.
type computation struct {
	member *member
	work   agent.Work
	result any
	took   time.Duration
}

func (r *run) parallel(ctx context.Context, tasks []*computation) error {
	next := make(chan *computation)
	var workers sync.WaitGroup
	for range min(r.Workers, len(tasks)) {
		workers.Go(func() {
			for t := range next {
				start := time.Now()
				t.result = t.work.Run(ctx)
				t.took = time.Since(start)
			}
		})
	}
	for _, t := range tasks {
		if ctx.Err() != nil {
			break
		}
		next <- t
	}
	close(next)
	workers.Wait()
	return ctx.Err()
}

// publish sends a share to all members that receive from its author.
func (r *run) publish(from int, share protocol.Share) {
	s := &sent{share: share, at: r.now()}
	r.network.remember(from, s)
	for _, to := range r.network.receivedBy[from] {
		r.deliver(from, to, s, r.network.delay(), false)
	}
}

// deliver attempts, after a delay, to deliver a share. A failed delivery is repeated, unless a
// newer share has replaced this one. It skips members that have not joined, since these fetch
// existing shares later.
func (r *run) deliver(from, to int, s *sent, after time.Duration, again bool) {
	r.schedule(r.now()+after, func() {
		switch {
		case r.now() < r.Members[to].Start || again && !r.network.current(from, s.share):
		case !r.network.passes(from, to, r.now()) || r.network.lost():
			if r.now()-s.at < s.share.TTL {
				r.deliver(from, to, s, r.network.retry(from, to, r.now()), true)
			}
		default:
			r.members[to].result.Gossiped++
			r.members[to].result.GossipedBytes += int64(len(s.share.Envelope))
			r.delivering = s
			r.members[to].receive(s.share, r.now()-s.at, agent.Source{Gossiped: !again})
			r.delivering = nil
		}
	})
}

// fetch sends a member that has just joined the existing shares of all authors from which it
// receives.
func (r *run) fetch(to int) {
	for _, from := range r.network.receives[to] {
		shares := slices.SortedFunc(maps.Values(r.network.latest[from]), func(a, b *sent) int {
			return a.share.Stamp.Compare(b.share.Stamp)
		})
		for _, s := range shares {
			if r.Network.Authors > 0 && s.share.Kind != presence.Kind {
				continue
			}
			r.deliver(from, to, s, r.network.delay(), false)
		}
	}
}

// meet sends CaughtUp to a member that has just joined and to the members with which it exchanges
// shares, after all existing shares have arrived. Only tasks with a privacy budget or a roster need
// this input.
func (r *run) meet(joined int) {
	if r.Task.Privacy == nil && r.Task.Roster() == nil {
		return
	}
	deliver := func(from, to int) {
		at := r.now() + 2*(r.network.Delay+r.network.Jitter) + 1
		r.schedule(at, func() {
			if m := r.members[to]; m.agent != nil {
				m.agent.CaughtUp(r.clock(), r.members[from].id)
				m.carryOut()
			}
		})
	}
	for _, from := range r.network.receives[joined] {
		if r.members[from].agent != nil {
			deliver(from, joined)
		}
	}
	for _, to := range r.network.receivedBy[joined] {
		deliver(joined, to)
	}
}
