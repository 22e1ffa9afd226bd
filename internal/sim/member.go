package sim

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/curves"
	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/recoverpanic"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// member drives one agent as a node does, but without a journal or network.
type member struct {
	Member
	run   *run
	index int
	task  *task.Task // the scenario's task, with the member's space
	key   crypto.PrivKey
	id    peer.ID
	agent *agent.Agent // nil until the member joins

	work     []agent.Work
	wake     time.Duration // time of the scheduled tick; negative: none
	asked    int
	ended    int
	running  int // number of requested trials that have not ended
	values   int // number of values by step that were reported
	progress int // evaluations of the budget that the model includes; with curves, values count
	watched  int // number of outcomes that Scenario.Watch has received
	result   MemberResult

	finished bool // the budget is used up
}

// keyOf returns the key of a member. The key determines only the member's ID, which must be the
// same in every run.
func keyOf(seed random.Seed, index int) (crypto.PrivKey, error) {
	key, _, err := crypto.GenerateEd25519Key(rand.NewChaCha8(seed.Derive("key", uint64(index))))
	return key, err
}

// Roster returns the IDs of the members of a scenario with this seed, for tasks with a roster.
func Roster(seed random.Seed, members int) ([]peer.ID, error) {
	ids := make([]peer.ID, members)
	for i := range ids {
		key, err := keyOf(seed, i)
		if err != nil {
			return nil, err
		}
		if ids[i], err = peer.IDFromPrivateKey(key); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

func newMember(r *run, index int) (*member, error) {
	key, err := keyOf(r.Seed, index)
	if err != nil {
		return nil, err
	}
	id, err := peer.IDFromPrivateKey(key)
	if err != nil {
		return nil, err
	}
	m := &member{Member: r.Members[index], run: r, index: index, task: r.TaskOf(index), key: key, id: id, wake: -1}
	m.Parallel = cmp.Or(m.Parallel, 1)
	if m.Strategy == nil {
		m.Strategy = r.strategy
		if m.Space != nil { // the strategy must search only the member's space
			if m.Strategy, err = r.newStrategy(m.task); err != nil {
				return nil, err
			}
		}
	}
	m.result.Recommended = map[int]task.Design{}
	if m.Evaluations == 0 {
		r.unfinished--
	}
	return m, nil
}

// interned is an exchange that decodes each share once, and shares the decoded value among all
// receivers.
type interned struct {
	strategy.Exchange
	run *run
}

func (i interned) Decode(payload []byte) (any, error) {
	s := i.run.delivering
	if s == nil || !bytes.Equal(payload, s.share.Payload) {
		return i.Exchange.Decode(payload)
	}
	if !s.decoded {
		s.value, s.err = i.Exchange.Decode(payload)
		s.decoded = true
	}
	return s.value, s.err
}

// MayAnnounce implements strategy.Announceable.
func (i interned) MayAnnounce() bool {
	e, ok := i.Exchange.(strategy.Announceable)
	return ok && e.MayAnnounce()
}

// join starts the agent and its evaluators.
func (m *member) join() {
	exchanges := slices.Clone(m.Exchanges)
	if exchanges == nil {
		var err error
		exchanges, err = recoverpanic.Call("the making of the exchanges", func() ([]strategy.Exchange, error) {
			return agent.NewExchanges(m.run.registration, strategy.Env{Task: m.task, Key: m.key, Entropy: m.entropy()})
		})
		if err != nil {
			m.fail(err)
			return
		}
	}
	for i, exchange := range exchanges {
		if m.Wrap != nil {
			exchange = m.Wrap(exchange)
		}
		exchanges[i] = interned{exchange, m.run}
	}
	var err error
	m.agent, err = agent.New(agent.Config{
		Task:       m.task,
		Strategies: m.run.Strategies,
		Key:        m.key,
		Seed:       m.run.Seed.Derive("member", uint64(m.index)),
		Enqueue:    m.Enqueue,
		Model:      m.run.Model,
		Strategy:   m.Strategy,
		Exchanges:  exchanges,
		Large:      m.run.largeTopic(),
	}, nil, m.run.clock())
	if err != nil {
		m.fail(err)
		return
	}
	if _, err := m.agent.Import(m.run.clock(), m.Past); err != nil {
		m.fail(err)
		return
	}
	m.agent.UseFormer(m.Former)
	m.carryOut()
	m.run.fetch(m.index)
	m.run.meet(m.index)
	// Existing shares of other members arrive before the first request for a design.
	m.run.schedule(m.run.now()+m.run.Network.Delay+m.run.Network.Jitter+1, func() {
		m.fill()
	})
}

// entropy returns a reproducible source of noise. Nodes must never use one: the seed reveals the
// noise.
func (m *member) entropy() io.Reader {
	return rand.NewChaCha8(m.run.Seed.Derive("entropy", uint64(m.index)))
}

func (m *member) fail(err error) {
	if m.run.failed != nil {
		return
	}
	m.run.failed = fmt.Errorf("member %d: %w", m.index, err)
	var p *recoverpanic.Panic
	if errors.As(err, &p) {
		m.run.failed = fmt.Errorf("%w\n%s", m.run.failed, p.Stack)
	}
}

// fill asks for as many trials as the member evaluates at the same time.
func (m *member) fill() {
	if m.InRounds && m.running > 0 {
		return
	}
	for m.running < m.Parallel && !m.spent(m.asked) {
		m.ask()
	}
}

// spent reports whether the budget is used up. trials is a number of trials; with curves, values count.
func (m *member) spent(trials int) bool {
	if m.Curve != nil {
		return m.values >= m.Evaluations*m.Steps
	}
	return trials >= m.Evaluations
}

func (m *member) ask() {
	m.asked++
	m.running++
	m.agent.Ask(m.run.clock(), uint64(m.asked))
	m.carryOut()
}

func (m *member) receive(share protocol.Share, age time.Duration, by agent.Source) {
	if _, err := m.agent.ReceiveBy(m.run.clock(), share, age, by); err != nil {
		m.fail(err)
		return
	}
	m.carryOut()
}

func (m *member) finish(t *computation) {
	m.result.Computing += t.took
	m.agent.Done(m.run.clock(), t.work.ID, t.result)
	m.carryOut()
}

// carryOut processes the outputs of the agent.
func (m *member) carryOut() {
	ready := m.agent.Ready()
	for _, share := range ready.Publish {
		m.publish(share)
	}
	for _, message := range ready.Send {
		m.send(message)
	}
	for _, author := range ready.Fetch {
		m.run.fetchAuthor(m, author)
	}
	for _, answer := range ready.Answers {
		if answer.Err != nil {
			m.fail(answer.Err)
			return
		}
		lasts := m.Duration
		if m.Lasts != nil {
			lasts = m.Lasts(answer.Trial.ID)
		}
		if m.Curve != nil {
			m.step(answer.Trial, m.Curve(answer.Trial.Design), lasts)
			continue
		}
		m.run.schedule(m.run.now()+lasts, func() { m.evaluate(answer.Trial) })
	}
	for _, e := range ready.Events {
		if e.Type == agent.Warning && e.Trial == nil { // a warning with a trial is about its outcome, so it comes from the objective
			if m.run.Warned != nil && e.Stack == "" {
				m.run.Warned(m.index, e.Message)
				continue
			}
			m.fail(errors.New(strings.TrimSpace("the agent warns: " + e.Message + "\n" + e.Stack)))
			return
		}
	}
	if len(m.work) == 0 && len(ready.Work) > 0 {
		m.run.waiting = append(m.run.waiting, m)
	}
	m.work = append(m.work, ready.Work...)
	m.observe()
	m.tickAt(ready.Wake)
}

func (m *member) publish(share protocol.Share) {
	if share.Kind != presence.Kind {
		if m.Forge != nil {
			share.Payload = m.Forge(share.Kind, share.Payload)
			forged, err := protocol.Seal(share, m.key)
			if err != nil {
				m.fail(fmt.Errorf("forge a share: %w", err))
				return
			}
			share = forged
		}
		m.result.Shares++
		m.result.Bytes += int64(len(share.Envelope))
	}
	m.run.publish(m.index, share)
}

// observe passes the view to Watch and stores the member's recommendation, once its model includes
// the latest outcome.
func (m *member) observe() {
	known, all := m.agent.Modelled()
	if !all || known == m.watched {
		return
	}
	before := m.progress
	m.watched = known
	if m.progress = known; m.Curve != nil {
		m.progress = min(m.values/m.Steps, m.Evaluations)
	}
	view := m.agent.View(m.run.clock())
	if m.run.Watch != nil {
		m.run.Watch(m.index, view)
	}
	due := slices.DeleteFunc(slices.Clone(m.run.Recommend), func(at int) bool { return at <= before || at > m.progress })
	if m.progress == m.Evaluations && len(m.run.Recommend) > 0 {
		due = append(due, m.progress)
	}
	if len(due) > 0 {
		recommended, err := m.agent.Recommend(m.run.ctx, view)
		if err != nil {
			m.fail(err)
			return
		}
		for _, at := range due {
			m.result.Recommended[at] = recommended
		}
	}
}

// tickAt schedules the next tick, unless an earlier one is already scheduled.
func (m *member) tickAt(wake time.Time) {
	if wake.IsZero() {
		return
	}
	at := wake.Sub(began)
	if m.wake >= m.run.now() && m.wake <= at {
		return
	}
	m.wake = at
	m.run.schedule(at, func() {
		m.wake = -1
		m.agent.Tick(m.run.clock())
		m.carryOut()
	})
}

// step schedules the reports of the values by step, and the end of the evaluation.
func (m *member) step(trial strategy.Trial, curve []curves.Step, lasts time.Duration) {
	begin, interval := m.run.now(), lasts/time.Duration(len(curve))
	var report func(i int)
	report = func(i int) {
		stop, err := m.agent.Report(m.run.clock(), trial.ID, curve[i:i+1])
		m.values++
		if err == nil && stop != nil {
			if err = m.agent.EndStopped(m.run.clock(), trial.ID, ""); err == nil {
				m.endTrial()
				return
			}
		}
		switch {
		case err != nil:
			m.fail(err)
		case i == len(curve)-1:
			m.evaluate(trial)
		default:
			m.carryOut()
			m.run.schedule(begin+time.Duration(i+2)*interval, func() { report(i + 1) })
		}
	}
	m.run.schedule(begin+interval, func() { report(0) })
}

func (m *member) evaluate(trial strategy.Trial) {
	outcome := strategy.Outcome{Value: m.Objective(trial.Design, trial.ID)}
	if m.Metrics != nil {
		outcome.Metrics = m.Metrics(trial.Design, trial.ID)
	}
	if m.Constraints != nil {
		outcome.Constraints = m.Constraints(trial.Design, trial.ID)
	}
	if err := m.agent.Tell(m.run.clock(), trial.ID, outcome); err != nil {
		m.fail(err)
		return
	}
	m.endTrial()
}

// endTrial counts an evaluation that has ended, and asks for further ones.
func (m *member) endTrial() {
	m.ended++
	m.running--
	if !m.finished && m.spent(m.ended) {
		m.finished = true
		m.run.unfinished--
	}
	m.carryOut()
	m.fill()
}

func (m *member) summary() MemberResult {
	if m.agent == nil {
		return m.result
	}
	m.result.Trials = m.agent.Trials()
	for _, trial := range m.result.Trials {
		if trial.Why.FromPeers() {
			m.result.PeerInformedTrials++
		}
	}
	return m.result
}
