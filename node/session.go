package node

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/invitation"
	"github.com/fbo-node/fbo/internal/journal"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/ratelimitlog"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// JoinOptions are a node's own choices about a task.
type JoinOptions struct {
	// Seed of the decisions that are left to chance; default: random at every
	// join.
	Seed *uint64

	// Lease is how long an asked trial may run before it fails; default: for
	// ever. Evaluations by Run have their own timeout.
	Lease time.Duration

	// PriorDesigns are designs that the user expects to be near-optimal, for
	// strategies that use them: constrained-gp and density.
	PriorDesigns []task.Design

	// Wait is how long the first design of a node without outcomes waits, at most, for
	// what the peers know that are there, where the task's strategy makes use of it
	// then. It waits no longer than it takes them to tell,
	// or to find out that nobody is there, and no longer than a tenth of an
	// evaluation once one has ended. Default: DefaultWait; negative: not at all.
	Wait time.Duration

	// Keep makes a member that evaluates nothing: it takes, keeps and passes on
	// what others share, and is not present. Session.Keep does so later.
	Keep bool

	// Enqueue are designs to evaluate before any other, such as today's settings, in
	// this order; any strategy. Each is evaluated once: those that a trial of an
	// earlier run or an imported one has had are left out. They count as evaluations
	// and take the places of starting designs.
	Enqueue []task.Design

	// Invitation closes the task: the node speaks of it only with nodes that prove to
	// have the same invitation, and tells others no ID. The node's directory keeps it,
	// and Join without one takes the one that is kept. Default: that, or an open task.
	// ReadInvitation reads it from a file.
	Invitation *Invitation

	// Importing is set where the caller imports past trials next. The node then does not warn of
	// previous tasks of the same name.
	Importing bool

	// OnEvent is told what happens, in order; warnings go to the node's
	// OnWarning. It must not block, nor call the session.
	OnEvent func(Event)

	// OnFailure is called when the session ends by itself, since its journal cannot be
	// written, with the error that all later calls of the session return. It must not
	// block, nor call the session. Default: the node's OnWarning gets the text.
	OnFailure func(error)
}

// Session is a node's part in one task. Its methods may be called from any
// goroutine.
type Session struct {
	node          *Node
	task          *task.Task
	id            string
	keys          *invitation.Keys // nil: the task is open
	called        cid.Cid          // what the topic and streams are named by: the ID, or the tag
	rendezvous    cid.Cid          // what hubs are asked for
	options       JoinOptions
	log           *journal.Log
	topic         *topic
	logger        *slog.Logger
	metrics       *taskMetrics
	works         *backgroundWork
	warned        *ratelimitlog.Limit // what the agent warns of
	previousTasks []PreviousTask      // tasks of the same name, when this one had no trials at the join

	calls   chan call
	results chan result
	closing chan struct{} // closed by Close
	ended   chan struct{} // closed when the loop has ended
	failure error         // why it ended; read after ended
	close   sync.Once

	wait time.Duration // how long the first design may be held back; zero: it is not

	// Owned by the loop.
	agent   *agent.Agent
	memory  *shareCache
	waiting map[uint64]chan agent.Answer
	asked   uint64
	awaited []waiter
}

func newSession(ctx context.Context, n *Node, t *task.Task, options JoinOptions) (*Session, error) {
	s := &Session{
		node:    n,
		task:    t,
		id:      t.ID().String(),
		options: options,
		calls:   make(chan call),
		results: make(chan result),
		closing: make(chan struct{}),
		ended:   make(chan struct{}),
		waiting: map[uint64]chan agent.Answer{},
		works:   newBackgroundWork(),
		warned:  ratelimitlog.NewLimit(),
	}
	s.logger = n.log.With("task", shortTask(s.id))
	s.memory = newShareCache(n, s.id)
	replay, err := s.openLog()
	if err != nil {
		return nil, err
	}
	if err := s.enter(len(replay) > 0); err != nil {
		return nil, err
	}
	config := agent.Config{
		Task:            t,
		Hold:            options.Wait >= 0 && !options.Keep,
		Keep:            options.Keep,
		EstimateAlone:   true,
		Key:             n.key,
		Seed:            seedOf(options.Seed),
		Lease:           options.Lease,
		PriorDesigns:    options.PriorDesigns,
		Enqueue:         options.Enqueue,
		Listed:          n.Allow,
		MaxObservations: n.MaxObservations,
		Strategies:      n.strategies,
		Exchanges:       n.exchangesOf(t),
		Entropy:         rand.Reader,
	}
	n.named.add(config.Named()...)
	if n.repaired != nil {
		config.AfterEpoch, config.Unaccounted = n.repaired.AfterEpoch, n.repaired.unaccounted()
	}
	if n.alter != nil {
		n.alter(&config)
	}
	if s.agent, err = agent.New(config, replay, time.Now()); err != nil {
		s.logPanic(err)
		return nil, fmt.Errorf("task %q: %w", t.Name, err)
	}
	s.restoreShares()
	if s.agent.Held() {
		s.wait = max(options.wait(s.agent.EvaluationTime()), 1)
	}
	s.metrics = newTaskMetrics(s)
	if s.topic, err = joinTopic(ctx, s); err != nil {
		s.metrics.close()
		return nil, err
	}
	if err := s.metrics.start(); err != nil {
		s.metrics.close()
		s.topic.cancel()
		s.topic.leave()
		return nil, err
	}
	n.names[s.id] = t.Name
	if !options.Keep && len(s.agent.Trials()) == 0 {
		s.previousTasks = n.previousTasksOf(t)
	}
	if len(s.previousTasks) > 0 && !options.Importing {
		n.warn(previousTaskText(t, s.previousTasks))
	}
	s.logger.Info("task joined", "name", t.Name, "id", s.id, "epoch", s.agent.Epoch())
	n.background(s.loop)
	s.topic.start()
	return s, nil
}

func (s *Session) openLog() ([]agent.Record, error) {
	log, err := s.node.journal.Log(s.id)
	if err != nil {
		return nil, err
	}
	s.log = log
	return readLog(log)
}

func seedOf(n *uint64) random.Seed {
	if n != nil {
		return random.SeedOf(*n)
	}
	return random.New()
}

// Ask returns the next trial to evaluate, waiting until there is one. A trial
// that a stop of the node cut off comes before a new one. Whoever asked must
// Tell or Fail the trial.
func (s *Session) Ask(ctx context.Context) (strategy.Trial, error) {
	return s.ask(ctx, Claim{})
}

// ask is for a client or, with the zero claim, for this process.
func (s *Session) ask(ctx context.Context, claim Claim) (strategy.Trial, error) {
	asked := time.Now()
	answer := make(chan agent.Answer, 1)
	var request uint64
	var refused error
	if err := s.do(ctx, func(now time.Time) {
		s.asked++
		request = s.asked
		s.waiting[request] = answer
		if claim == (Claim{}) {
			s.agent.Ask(now, request)
		} else if refused = s.agent.AskFor(now, request, claim); refused != nil {
			delete(s.waiting, request)
		}
	}); err != nil || refused != nil {
		return strategy.Trial{}, errors.Join(err, refused)
	}
	select {
	case a := <-answer:
		if a.Err == nil {
			s.metrics.suggested(time.Since(asked))
		}
		return a.Trial, a.Err
	case <-s.ended:
		return strategy.Trial{}, s.failure
	case <-ctx.Done():
		return strategy.Trial{}, errors.Join(ctx.Err(), s.withdraw(request, answer, claim))
	}
}

// withdraw takes back a request; a trial that has answered it is handed back, unless a
// client has it.
func (s *Session) withdraw(request uint64, answer chan agent.Answer, claim Claim) error {
	var err error
	if ended := s.do(context.Background(), func(now time.Time) {
		s.agent.Cancel(request)
		delete(s.waiting, request)
		select {
		case a := <-answer:
			if a.Err == nil && claim == (Claim{}) {
				err = s.agent.Requeue(now, a.Trial.ID)
			}
		default:
		}
	}); ended != nil {
		return nil // the end of the session hands back what runs
	}
	return err
}

// Tell reports the value that a trial's evaluation measured. When it returns nil, the value is on
// disk, even if the context has ended meanwhile. When it returns the context's error, nothing has
// been recorded. Telling the same again is no error. Other errors:
// ErrUnknownTrial, ErrFinished, ErrBadOutcome; then nothing
// has changed.
func (s *Session) Tell(ctx context.Context, trial uint64, value float64) error {
	return s.TellOutcome(ctx, trial, strategy.Outcome{Value: value})
}

// TellOutcome is Tell with the values of constraints.
func (s *Session) TellOutcome(ctx context.Context, trial uint64, outcome strategy.Outcome) (err error) {
	return errors.Join(s.do(ctx, func(now time.Time) { err = s.agent.Tell(now, trial, outcome) }), err)
}

// Fail reports that a trial's evaluation gave no value, and why. The design is
// not proposed again, and no model of the objective learns from it. Failing twice is no
// error.
func (s *Session) Fail(ctx context.Context, trial uint64, reason string) (err error) {
	return errors.Join(s.do(ctx, func(now time.Time) { err = s.agent.Fail(now, trial, reason) }), err)
}

// expectsFailure reports whether the node's model expects a design to fail.
func (s *Session) expectsFailure(ctx context.Context, design task.Design) (expected bool, err error) {
	err = s.do(ctx, func(time.Time) { expected = s.agent.ExpectsFailure(design) })
	return expected, err
}

// Import adds evaluations that were made before or elsewhere and returns how
// many of them were new.
func (s *Session) Import(ctx context.Context, past []Past) (added int, err error) {
	stopped := s.do(ctx, func(now time.Time) { added, err = s.agent.Import(now, past) })
	return added, errors.Join(stopped, err)
}

// Requeue hands back a running trial that was not evaluated to its end; the next
// Ask offers it again, and it does not count as an attempt.
func (s *Session) Requeue(ctx context.Context, trial uint64) (err error) {
	return errors.Join(s.do(ctx, func(now time.Time) { err = s.agent.Requeue(now, trial) }), err)
}

// Settle waits until what the outcomes teach has been worked out and handed to
// gossip, and until what was sent to single peers that are connected has reached them. A
// node that closes at once after its last outcome does not share it.
func (s *Session) Settle(ctx context.Context) error {
	if err := s.await(ctx, func() bool { return s.agent.Settled() }); err != nil {
		return err
	}
	look := time.NewTicker(settleInterval)
	defer look.Stop()
	for s.topic.direct.isBusy() {
		select {
		case <-look.C:
		case <-s.ended:
			return s.failure
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// settleInterval is how often Settle looks whether messages are on their way.
const settleInterval = 20 * time.Millisecond

// Keep ends the node's own part in the task for this session: what runs is handed
// back, peers are told goodbye, and Ask fails with ErrKeeping. From then on the node
// takes, keeps and passes on what others share, and what it has shared itself.
func (s *Session) Keep(ctx context.Context) error {
	return s.do(ctx, func(now time.Time) { s.agent.Keep(now) })
}

// receive gives the agent a verified share that a peer has passed on, and tells whether to
// pass it on further.
func (s *Session) receive(ctx context.Context, share protocol.Share, age time.Duration, from peer.ID) (result agent.ShareResult, passOn bool, err error) {
	if s.node.lose != nil && s.node.lose() {
		return agent.Stale, false, nil
	}
	by := agent.Source{Group: groupOf(s.node.host.Network(), from), Named: s.node.named.has(from)}
	stopped := s.do(ctx, func(now time.Time) {
		result, err = s.agent.ReceiveBy(now, share, age, by)
		passOn = (result == agent.Accepted || result == agent.Duplicate) && s.agent.Relays(share.Author)
	})
	if stopped != nil {
		return agent.Stale, false, stopped
	}
	s.metrics.shareReceived(share.Kind, result)
	return result, passOn, err
}

func (s *Session) joined(ctx context.Context, id peer.ID) error {
	group := groupOf(s.node.host.Network(), id)
	return s.do(ctx, func(time.Time) { s.agent.Joined(id, group) })
}

// Close leaves the task: running trials, but for those of clients outside of the process,
// are handed back to be offered at the next start, the peers are told, everything is on disk. It may be called more
// than once.
//
// A choice of a design or a fit that runs is told to end by its context. One that does
// not end within three seconds is left to itself, with a warning; its result is dropped
// and touches nothing.
func (s *Session) Close() error {
	s.close.Do(func() {
		closing := time.Now()
		s.works.cancel()
		s.metrics.close()
		close(s.closing)
		<-s.ended
		s.topic.close()
		for _, name := range s.works.end(time.Until(closing.Add(slowWork))) {
			s.node.warn(fmt.Sprintf("task %q is left without waiting for %s, which did not end when it was told to", s.task.Name, name))
		}
		s.node.forget(s.id)
		for shape, left := range s.warned.Left() {
			s.logger.Warn("warnings were left out", "like", shape, "left_out", left)
		}
		s.logger.Info("task left")
	})
	if errors.Is(s.failure, ErrClosed) {
		return nil
	}
	return s.failure
}
