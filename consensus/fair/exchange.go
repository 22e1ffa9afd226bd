package fair

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/internal/exchange/rounds"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Kinds of signed statements, which are sent in direct messages.
const (
	evaluationKind = "evaluation"
	batchKind      = "batch"
	assignmentKind = "assignment"
)

// The names of the timers. The names of a round's timers contain its number, so that other rounds
// ignore a timer that fires late.
const (
	tickTimer     = "tick"
	receivedTimer = "heard"
	deadlineTimer = "deadline"
	turnTimer     = "turn"
)

const (
	// ticking is the interval in which a node requests missing data.
	ticking = 5 * time.Second
	// turnTime is the maximum time for which a node with all results waits for the batch of the
	// party that has the turn. It exceeds the search time for 50 parties with 1,000 results on a
	// small processor.
	turnTime = time.Minute
	// maxSent is the maximum total size of the statements in a message, in bytes.
	maxSent = 100 << 10
	// maxEvaluations is the maximum number of evaluations of a party. Exact processes become too
	// slow far below it. It also prevents a party that fabricates evaluations from filling a disk.
	maxEvaluations = 4096
)

// Round is the Result of this exchange in the view: the latest round that has a batch.
type Round struct {
	Number  int
	Parties int // number of parties with a design in the batch
	Roster  int // number of parties of the task

	// Design is the latest design that a batch assigned to this node, in round Of. It is the zero
	// design before the first.
	Design task.Design
	Of     int

	// Alone is true if the mediator is absent.
	Alone bool

	self    peer.ID
	rewards []Reward
}

// Exchange is one node's state in the rounds of a task. Every node is a party. The mediator also
// chooses all batches. Without a mediator each node chooses them in its turns.
type Exchange struct {
	task     *task.Task
	settings Settings
	key      crypto.PrivKey
	roster   []peer.ID
	self     int
	mediator int // -1 without one
	chooser  chooser
	turns    rounds.Turns

	book     *book
	entered  map[uint64]bool   // IDs of the own trials that are in the book
	assigned []int             // by party: the latest round in which it got a design, to this node's knowledge
	points   []*protocol.Point // by party: that design
	current  Round
	latest   []byte            // envelope of the latest batch; nil with a mediator
	queued   map[int][]byte    // by party: envelope with its latest design, an assignment of the mediator or a batch
	against  float64           // reward of this node relative to the mean, as the mediator reports it
	offers   map[int]offer     // by party: the newest batch that it has proposed and this node has not accepted yet
	refused  map[[32]byte]bool // digests of the wrong batches of this round

	barrier   rounds.Barrier
	counting  bool // the deadline timer of the round is running
	turn      int  // number of the turn in the round, from 0
	turning   bool // the timer of the turn is running
	working   bool // a batch is being computed or checked
	resting   bool // a computation failed; the node makes no further one until the next tick
	replaying bool // the node started recently and may not know all present parties yet
	started   bool
	alone     bool // the mediator is absent

	ticks    int
	answered map[int]bool // parties that this node has answered since the last tick
	acked    int          // number of own evaluations that the mediator has confirmed
	named    map[naming]bool
	disputed map[dispute]bool // disputes that the node publishes at the next tick
	left     map[int]bool     // parties that have left

	estimate estimate

	out []strategy.Output // outputs of the current step
}

// dispute identifies an evaluation for which its author has signed two results.
type dispute struct{ party, number int }

var _ strategy.Exchange = (*Exchange)(nil)

// NewExchange returns the exchange of the node with this key. It returns an error if the node is not
// on the roster.
func NewExchange(t *task.Task, key crypto.PrivKey) (*Exchange, error) {
	id, err := peer.IDFromPrivateKey(key)
	if err != nil {
		return nil, err
	}
	settings := settingsOf(t)
	self := slices.Index(settings.Roster, id)
	if self < 0 {
		return nil, fmt.Errorf("this node, %s, is not on the task's roster: only nodes on it can take part in its rounds", id)
	}
	chooser, err := newChooser(t)
	if err != nil {
		return nil, err
	}
	n := len(settings.Roster)
	return &Exchange{
		task:     t,
		settings: settings,
		key:      key,
		roster:   settings.Roster,
		self:     self,
		mediator: slices.Index(settings.Roster, settings.Mediator),
		chooser:  chooser,
		turns:    rounds.Turns{Roster: settings.Roster},
		book:     newBook(settings.Roster),
		entered:  map[uint64]bool{},
		assigned: make([]int, n),
		points:   make([]*protocol.Point, n),
		queued:   map[int][]byte{},
		offers:   map[int]offer{},
		refused:  map[[32]byte]bool{},
		answered: map[int]bool{},
		named:    map[naming]bool{},
		disputed: map[dispute]bool{},
		left:     map[int]bool{},
		current:  Round{Roster: n, self: id},
	}, nil
}

// Name implements strategy.Exchange.
func (*Exchange) Name() string { return protocol.FairKind }

// Decode implements strategy.Exchange. The exchange publishes no shares, so Decode rejects every
// payload.
func (*Exchange) Decode([]byte) (any, error) {
	return nil, errors.New("there are no shares of this kind")
}

// chooses reports whether this node chooses batches: it is the mediator, or there is none.
func (e *Exchange) chooses() bool { return e.mediator < 0 || e.mediator == e.self }

// Step implements strategy.Exchange.
func (e *Exchange) Step(view strategy.View, in strategy.Input) []strategy.Output {
	switch in := in.(type) {
	case strategy.Replayed:
		e.replay(in.Data)
		return e.take()
	case strategy.Start:
		e.start(view)
	case strategy.TrialsEnded:
		e.enter(view)
	case strategy.Direct:
		e.receive(in.From, in.Data)
	case strategy.Timer:
		e.timer(view, in.Name)
	case strategy.WorkDone:
		if in.Name == estimateWork {
			e.estimated(in)
			break
		}
		e.done(in)
	case strategy.Stop:
		return e.take()
	}
	if e.started {
		e.estimateWhenDue()
		e.notice(view)
		e.advance(view)
	}
	return e.take()
}

func (e *Exchange) emit(o strategy.Output) { e.out = append(e.out, o) }

func (e *Exchange) take() []strategy.Output {
	out := e.out
	e.out = nil
	return out
}

func (e *Exchange) start(view strategy.View) {
	e.started, e.replaying = true, true
	e.barrier.Open(e.current.Number + 1)
	e.emit(strategy.SetTimer{Name: tickTimer, After: ticking})
	e.emit(strategy.SetTimer{Name: receivedTimer, After: presence.Interval})
	e.enter(view)
	e.greet()
	e.show()
}

func (e *Exchange) timer(view strategy.View, name string) {
	name, number, _ := strings.Cut(name, " ")
	switch name {
	case tickTimer:
		e.emit(strategy.SetTimer{Name: tickTimer, After: ticking})
		e.ticks++
		clear(e.answered)
		e.resting = false
		e.publishDisputes()
		e.look(view)
		e.ask()
	case receivedTimer:
		e.replaying = false
	case deadlineTimer:
		if number == strconv.Itoa(e.barrier.Number()) {
			e.barrier.Expire()
		}
	case turnTimer:
		if number == e.turnName() {
			e.passOver("sent nothing for " + turnTime.String())
		}
	}
}

// notice records which parties have announced that they leave, by their latest presence messages.
func (e *Exchange) notice(view strategy.View) {
	for share, word := range strategy.Shares[protocol.Presence](view) {
		if party := slices.Index(e.roster, share.Author); party >= 0 {
			e.left[party] = word.Leaving
		}
	}
}

// look updates whether the mediator is present.
func (e *Exchange) look(view strategy.View) {
	if e.mediator < 0 || e.mediator == e.self || e.replaying {
		return
	}
	alone := !presence.Of(view).Has(e.roster[e.mediator])
	if alone != e.alone {
		e.alone = alone
		e.show()
	}
}

// show puts the latest round into the view.
func (e *Exchange) show() {
	e.current.Alone = e.alone
	e.current.rewards = e.rewards()
	e.emit(strategy.Result{Value: e.current})
}

func (e *Exchange) warn(format string, args ...any) {
	e.emit(strategy.Warn{Message: fmt.Sprintf(format, args...)})
}
