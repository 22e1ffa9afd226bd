package node

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/clientsession"
	"github.com/fbo-node/fbo/internal/invitation"
	"github.com/fbo-node/fbo/internal/journal"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/ratelimitlog"
	"github.com/fbo-node/fbo/internal/store"
	"github.com/fbo-node/fbo/node/internal/hub"
	"github.com/fbo-node/fbo/node/internal/wire"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// JoinOptions are a node's own choices for a task.
type JoinOptions struct {
	// Seed makes the random decisions repeatable. Nil means a random seed at every join.
	Seed *uint64

	// Lease is the maximum duration of a trial from Ask; a longer one fails. Zero means no limit.
	// Evaluations by Run have RunOptions.TrialTimeout instead.
	Lease time.Duration

	// PriorDesigns are designs that the user expects to be near-optimal, for
	// strategies that use them: constrained-gp and density.
	PriorDesigns []task.Design

	// Wait is the maximum time for which a node without outcomes delays its first design to wait
	// for the shares of connected peers. It applies only if the task's strategy uses shares for the
	// first design. The wait ends once these peers have sent their shares, or if no peer has
	// appeared for a while. Once an evaluation has ended, the wait is at most a tenth of its
	// duration. Zero means DefaultWait; a negative value means no wait.
	Wait time.Duration

	// Keep makes the node a keeper of the task: it evaluates nothing, and receives, stores and
	// forwards the shares of others. It does not count as present. Session.Keep does the same
	// later.
	Keep bool

	// Enqueue holds designs to evaluate before all others, in this order, such as today's settings.
	// Every strategy accepts them. Each is evaluated once: designs of earlier or imported trials
	// are left out. They count as evaluations and take the places of starting designs.
	Enqueue []task.Design

	// Invitation closes the task: the node exchanges its messages only with nodes that prove the
	// same invitation, and discloses the task's ID to no others. The data directory stores the
	// invitation, and Join without one uses the stored one. Without either the task is open.
	// ReadInvitation reads an invitation from a file.
	Invitation *Invitation

	// Hubs and Peers hold addresses in addition to those of the node, for this task only. JoinAddresses
	// returns those of a string.
	Hubs, Peers []string

	// Importing announces that the caller imports past trials next. The node then does not warn of
	// previous tasks of the same name.
	Importing bool

	// OnEvent receives the events of the session, in order. Warnings go to the node's OnWarning
	// instead. OnEvent must neither block nor call the session.
	OnEvent func(Event)

	// OnFailure is called when the session ends because its journal cannot be written. Its argument
	// is the error that all later calls of the session return. It must neither block nor call the
	// session. If it is nil, the node's OnWarning receives the text.
	OnFailure func(error)
}

// Session is a node's part in one task. Its methods may be called from any goroutine.
type Session struct {
	node          *Node
	task          *task.Task
	id            string
	keys          *invitation.Keys // nil if the task is open
	hubs          []*hub.Link      // of the node and of the options
	release       func()           // ends the use of the peers and hubs of the options
	options       JoinOptions
	log           *journal.Log
	topic         *wire.Topic
	logger        *slog.Logger
	metrics       *taskMetrics
	works         *backgroundWork
	warned        *ratelimitlog.Limit // limits the rate of the agent's warnings
	continued     *Continued          // what is used of the former task; nil if the task continues none that is known
	previousTasks []PreviousTask      // tasks of the same name with trials, if this task had none at the join

	calls   chan call
	results chan result
	closing chan struct{} // Close closes it
	ended   chan struct{} // closed when the loop has ended
	failure error         // why the loop ended; read only after ended is closed
	close   sync.Once

	wait time.Duration // maximum delay of the first design; zero: no delay

	// Owned by the loop.
	agent   *agent.Agent
	memory  *store.ShareCache
	budget  agent.Budget // of the present Run
	waiting map[uint64]chan agent.Answer
	asked   uint64
	awaited []waiter
}

func newSession(ctx context.Context, n *Node, t *task.Task, options JoinOptions) (_ *Session, err error) {
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
	s.memory = n.store.ShareCache(s.id)
	log, replay, err := n.store.OpenLog(s.id)
	if err != nil {
		return nil, err
	}
	s.log = log
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
		Capacity:        n.capacity(),
		Strategies:      n.strategies,
		Entropy:         rand.Reader,
		Reaches:         func(author peer.ID) bool { return s.topic == nil || s.topic.Reaches(author) },
	}
	n.policy.Name(config.Named()...)
	n.store.ApplyRepair(&config)
	if s.agent, err = n.parts.newAgent(config, replay, time.Now()); err != nil {
		s.logPanic(err)
		return nil, fmt.Errorf("task %q: %w", t.Name, err)
	}
	s.restoreShares()
	if err := s.continueFormer(time.Now()); err != nil {
		return nil, err
	}
	if s.agent.Held() {
		s.wait = max(options.wait(s.agent.EvaluationTime()), 1)
	}
	if err := s.connect(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.release()
		}
	}()
	s.metrics = newTaskMetrics(s)
	s.topic, err = n.network.Join(ctx, wire.TopicConfig{
		Task: t, Keys: s.keys, Hubs: s.hubs, Wait: s.wait, Log: s.logger,
		Exchanges: s.agent.Kinds(), Store: n.store, Metrics: s.metrics,
		Do: s.doWithAgent, Receive: n.parts.receive,
	})
	if err != nil {
		s.metrics.close()
		return nil, err
	}
	if err := s.metrics.start(); err != nil {
		s.metrics.close()
		s.topic.Leave()
		return nil, err
	}
	n.store.SetName(s.id, t.Name)
	if !options.Keep && !t.Continues.Defined() && len(s.agent.Trials()) == 0 {
		s.previousTasks = n.previousTasksOf(t)
	}
	if len(s.previousTasks) > 0 && !options.Importing {
		n.warn(previousTaskText(t, s.previousTasks))
	}
	s.logger.Info("task joined", "name", t.Name, "id", s.id, "epoch", s.agent.Epoch())
	n.background(s.loop)
	s.topic.Start()
	return s, nil
}

// connect connects the node to the hubs and peers of the options.
func (s *Session) connect() error {
	hubs, named, err := s.node.parseContacts("JoinOptions.Peers", s.options.Hubs, s.options.Peers)
	if err != nil {
		return fmt.Errorf("task %q: %w", s.task.Name, err)
	}
	own, release, err := s.node.contacts.retain(hubs, named)
	s.hubs, s.release = allLinks(s.node.hubs, own), release
	return err
}

func seedOf(n *uint64) random.Seed {
	if n != nil {
		return random.SeedOf(*n)
	}
	return random.New()
}

// Ask waits for the next trial to evaluate and returns it. Trials that a stop of the node
// interrupted come first. The caller must call Tell, Fail or Requeue for the trial.
func (s *Session) Ask(ctx context.Context) (strategy.Trial, error) {
	return s.ask(ctx, agent.Claim{})
}

// ask asks for a trial for the client of the claim. A zero claim asks for this process.
func (s *Session) ask(ctx context.Context, claim agent.Claim) (strategy.Trial, error) {
	asked := time.Now()
	answer := make(chan agent.Answer, 1)
	var request uint64
	var refused error
	if err := s.do(ctx, func(now time.Time) {
		s.asked++
		request = s.asked
		s.waiting[request] = answer
		if claim == (agent.Claim{}) {
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

// withdraw cancels a request. If the request already has a trial, the trial is requeued, unless a
// client has asked for it.
func (s *Session) withdraw(request uint64, answer chan agent.Answer, claim agent.Claim) error {
	var err error
	if ended := s.do(context.Background(), func(now time.Time) {
		s.agent.Cancel(request)
		delete(s.waiting, request)
		select {
		case a := <-answer:
			if a.Err == nil && claim == (agent.Claim{}) {
				err = s.agent.Requeue(now, a.Trial.ID)
			}
		default:
		}
	}); ended != nil {
		return nil // the end of the session requeues running trials
	}
	return err
}

// Tell reports the value that a trial's evaluation measured. A second call with the same value is
// no error.
//
// When Tell returns nil, the value is on disk, even if the context has ended meanwhile. After the
// context's error, ErrUnknownTrial, ErrFinished or ErrBadOutcome nothing has been recorded.
func (s *Session) Tell(ctx context.Context, trial uint64, value float64) error {
	return s.TellOutcome(ctx, trial, strategy.Outcome{Value: value})
}

// TellOutcome is Tell for an outcome with values of constraints or metrics, or with the cost or
// annotations of the trial. After ErrBadCost or ErrBadAnnotation nothing has been recorded either.
func (s *Session) TellOutcome(ctx context.Context, trial uint64, outcome strategy.Outcome) (err error) {
	return errors.Join(s.do(ctx, func(now time.Time) { err = s.agent.Tell(now, trial, outcome) }), err)
}

// Fail reports that a trial's evaluation failed, and the reason. The design is not proposed again,
// and no model of the objective learns from it. A second call is no error.
func (s *Session) Fail(ctx context.Context, trial uint64, reason string) (err error) {
	return errors.Join(s.do(ctx, func(now time.Time) { err = s.agent.Fail(now, trial, reason) }), err)
}

// Report stores values of the objective at steps of a trial's evaluation, such as the validation
// error after an epoch. It returns the decision of the task's rule (task.Stopping) to stop the
// evaluation, or nil if it should continue. Then the caller ends the trial with EndStopped. Reports
// can be repeated. When the error is nil, the values are on disk. Errors: ErrUnknownTrial,
// ErrFinished, ErrBadStep, ErrBadCost; after ErrBadStep the values before the wrong one are stored, after
// ErrBadCost all values.
func (s *Session) Report(ctx context.Context, trial uint64, steps ...Step) (stop *Stop, err error) {
	stopped := s.do(ctx, func(now time.Time) { stop, err = s.agent.Report(now, trial, steps) })
	return stop, errors.Join(stopped, err)
}

// ReportCost reports what the evaluation of a trial in any state has cost so far, in a unit of the
// caller's, such as seconds. The largest reported cost of a trial counts, and peers never receive it.
// Outcome.Cost and Step.Cost report it too. Errors: ErrUnknownTrial, ErrBadCost.
func (s *Session) ReportCost(ctx context.Context, trial uint64, cost float64) (err error) {
	return errors.Join(s.do(ctx, func(time.Time) { err = s.agent.ReportCost(trial, &cost) }), err)
}

// EndStopped ends a trial whose evaluation was stopped early. Its values by step are evidence for the
// model, but it has no outcome, unless it was stopped by patience: then its last value is the outcome.
// The reason is used if the program itself decided to stop. A second call is no error. Errors:
// ErrUnknownTrial, ErrFinished, ErrNoSteps.
func (s *Session) EndStopped(ctx context.Context, trial uint64, reason string) (err error) {
	return errors.Join(s.do(ctx, func(now time.Time) { err = s.agent.EndStopped(now, trial, reason) }), err)
}

// Annotate changes what a trial in any state keeps for its user: texts by name, tags, files and
// notes. Peers never receive them. When Annotate returns nil, the change is on disk. Errors:
// ErrUnknownTrial, ErrBadAnnotation.
func (s *Session) Annotate(ctx context.Context, trial uint64, change strategy.AnnotationChange) (err error) {
	return errors.Join(s.do(ctx, func(now time.Time) { err = s.agent.Annotate(now, trial, change) }), err)
}

// Clients returns the session for clients in other processes, such as those of a trial server.
func (s *Session) Clients() *ClientSession { return clientsession.New(s.doWithAgent, s.ask) }

// doWithAgent calls a function with the agent, as do does.
func (s *Session) doWithAgent(ctx context.Context, run func(a *agent.Agent, now time.Time)) error {
	return s.do(ctx, func(now time.Time) { run(s.agent, now) })
}

// expectsFailure reports whether the node's model predicts that a design fails.
func (s *Session) expectsFailure(ctx context.Context, design task.Design) (expected bool, err error) {
	err = s.do(ctx, func(time.Time) { expected = s.agent.ExpectsFailure(design) })
	return expected, err
}

// Import adds evaluations that were made before this task or by another program. It returns the
// number of those that were new.
func (s *Session) Import(ctx context.Context, past []Past) (added int, err error) {
	stopped := s.do(ctx, func(now time.Time) { added, err = s.agent.Import(now, past) })
	return added, errors.Join(stopped, err)
}

// Requeue returns a running trial whose evaluation was interrupted. The next Ask returns it again,
// and it does not count as an attempt.
func (s *Session) Requeue(ctx context.Context, trial uint64) (err error) {
	return errors.Join(s.do(ctx, func(now time.Time) { err = s.agent.Requeue(now, trial) }), err)
}

// Settle waits until all shares of the recorded outcomes are computed and passed to gossipsub, and
// all direct messages to connected peers are delivered. Without Settle, a node that closes right
// after its last outcome does not share it.
func (s *Session) Settle(ctx context.Context) error {
	if err := s.await(ctx, func() bool { return s.agent.Settled() }); err != nil {
		return err
	}
	look := time.NewTicker(settleInterval)
	defer look.Stop()
	for s.topic.Sending() {
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

// settleInterval is the interval at which Settle checks for pending direct messages.
const settleInterval = 20 * time.Millisecond

// Keep ends the node's own evaluations for this session: running trials are requeued, peers receive
// a goodbye, and Ask fails with ErrKeeping. From then on the node receives, stores and forwards the
// shares of others and its own earlier ones.
func (s *Session) Keep(ctx context.Context) error {
	return s.do(ctx, func(now time.Time) { s.agent.Keep(now) })
}

// Close leaves the task. It requeues running trials for the next start, except those of clients in
// other processes, sends a goodbye to the peers, and writes all records. It may be called more than
// once.
//
// Close cancels the computations of designs and fits that still run. It waits at most three seconds
// for them, then warns; their results are dropped.
func (s *Session) Close() error {
	s.close.Do(func() {
		closing := time.Now()
		s.works.cancel()
		s.metrics.close()
		close(s.closing)
		<-s.ended
		s.topic.Close()
		for _, name := range s.works.end(time.Until(closing.Add(slowWork))) {
			s.node.warn(fmt.Sprintf("task %q is left without waiting for %s, which did not end when it was stopped", s.task.Name, name))
		}
		s.release()
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
