package trialserver

import (
	"context"
	"errors"
	"fmt"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/eventlog"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Task is a served task.
type Task struct {
	id         string
	session    *node.Session
	strategies strategy.Set
	events     Events
	turns      turns
	asks       openAsks
	delays     delays
}

func (d *Server) newTask(session *node.Session, events Events) *Task {
	t := &Task{id: session.Task().ID().String(), session: session, strategies: d.node.Strategies, events: events}
	t.delays = delays{patience: d.options.Patience, warn: d.options.OnWarning}
	// These end with the session.
	t.asks.ask = func(c agent.Claim) (strategy.Trial, error) { return session.Clients().Ask(context.Background(), c) }
	t.asks.giveBack = func(trial uint64, client string) {
		_ = session.Clients().Requeue(context.Background(), agent.Once{}, trial, client) // else it stays with the client
	}
	t.asks.turn = func(client string) func() {
		end, _ := t.turns.take(context.Background(), client) // which does not end
		return end
	}
	return t
}

// ID is the task's.
func (t *Task) ID() string { return t.id }

// Session is what a client may ask directly.
func (t *Task) Session() *node.Session { return t.session }

// Reveals describes what peers receive of this node and what they can learn from it. It is empty
// if the strategy sends nothing.
func (t *Task) Reveals() string { return reveals(t.strategies, t.session.Task()) }

func reveals(strategies strategy.Set, t *task.Task) string {
	r, err := strategies.Of(t)
	if err != nil {
		return "" // a task has a strategy of the set that has parsed it
	}
	if reveals := r.Disclosure(t).Reveals; reveals != nil {
		return reveals(t)
	}
	return ""
}

// Events returns what has happened after an event.
func (t *Task) Events(after uint64) eventlog.Batch[agent.Event] { return t.events.After(after) }

// LastEvent is the number of the newest event.
func (t *Task) LastEvent() uint64 { return t.events.Last() }

// MaxCount is how many trials a client may hold of one task.
const MaxCount = 1000

// Answer is what an Ask came to.
type Answer struct {
	Trials   []strategy.Trial
	WaitsFor string // why there are fewer trials than the client asked for
}

// Ask lets a client hold count trials: those that it holds already, and new ones. When ctx ends
// first it gets fewer, perhaps none, the reason and no error; the next Ask goes on waiting. A
// request with a key gets the same answer as the first time, after it has got the requested number
// of trials.
func (t *Task) Ask(ctx context.Context, claim agent.Claim, count int, once agent.Once) (Answer, error) {
	end, err := t.turns.take(ctx, claim.Client)
	if err != nil {
		return Answer{WaitsFor: fmt.Sprintf("another request of client %q waits for trials", claim.Client)}, nil
	}
	defer end()
	asked, err := t.ask(ctx, claim, count, once)
	if err == nil || ctx.Err() == nil || !errors.Is(err, ctx.Err()) {
		if len(asked) > 0 {
			t.delays.over()
		}
		return Answer{Trials: asked}, err
	}
	status, err := t.session.Status(context.WithoutCancel(ctx))
	if err != nil {
		return Answer{}, err
	}
	if status.WaitsFor == "" { // the node has just answered, or has not begun
		status.WaitsFor = "the request ended before the node chose a design"
	}
	t.delays.note(t.session.Task().Name, status.WaitsFor, t.asks.age(claim.Client))
	return Answer{asked, status.WaitsFor}, nil
}

// ask returns what the client holds by then also with the error of a context that has ended.
func (t *Task) ask(ctx context.Context, claim agent.Claim, count int, once agent.Once) ([]strategy.Trial, error) {
	reply, known, err := t.session.Clients().Replied(ctx, once)
	if err != nil || known {
		return t.trials(ctx, reply.Trials, err)
	}
	held, err := t.hold(ctx, claim, count)
	if err != nil {
		return held, err
	}
	for _, trial := range held {
		reply.Trials = append(reply.Trials, trial.ID)
	}
	return held, t.remember(ctx, once, reply)
}

// hold has the client given trials until it holds count of them. The client gets the returned
// trials, also with the error of a context that has ended.
func (t *Task) hold(ctx context.Context, claim agent.Claim, count int) ([]strategy.Trial, error) {
	for {
		// This takes no longer than a write to the disk, and without an answer the result of the
		// last request would be missed.
		held, err := t.session.Clients().HeldBy(context.WithoutCancel(ctx), claim.Client)
		if err != nil {
			return nil, err
		}
		held = held[:min(count, len(held))]
		if len(held) < count {
			err = t.asks.next(ctx, claim)
		}
		if err != nil || len(held) == count {
			t.asks.tell(claim.Client, held)
			return held, err
		}
	}
}

// remember costs a write to the disk only where there is a key.
func (t *Task) remember(ctx context.Context, once agent.Once, reply agent.Reply) error {
	if once == (agent.Once{}) {
		return nil
	}
	return t.session.Clients().Remember(context.WithoutCancel(ctx), once, reply)
}

// trials returns the trials with these IDs as they are now.
func (t *Task) trials(ctx context.Context, ids []uint64, err error) ([]strategy.Trial, error) {
	if err != nil {
		return nil, err
	}
	all, err := t.session.Trials(ctx)
	if err != nil {
		return nil, err
	}
	found := make([]strategy.Trial, 0, len(ids))
	for _, id := range ids {
		if id == 0 || id > uint64(len(all)) {
			return nil, fmt.Errorf("the journal has a reply with trial %d, and %d trials", id, len(all))
		}
		found = append(found, all[id-1])
	}
	return found, nil
}
