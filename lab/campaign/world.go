package campaign

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/internal/virtualtime"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Break is a duty that the driver breaks, for tests of the invariants.
type Break int

// Broken duties.
const (
	Nothing       Break = iota
	ForgetAppends       // a crash loses the latest acknowledged append
	SendFirst           // outputs leave a member before its append is on disk
	NeverSync           // members do not fetch missing shares
)

// Options change how a schedule is run.
type Options struct {
	// Dir is an empty directory for the members' data directories, preferably in memory. Required.
	Dir string

	// Break breaks a duty of the driver. The invariants must detect it.
	Break Break

	// Log, if not nil, receives what happens, for the diagnosis of a failure.
	Log func(format string, args ...any)
}

// Result is the result of a run.
type Result struct {
	Steps    int               // number of events that were carried out
	Faults   map[FaultKind]int // number of faults that took effect, by kind
	Starts   int               // number of starts of members
	Trials   int               // number of acknowledged outcomes
	Shares   int               // number of shares sent, without presence
	Failure  string            // the first broken invariant; empty if all hold
	Occurred time.Duration     // time of the failure
}

// world is the state of a run.
type world struct {
	Schedule
	Options
	ctx        context.Context
	task       *task.Task
	strategies strategy.Set
	model      surrogate.Model
	members    []*member
	byID       map[peer.ID]*member
	network    network
	witness    witness
	rng        *rand.Rand
	quiet      time.Duration // no evaluation begins from then until the shares are delivered

	events virtualtime.Queue[func() error]
	result Result
}

// epochStart is the start of virtual time.
var epochStart = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// maxSteps limits the events of a run. A run with more is in an endless loop.
const maxSteps = 400_000

// Run carries out a schedule. The error is one of the driver itself. A broken invariant is in
// Result.Failure.
func Run(ctx context.Context, s Schedule, o Options) (Result, error) {
	if err := s.validate(); err != nil {
		return Result{}, err
	}
	w := &world{
		Schedule: s, Options: o, ctx: ctx, strategies: strategies(),
		byID: map[peer.ID]*member{}, rng: random.SeedOf(s.Seed).Stream("world", 0),
		result: Result{Faults: map[FaultKind]int{}},
	}
	w.witness = newWitness(w)
	if w.quiet = faultsEnd; w.rng.IntN(3) == 0 {
		w.quiet = between(w.rng, 2*time.Minute, faultsEnd)
	}
	keys, err := keysOf(rosterOf(s.Task))
	if err != nil {
		return Result{}, err
	}
	if w.task, err = taskOf(s.Task, keys, w.strategies); err != nil {
		return Result{}, err
	}
	registration, err := w.strategies.Of(w.task)
	if err != nil {
		return Result{}, err
	}
	if w.model, err = registration.Model(w.task); err != nil {
		return Result{}, err
	}
	for _, number := range s.Members {
		m, err := newMember(w, number, keys[number], filepath.Join(o.Dir, fmt.Sprint(number)))
		if err != nil {
			return Result{}, err
		}
		w.members = append(w.members, m)
		w.byID[m.id] = m
	}
	w.plan()
	for _, m := range w.members {
		w.after(time.Duration(m.number)*time.Second, m.start)
	}
	err = w.loop()
	for _, m := range w.members {
		err = cmp.Or(err, m.disk.close())
	}
	return w.result, err
}

func (w *world) now() time.Duration { return w.events.Now() }

func (w *world) loop() error {
	for at, ok := w.events.Next(); ok && at <= w.last() && w.result.Failure == "" && !w.witness.complete; at, ok = w.events.Next() {
		do := w.events.Take()
		if w.result.Steps++; w.result.Steps > maxSteps {
			w.fail("more than %d events: an endless loop", maxSteps)
			break
		}
		if err := do(); err != nil {
			return fmt.Errorf("at %v: %w", w.now(), err)
		}
		if err := w.ctx.Err(); err != nil {
			return err
		}
	}
	if w.result.Failure == "" {
		w.witness.end()
	}
	return nil
}

// last returns the time at which the run ends at the latest.
func (w *world) last() time.Duration { return Calm + patienceOf(w.Task) }

// fail notes the first broken invariant, which ends the run.
func (w *world) fail(format string, args ...any) {
	if w.result.Failure == "" {
		w.result.Failure, w.result.Occurred = fmt.Sprintf(format, args...), w.now()
	}
}

func (w *world) logf(format string, args ...any) {
	if w.Log != nil {
		w.Log("%10v "+format, append([]any{w.now().Round(time.Millisecond)}, args...)...)
	}
}

// after schedules do. An error of do ends the run.
func (w *world) after(pause time.Duration, do func() error) {
	w.events.Schedule(w.now()+max(0, pause), do)
}

// at schedules do at a time since the beginning.
func (w *world) at(at time.Duration, do func() error) { w.after(at-w.now(), do) }

func (w *world) took(kind FaultKind) { w.result.Faults[kind]++ }

// plan schedules the faults that happen at a time, and the checks after their end.
func (w *world) plan() {
	for _, f := range w.Faults {
		m := w.memberOf(f)
		if m == nil && f.Kind != Loss && f.Kind != Delay {
			continue
		}
		switch f.Kind {
		case Loss, Delay:
			w.at(f.At, func() error { w.took(f.Kind); return nil })
		case Cut:
			w.at(f.At, func() error { w.took(Cut); return nil })
			w.at(f.At+f.For, func() error { m.welcome(); return nil })
		case Clock:
			w.at(f.At, func() error { w.took(Clock); return m.jump(f.Jump) })
		case Full:
			w.at(f.At, func() error { m.full = f.At + f.For; return nil })
		case Cache:
			w.at(f.At, func() error { m.damages = append(m.damages, f); return nil })
		case Stop:
			w.at(f.At, func() error { return m.stop(f.For) })
		case Crash:
			w.at(f.At, func() error {
				if f.Append == 0 {
					return m.crash(f.For)
				}
				later := f
				later.Append += m.appends
				m.crashes = append(m.crashes, later)
				return nil
			})
		}
	}
	w.at(Calm, func() error { w.witness.calm(); return nil })
	w.at(Calm+Settling, func() error { w.witness.settled(); return nil })
}

func (w *world) memberOf(f Fault) *member {
	for _, m := range w.members {
		if m.number == f.Member {
			return m
		}
	}
	return nil
}
