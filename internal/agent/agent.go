package agent

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/recoverpanic"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Config holds the settings of an agent. They are local to the node: none of them changes the
// task's ID.
type Config struct {
	Task *task.Task
	Key  crypto.PrivKey // signs the agent's shares; Ed25519
	Seed random.Seed    // seed of all random decisions

	// Entropy is the source of differential-privacy noise. It must be the Reader of crypto/rand,
	// since the noise must not depend on Seed.
	Entropy io.Reader

	// Lease is the maximum running time of a trial after an Ask. A trial that runs longer fails.
	// Zero means no limit.
	Lease time.Duration

	// MaxAttempts is the maximum number of times that the evaluation of a trial begins, if stops of
	// the node interrupt it. Default 3.
	MaxAttempts int

	// PriorDesigns are designs that the user expects to be near-optimal. Only some strategies use
	// them; View contains them for every strategy.
	PriorDesigns []task.Design

	// MaxObservations is the maximum number of observations from which an exact model of one output
	// learns. Default strategy.DefaultMaxObservations.
	MaxObservations int

	// Capacity limits what the agent stores of peers' shares. SetCapacity changes it later.
	Capacity Capacity

	// Hold delays the first design of an agent without outcomes until Release, so that peers'
	// shares can arrive first. It has an effect only if the strategy uses shares for its first
	// design.
	Hold bool

	// Listed holds the only nodes that may participate, if the node's user restricts them. The
	// agent always has room for their shares and for those of the task's roster, whatever other
	// nodes publish.
	Listed []peer.ID

	// Reaches reports whether the agent can connect to an author. In a large topic it prefers the shares of these authors.
	// Nil means that it can connect to all. It must not call the agent.
	Reaches func(peer.ID) bool

	// Keep makes the agent a keeper: it evaluates nothing, publishes no shares of its own and is
	// not present. It receives, stores and forwards peers' shares.
	Keep bool

	// EstimateAlone is passed to the exchanges as strategy.Env.EstimateAlone.
	EstimateAlone bool

	// AfterEpoch is an epoch that the agent may have used before although its records do not
	// contain it. The agent opens a later one.
	AfterEpoch uint64

	// Unaccounted is the reason why the records may lack DP releases that the agent has made. If it
	// is not empty, an agent on a task with privacy makes no further releases.
	Unaccounted string

	// Enqueue holds designs to evaluate before the strategy chooses any, in this order, except
	// those that already have a trial. They replace starting designs and, if there are more of
	// them, later ones. New puts the task's default before them.
	Enqueue []task.Design

	// Model is the task's surrogate, which agents of one process may share. If it is nil, New makes
	// one.
	Model surrogate.Model

	shares     bool                // whether the task's strategy shares information
	disclosure strategy.Disclosure // the task's disclosure

	// Large has the limits of announce and fetch in large topics.
	Large LargeTopic

	// Strategies must contain the task's strategy. Required.
	Strategies strategy.Set

	// Strategy replaces the registered strategy, and Exchanges the result of NewExchanges. Both
	// must be new and used by this agent only. Nil means the registered ones. Replacements do not
	// match the task's ID and are for experiments only.
	Strategy  strategy.Strategy
	Exchanges []strategy.Exchange
}

func (c *Config) validate() error {
	if c.Task == nil {
		return errors.New("Config.Task is missing")
	}
	if c.Key == nil {
		return errors.New("Config.Key is missing")
	}
	if c.Key.Type() != crypto.Ed25519 {
		return fmt.Errorf("Config.Key is a %v key, expected Ed25519", c.Key.Type())
	}
	if c.Lease < 0 {
		return fmt.Errorf("Config.Lease is %v, expected 0 (no limit) and more", c.Lease)
	}
	if err := c.Strategies.Check(); err != nil {
		return fmt.Errorf("Config.Strategies: %w", err)
	}
	if c.MaxAttempts == 0 {
		c.MaxAttempts = 3
	}
	if c.MaxObservations == 0 {
		c.MaxObservations = strategy.DefaultMaxObservations
	}
	if c.MaxObservations < strategy.MinMaxObservations {
		return fmt.Errorf("Config.MaxObservations is %d, expected %d or more", c.MaxObservations, strategy.MinMaxObservations)
	}
	if err := c.Large.complete(); err != nil {
		return err
	}
	if c.MaxAttempts < 0 {
		return fmt.Errorf("Config.MaxAttempts is %d, expected 1 or more", c.MaxAttempts)
	}
	if l := c.Task.Space.Listing(); l.Absent() && !c.Keep {
		return fmt.Errorf("Config.Task was read without its table of %d designs, and this agent is to choose among them: read the task file beside its table, or only keep what others share", l.Len())
	}
	for i, design := range c.PriorDesigns {
		if err := c.Task.Space.Check(design); err != nil {
			return fmt.Errorf("Config.PriorDesigns, design %d: %w", i+1, err)
		}
	}
	if first := c.Task.About.Default; !first.IsZero() {
		c.Enqueue = append([]task.Design{first}, c.Enqueue...)
	}
	for i, design := range c.Enqueue {
		if err := c.Task.Space.Check(design); err != nil {
			return fmt.Errorf("Config.Enqueue, design %d: %w", i+1, err)
		}
	}
	return nil
}

// Named returns the nodes that the user has named: those of Listed and those of the task's roster,
// if it has one. The Task must be complete.
func (c Config) Named() []peer.ID { return slices.Concat(c.Listed, c.Task.Roster()) }

// complete creates the strategy, exchanges and surrogate if the configuration does not contain
// them.
func (c *Config) complete() (err error) {
	registration, err := c.Strategies.Of(c.Task)
	if err != nil {
		return err
	}
	c.shares, c.disclosure = registration.Shares(), registration.Disclosure(c.Task)
	if c.Strategy == nil {
		if c.Strategy, err = recoverpanic.Call("the making of the strategy", func() (strategy.Strategy, error) {
			return registration.NewStrategy(c.Task)
		}); err != nil {
			return err
		}
	}
	if c.Exchanges == nil {
		env := strategy.Env{Task: c.Task, Key: c.Key, Entropy: c.Entropy, Unaccounted: c.Unaccounted, EstimateAlone: c.EstimateAlone}
		if c.Exchanges, err = recoverpanic.Call("the making of the exchanges", func() ([]strategy.Exchange, error) {
			return NewExchanges(registration, env)
		}); err != nil {
			return err
		}
	}
	if c.Model == nil {
		c.Model, err = recoverpanic.Call("the making of the surrogate", func() (surrogate.Model, error) {
			return registration.Model(c.Task)
		})
	}
	return err
}

// Agent is the state machine of one agent; the package comment describes its use.
type Agent struct {
	cfg       Config
	id        cid.Cid
	self      peer.ID
	strategy  strategy.Strategy
	exchanges exchanges
	trials    trials
	replies   replies
	shares    shares
	evidence  evidence
	topic     announcing
	peers     contacts
	former    []FormerShare // shares of the task that this one continues
	models    []*model      // the objective's model is first
	learned   *Learned      // observations of the objective's model

	epoch    uint64
	sequence uint64

	asks       []uint64                      // requests without an answer, oldest first
	forecasts  map[uint64]*strategy.Forecast // forecasts of running trials, by trial ID; lost at a restart
	claims     map[uint64]Claim              // claims of requests from outside the process, by request
	suggesting bool                          // a Work is choosing a design
	failed     bool                          // the user was warned that the strategy failed
	wait       waiting
	offers     []uint64 // IDs of interrupted trials, which later Asks get before new ones are chosen
	born       time.Time
	held       bool // no design is chosen before Release, unless there is an outcome
	keeping    bool // the agent evaluates nothing
	doubled    bool // another running node is known to use the same key

	work     map[uint64]job
	lastWork uint64
	counts   Counts
	ready    Ready
}

// Counts holds the numbers of sent and accepted shares by kind, and the numbers of direct messages.
// Sent direct messages count whether or not they arrive.
type Counts struct {
	Sent                   map[string]int `json:"sent"`
	Received               map[string]int `json:"received"`
	DirectMessagesSent     int            `json:"direct_messages_sent"`
	DirectMessagesReceived int            `json:"direct_messages_received"`
}

// New starts an agent from the records of its earlier runs, in their order. It restores earlier
// decisions from the records and does not make them again.
func New(cfg Config, replay []Record, now time.Time) (*Agent, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	self, err := peer.IDFromPrivateKey(cfg.Key)
	if err != nil {
		return nil, fmt.Errorf("Config.Key: %w", err)
	}
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	exchanges, err := newExchanges(cfg.Exchanges)
	if err != nil {
		return nil, err
	}
	models, err := newModels(cfg.Task, cfg.Model, cfg.Strategy)
	if err != nil {
		return nil, err
	}
	a := &Agent{
		cfg:       cfg,
		id:        cfg.Task.ID(),
		self:      self,
		strategy:  cfg.Strategy,
		exchanges: exchanges,
		trials:    newTrials(cfg.Task),
		replies:   newReplies(),
		claims:    map[uint64]Claim{},
		forecasts: map[uint64]*strategy.Forecast{},
		shares:    newShares(self, cfg.Named()...),
		topic:     newAnnouncing(cfg.Seed, mayAnnounce(cfg.Strategy, exchanges.byName)),
		peers:     newContacts(),
		held:      cfg.Hold && follows(cfg.Strategy),
		born:      now,
		models:    models,
		work:      map[uint64]job{},
		counts:    Counts{Sent: map[string]int{}, Received: map[string]int{}},
	}
	a.shares.met = a.peers.met
	a.shares.room.Capacity = cfg.Capacity
	releases := 0
	if cfg.Task.Privacy != nil {
		releases = cfg.Task.Privacy.Releases
	}
	a.evidence = newEvidence(self, releases, a.peers.met)
	for i, record := range replay {
		if err := a.replay(record, now); err != nil {
			return nil, fmt.Errorf("journal record %d: %w", i+1, err)
		}
	}
	if err := a.trials.checkStops(); err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	a.start(now)
	return a, nil
}

func (a *Agent) replay(r Record, now time.Time) error {
	switch {
	case r.Task != nil:
		return a.sameTask(r.Task)
	case r.Epoch != nil:
		a.epoch = r.Epoch.Epoch
	case r.Fit != nil:
		return a.restoreFit(r.Fit)
	case r.Sent != nil:
		share, err := protocol.Open(r.Sent.Envelope)
		if err != nil {
			return err
		}
		if share.Author == a.self { // a new key makes a new author, which starts without shares
			a.shares.put(strategy.Share{Share: share}, now, max(0, now.Sub(r.Sent.Time)), Source{})
		}
	case r.Note != nil:
		a.step(now, r.Note.Exchange, strategy.Replayed{Data: r.Note.Data})
	default:
		return a.apply(r)
	}
	return nil
}

// start opens a new epoch and queues interrupted trials for the next Asks.
func (a *Agent) start(now time.Time) {
	a.record(Record{Task: &TaskRecord{File: a.cfg.Task.File()}})
	a.openEpoch(max(a.epoch, a.cfg.AfterEpoch) + 1)
	if a.cfg.Unaccounted != "" && a.cfg.Task.Privacy != nil && !a.cfg.Keep {
		a.warn("this node shares nothing more: %s", a.cfg.Unaccounted)
	}
	for id := range a.trials.leases { // clients could not send heartbeats while the node was stopped
		a.trials.renew(id, now)
	}
	for _, trial := range a.trials.interrupted() {
		if trial.Stop != nil { // the evaluation should not be repeated
			a.endStopped(now, trial.ID)
			continue
		}
		if trial.Attempts >= a.cfg.MaxAttempts && trial.State == strategy.Running {
			a.record(Record{Fail: &FailRecord{
				ID:     trial.ID,
				Reason: fmt.Sprintf("the node stopped %d times while it ran", trial.Attempts),
				Time:   now,
			}})
			a.announceEnd(trial.ID, false)
			continue
		}
		a.trials.cutOff(trial.ID)
		a.offers = append(a.offers, trial.ID)
	}
	a.trials.setAside()
	if a.keeping = a.cfg.Keep; a.keeping {
		return
	}
	for _, name := range a.exchanges.order {
		a.step(now, name, strategy.Start{})
	}
	a.pump(now)
}

func (a *Agent) openEpoch(epoch uint64) {
	a.epoch, a.sequence = epoch, 0
	a.record(Record{Epoch: &EpochRecord{Epoch: epoch}})
}

// record applies a record and adds it to Ready.Records. The agent creates only valid records, so an
// error is a bug and panics.
func (a *Agent) record(r Record) {
	if err := a.apply(r); err != nil {
		panic(fmt.Sprintf("agent: record %+v: %v", r, err))
	}
	a.ready.Records = append(a.ready.Records, r)
}

func (a *Agent) apply(r Record) error {
	if r.Reply != nil {
		return a.replies.apply(*r.Reply)
	}
	return a.trials.apply(r)
}

func (a *Agent) event(e Event) { a.ready.Events = append(a.ready.Events, e) }

func (a *Agent) warn(format string, args ...any) {
	a.event(Event{Type: Warning, Message: fmt.Sprintf(format, args...)})
}

// Ready returns the outputs since the last call and clears them.
func (a *Agent) Ready() Ready {
	ready := a.ready
	ready.Wake = earliest(a.trials.leaseEnd(a.cfg.Lease), a.trials.firstEnd(), a.exchanges.next(), a.waitEnd(), a.topic.choice.Next)
	a.ready = Ready{}
	return ready
}

// Tick reports that time has passed.
func (a *Agent) Tick(now time.Time) {
	for _, id := range a.trials.expired(now, a.cfg.Lease) {
		a.end(now, Record{Fail: &FailRecord{
			ID:     id,
			Reason: fmt.Sprintf("no outcome within the lease of %v", a.cfg.Lease),
			Time:   now,
		}}, id)
	}
	a.endLeases(now)
	a.measure(now)
	a.fetchDue(now)
	for _, timer := range a.exchanges.due(now) {
		a.step(now, timer.exchange, strategy.Timer{Name: timer.name})
	}
	if end := a.waitEnd(); !end.IsZero() && !end.After(now) {
		a.waitTimedOut(fmt.Sprintf("nothing came for %v", now.Sub(a.wait.since)))
	}
	a.pump(now)
}

// Joined reports a new connection to a peer of the task. The group is that of Source.Group; the
// latest call for a peer determines its group.
func (a *Agent) Joined(id peer.ID, group string) {
	news := a.peers.note(id)
	a.shares.noteContact(id, group)
	if news {
		_, known := a.evidence.receipts[id]
		a.ready.PeerShares = a.ready.PeerShares || known || len(a.shares.of(id)) > 0
		a.peers.forget(&a.shares, &a.evidence)
	}
}

// Direct passes a direct message from a peer to an exchange.
func (a *Agent) Direct(now time.Time, from peer.ID, exchange string, data []byte) {
	if a.exchanges.byName[exchange] != nil && !a.keeping {
		a.counts.DirectMessagesReceived++
	}
	a.step(now, exchange, strategy.Direct{From: from, Data: data})
	a.pump(now)
}

// Stop prepares a clean end. It returns the trials that run in this process, so that the next start
// offers them again and their attempts do not count. It also lets the exchanges announce to peers
// that the agent leaves.
func (a *Agent) Stop(now time.Time) {
	for _, trial := range a.trials.snapshot() {
		if _, held := a.trials.leases[trial.ID]; !held && trial.State == strategy.Running {
			a.record(Record{Return: &ReturnRecord{ID: trial.ID}})
		}
	}
	a.stepAll(now, strategy.Stop{})
}

func (a *Agent) stepAll(now time.Time, in strategy.Input) {
	for _, name := range a.exchanges.order {
		a.step(now, name, in)
	}
	a.pump(now)
}

// pump starts all computations that have become possible.
func (a *Agent) pump(now time.Time) {
	if a.keeping {
		a.refuse()
		return
	}
	a.catchUp()
	if a.caughtUp() {
		a.startExchangeWork(now)
		a.suggest(now)
	}
}

func earliest(times ...time.Time) time.Time {
	times = slices.DeleteFunc(times, time.Time.IsZero)
	if len(times) == 0 {
		return time.Time{}
	}
	return slices.MinFunc(times, time.Time.Compare)
}

func (a *Agent) view(now time.Time) strategy.View {
	return strategy.View{
		Task:            a.cfg.Task,
		Self:            a.self,
		Trials:          a.trials.snapshot(),
		SetAside:        a.trials.aside,
		Observations:    a.trials.done,
		Posterior:       a.objective().posterior,
		Objectives:      a.objectives(),
		Constraints:     a.constraints(),
		Completion:      a.completion(),
		Cost:            a.cost(),
		Shares:          a.peerShares(now),
		Own:             a.shares.own(now),
		Results:         a.exchanges.results,
		MaxObservations: a.cfg.MaxObservations,
		PriorDesigns:    a.cfg.PriorDesigns,
		Large:           a.topic.large,
	}
}
