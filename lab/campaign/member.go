package campaign

import (
	"context"
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
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/sharecache"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// member drives one agent as a node does, with its disk and the evaluations of its user.
type member struct {
	w       *world
	number  int
	key     crypto.PrivKey
	id      peer.ID
	seed    random.Seed
	entropy io.Reader
	disk    *disk

	agent   *agent.Agent // nil while the member is down
	life    int          // number of starts; what an earlier life has scheduled is dropped
	offset  time.Duration
	back    time.Duration // jumps back that the next start applies
	wake    time.Duration // time of the scheduled tick
	waking  bool
	caching bool // a write of the cache is scheduled

	appends int     // number of appends in all lives
	crashes []Fault // crashes at an append
	damages []Fault // damages of the cache at the next start
	damaged bool    // an earlier start has found the cache damaged
	full    time.Duration

	requests uint64
	asking   bool // an Ask has no answer yet
	client   *client
}

// maxClock limits a member's clock to the dates that journals can store.
const maxClock = 1000 * 24 * time.Hour

func newMember(w *world, number int, key crypto.PrivKey, dir string) (*member, error) {
	id, err := peer.IDFromPrivateKey(key)
	if err != nil {
		return nil, err
	}
	d, err := newDisk(dir, w.task.ID().String(), w.Break == ForgetAppends)
	if err != nil {
		return nil, err
	}
	seed := random.SeedOf(w.Seed).Derive("member", uint64(number))
	m := &member{w: w, number: number, key: key, id: id, seed: seed, disk: d, entropy: rand.NewChaCha8(seed.Derive("entropy", 0))}
	if number%2 == 1 {
		m.client = &client{member: m}
	}
	return m, nil
}

func (m *member) String() string { return fmt.Sprintf("member %d", m.number) }

// clock returns the time that the member's clock shows.
func (m *member) clock() time.Time { return epochStart.Add(m.w.now() + m.offset) }

func (m *member) up() bool { return m.agent != nil }

// later schedules do in this life of the member.
func (m *member) later(pause time.Duration, do func() error) {
	life := m.life
	m.w.after(pause, func() error {
		if m.life != life || !m.up() {
			return nil
		}
		return do()
	})
}

// start starts the agent from the disk.
func (m *member) start() error {
	if m.up() {
		return nil
	}
	m.life++
	m.w.result.Starts++
	m.offset, m.back = m.offset+m.back, 0
	m.waking, m.caching, m.asking = false, false, false
	records, err := m.disk.open()
	if err != nil {
		m.w.fail("%v: the journal cannot be read at start %d: %v", m, m.life, err)
		return nil
	}
	m.agent, err = agent.New(agent.Config{
		Task: m.w.task, Strategies: m.w.strategies, Key: m.key, Seed: m.seed, Entropy: m.entropy, Model: m.w.model,
	}, records, m.clock())
	if err != nil {
		m.w.fail("%v: start %d: %v", m, m.life, err)
		return nil
	}
	m.w.logf("%v starts, epoch %d, clock %v", m, m.agent.Epoch(), m.offset)
	if err := m.restore(); err != nil {
		return err
	}
	m.w.witness.started(m)
	if m.carryOut() {
		m.welcome()
		m.reconcile(time.Second)
		m.later(time.Second, m.work)
	}
	return nil
}

// restore passes the cached shares to the agent, as node does.
func (m *member) restore() error {
	for _, f := range m.damages {
		m.w.took(Cache)
		m.damaged = true
		if err := m.disk.damage(f); err != nil {
			return err
		}
	}
	m.damages = nil
	c, err := m.disk.readCache()
	if err != nil {
		return err
	}
	for text, epoch := range c.Distrusted {
		author, err := peer.Decode(text)
		if err != nil {
			return err
		}
		m.agent.Distrust(author, epoch)
	}
	for _, stored := range c.Shares {
		if stored.ConflictingShare != nil {
			m.w.fail("%v has stored a proof of an equivocation", m)
			return nil
		}
		share, err := protocol.Open(stored.Envelope)
		if err != nil {
			return err
		}
		result, err := m.agent.RestorePeerShare(m.clock(), share, max(0, m.clock().Sub(stored.Sent)), stored.Connected)
		m.judge(result, err, share)
	}
	return nil
}

// judge checks the result of the validation of a share of an honest member.
func (m *member) judge(result agent.ShareResult, err error, share protocol.Share) {
	if result == agent.Malformed || result == agent.Equivocation {
		m.w.fail("%v finds share %s %v of %v %v: %v", m, share.Kind, share.Stamp, m.w.byID[share.Author], result, err)
	}
}

// contents returns the content of the cache.
func (m *member) contents() sharecache.Contents {
	known := m.agent.PeerShares(m.clock())
	c := sharecache.Contents{Task: m.w.task.ID().String(), Distrusted: map[string]uint64{}}
	for _, share := range known.Shares {
		c.Shares = append(c.Shares, sharecache.Share(share))
	}
	for author, epoch := range known.Distrusted {
		c.Distrusted[author.String()] = epoch
	}
	return c
}

// cache writes the cache, unless the disk is full.
func (m *member) cache() error {
	m.caching = false
	if m.w.now() < m.full {
		return nil
	}
	return m.disk.writeCache(m.contents())
}

// down ends the member's process and schedules the next start.
func (m *member) down(outage time.Duration) error {
	m.agent = nil
	m.w.network.drop(m)
	m.w.after(outage, m.start)
	return nil
}

// crash ends the process without warning.
func (m *member) crash(outage time.Duration) error {
	if !m.up() {
		return nil
	}
	m.w.logf("%v crashes", m)
	m.w.took(Crash)
	return errors.Join(m.disk.crash(), m.down(outage))
}

// stop ends the process as a user does it.
func (m *member) stop(outage time.Duration) error {
	if !m.up() {
		return nil
	}
	m.w.logf("%v stops", m)
	m.w.took(Stop)
	m.agent.Stop(m.clock())
	if !m.carryOut() {
		return nil
	}
	return errors.Join(m.cache(), m.disk.close(), m.down(outage))
}

// jump changes the member's clock.
func (m *member) jump(by time.Duration) error {
	if by = min(by, maxClock-m.offset-m.back); by < 0 {
		m.back += by
		return nil
	}
	m.offset += by
	if !m.up() {
		return nil
	}
	return m.tick()
}

func (m *member) tick() error {
	m.agent.Tick(m.clock())
	m.carryOut()
	return nil
}

// wakeAt schedules a tick, unless an earlier one is scheduled.
func (m *member) wakeAt(wake time.Time) {
	if wake.IsZero() {
		return
	}
	at := max(m.w.now(), wake.Sub(epochStart)-m.offset)
	if m.waking && m.wake <= at {
		return
	}
	m.wake, m.waking = at, true
	m.later(at-m.w.now(), func() error {
		if !m.waking || m.wake != at {
			return nil
		}
		m.waking = false
		return m.tick()
	})
}

// carryOut carries out the outputs of the agent in the order that package agent requires. It returns
// false if the member is down afterwards; then its caller gets no acknowledgement.
func (m *member) carryOut() (acknowledged bool) {
	ready := m.agent.Ready()
	survives, outputs := m.write(ready.Records)
	if !survives && outputs == 0 {
		return false
	}
	for _, share := range ready.Publish {
		if !m.allowed(survives, &outputs) {
			return false
		}
		m.w.witness.published(m, share)
		m.w.network.publish(m, share)
	}
	for _, message := range ready.Send {
		if !m.allowed(survives, &outputs) {
			return false
		}
		m.w.network.send(m, message)
	}
	for _, answer := range ready.Answers {
		if !m.allowed(survives, &outputs) {
			return false
		}
		m.answered(answer)
	}
	if !survives {
		return false
	}
	for _, work := range ready.Work {
		m.compute(work)
	}
	for _, event := range ready.Events {
		if event.Type == agent.Warning {
			m.warned(event)
		}
	}
	if ready.PeerShares && !m.caching {
		m.caching = true
		m.later(time.Second, m.cache)
	}
	m.wakeAt(ready.Wake)
	return true
}

// allowed reports whether another output leaves a member that crashes.
func (m *member) allowed(survives bool, outputs *int) bool {
	if survives {
		return true
	}
	*outputs--
	return *outputs >= 0
}

// write appends records to the journal. If the member crashes there, survives is false and outputs is
// the number of outputs that still leave it.
func (m *member) write(records []agent.Record) (survives bool, outputs int) {
	if len(records) == 0 {
		return true, 0
	}
	m.appends++
	if m.w.now() < m.full {
		m.w.logf("%v cannot write: the disk is full", m)
		m.w.took(Full)
		m.must(errors.Join(m.disk.close(), m.down(m.full-m.w.now()+time.Second)))
		return false, 0
	}
	at := slices.IndexFunc(m.crashes, func(f Fault) bool { return f.Append == m.appends && m.w.now() < faultsEnd })
	if at < 0 {
		m.must(m.disk.append(records))
		m.w.witness.wrote(m, records)
		return true, 0
	}
	f := m.crashes[at]
	m.w.logf("%v crashes at append %d, %s: %s", m, m.appends, f.State, kindsOf(records))
	m.w.took(Crash)
	switch f.State {
	case Torn:
		m.must(m.disk.tear(records, m.w.rng))
	case Kept:
		m.must(m.disk.append(records))
		m.w.witness.wrote(m, records)
	}
	if f.State == Kept || m.w.Break == SendFirst {
		outputs = f.Part
	}
	m.must(errors.Join(m.disk.crash(), m.down(f.For)))
	return false, outputs
}

// must reports an error of the driver's own files as a failure.
func (m *member) must(err error) {
	if err != nil {
		m.w.fail("%v: %v", m, err)
	}
}

func kindsOf(records []agent.Record) string {
	var kinds []string
	for _, r := range records {
		data, err := r.Encode()
		if err != nil {
			return err.Error()
		}
		kinds = append(kinds, string(data[:min(len(data), 60)]))
	}
	return strings.Join(kinds, " ")
}

// compute runs a Work, whose result arrives later.
func (m *member) compute(work agent.Work) {
	result := work.Run(context.WithoutCancel(m.w.ctx))
	m.later(upTo(m.w.rng, 2*time.Second), func() error {
		m.agent.Done(m.clock(), work.ID, result)
		m.carryOut()
		return nil
	})
}

// Parts of warnings that an honest member may give under faults.
var expected = []string{
	"shares nothing before a peer is present that knows",
	"private releases no longer wait for",
	"its private releases wait again for the others",
	"it was passed over",
	"is chosen without a result of exchange",
	"a private sum is due, and too few of the nodes that are to add it up answer",
}

func (m *member) warned(e agent.Event) {
	m.w.logf("%v warns: %s", m, e.Message)
	if e.Stack != "" || !slices.ContainsFunc(expected, func(part string) bool { return strings.Contains(e.Message, part) }) {
		m.w.fail("%v warns: %s %s", m, e.Message, e.Stack)
	}
}

// Times of evaluations.
const (
	minEvaluation = 15 * time.Second
	maxEvaluation = 45 * time.Second
)

// work asks for a trial.
func (m *member) work() error {
	if m.w.now() > m.w.last()-time.Minute {
		return nil
	}
	if m.w.now() > m.w.quiet && m.w.now() < Calm+Settling { // shares that were lost must arrive without newer ones
		m.later(Calm+Settling-m.w.now(), m.work)
		return nil
	}
	if m.client != nil {
		return m.client.ask()
	}
	m.requests++
	m.asking = true
	m.agent.Ask(m.clock(), m.requests)
	m.carryOut()
	return nil
}

// answered receives the answer to an Ask.
func (m *member) answered(a agent.Answer) {
	m.asking = false
	if a.Err != nil {
		m.w.fail("%v: request %d: %v", m, a.Request, a.Err)
		return
	}
	if m.client != nil {
		m.later(0, m.client.remember)
		return
	}
	m.w.witness.answered(m, a.Trial)
	m.later(between(m.w.rng, minEvaluation, maxEvaluation), func() error {
		m.report(a.Trial)
		return nil
	})
}

// report reports the outcome of a trial that runs in the process.
func (m *member) report(trial strategy.Trial) {
	outcome := m.evaluate(trial)
	m.w.witness.reports(m, trial.ID, outcome)
	if err := m.agent.Tell(m.clock(), trial.ID, outcome); err != nil {
		m.w.fail("%v: trial %d: %v", m, trial.ID, err)
		return
	}
	if m.carryOut() {
		m.w.witness.acknowledged(m, trial.ID, outcome)
		m.later(time.Second, m.work)
	}
}

// evaluate returns the outcome of a trial; no two trials of a member have the same.
func (m *member) evaluate(trial strategy.Trial) strategy.Outcome {
	return strategy.Outcome{Value: objective(trial.Design, m.number) + float64(trial.ID)/1000}
}

func objective(d task.Design, member int) float64 {
	off := float64(d.Int("a")-int64(30+2*member)) / 10
	value := off * off
	if d.Choice("b") != "left" {
		value += 2
	}
	return value
}
