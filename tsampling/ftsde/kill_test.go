package ftsde

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Four members, of whom one may be absent.
func crashTask(t testing.TB, rounds int) *task.Task {
	return newTask(t, setting{strategy: "share_every: 1", privacy: fmt.Sprintf("releases: %d, min_contributors: 3, committee: 4, max_colluding: 1", rounds)})
}

// playOn lets three rounds become due. When member 0 is down it comes back after a pause of so
// many ticks, to crash once more after as many outputs as again says.
func (w *world) playOn(pause, again int) {
	const span = 20 // ticks of each round
	m, down := w.members[0], 0
	w.observe(w.all()...)
	for tick := range 3*span + longest {
		if tick%span == 0 && tick < 3*span {
			w.observe(w.all()...)
		}
		w.tick(1)
		if m.alive {
			continue
		}
		if down++; down > pause {
			m.fuse, again, down = strategytest.Fuse(again), -1, 0
			w.boot(0)
		}
	}
	if !m.alive {
		w.boot(0)
	}
}

// checkSpent holds what anybody has seen of member 0 against what its journal counts.
func (w *world) checkSpent(name string) {
	w.t.Helper()
	m := w.members[0]
	state := m.spent(w.task)
	if state.Released < len(m.seen()) || state.Released > state.Planned {
		w.t.Errorf("%s: the journal counts %d contributions of %d; seen were rounds %v", name, state.Released, state.Planned, m.seen())
	}
	if got := m.exchange.ledger.State(); got != state {
		w.t.Errorf("%s: the ledger stands at %+v, the journal says %+v", name, got, state)
	}
	rounds := map[int]int{}
	for _, c := range m.published {
		rounds[c.Round]++
		if rounds[c.Round] > 1 || c.Release > state.Released {
			w.t.Errorf("%s: published %v", name, m.published)
		}
	}
	for _, other := range w.members {
		last := 0
		for _, s := range other.result.Sums {
			if s.Round <= last {
				w.t.Errorf("%s: member %d has the sum of round %d after that of round %d", name, other.index, s.Round, last)
			}
			last = s.Round
			for _, mine := range m.result.Sums {
				if mine.Round == s.Round && !reflect.DeepEqual(mine, s) {
					w.t.Errorf("%s: round %d has two sums", name, s.Round)
				}
			}
		}
	}
}

// missed counts the rounds that have a sum to which member 0 gave nothing, since they ended
// while it was away, or since it crashed between spending and giving. When it is back it
// spends nothing on them.
func (w *world) missed() (count int) {
	for _, s := range w.members[1].result.Sums {
		if !slices.ContainsFunc(w.members[0].published, func(c protocol.Contribution) bool { return c.Round == s.Round }) {
			count++
		}
	}
	return count
}

// Member 0 crashes between two outputs of a run, and again later. It never
// contributes twice to a round, nor more often than planned, and its ledger counts
// whatever anybody saw. The agent has the records of a step on disk in one
// transaction; where they tear nevertheless, the worst is that a round's contribution
// is counted twice and never sent.
func TestNoCrashContributesTwice(t *testing.T) {
	definition := crashTask(t, 2)
	for _, c := range []struct {
		torn                 bool
		pause, again, stride int
	}{{false, 0, -1, 2}, {false, 30, -1, 7}, {false, 1, 4, 7}, {true, 0, -1, 5}, {true, 2, 1, 7}} {
		crashes := 0
		for fuse := 0; ; fuse += c.stride {
			w := newWorld(t, definition)
			m := w.members[0]
			m.fuse, m.torn = strategytest.Fuse(fuse), c.torn
			w.playOn(c.pause, c.again)
			w.checkSpent(fmt.Sprintf("%+v, crash after %d outputs", c, fuse))
			if len(m.warnings) > 0 && !c.torn {
				t.Errorf("%+v, crash after %d outputs: warnings %q", c, fuse, m.warnings)
			}
			if got := m.spent(definition).Released; got+w.missed() < 2 && !c.torn { // checkSpent says when it is too much
				t.Errorf("%+v, crash after %d outputs: %d contributions of 2, %d rounds without it; %s", c, fuse, got, w.missed(), m.describe())
			}
			if m.runs == 1 {
				break
			}
			crashes++
		}
		if crashes*c.stride < 80 {
			t.Errorf("%+v: only %d places to crash at", c, crashes)
		}
	}
}

// Nothing local can tell that a journal is an old copy, but peers hold the newest
// contribution: from every copy that lacks one the node refuses, for good.
func TestARestoredJournalRefuses(t *testing.T) {
	definition := crashTask(t, 3)
	reference := newWorld(t, definition)
	reference.playOn(0, -1)
	original := reference.members[0]
	if len(original.published) != 3 {
		t.Fatal(original.describe())
	}
	refused := 0
	for _, length := range slices.Compact(slices.Clone(original.steps)) {
		w := newWorld(t, definition)
		w.playOn(0, -1)
		m := w.members[0]
		before := len(m.published)
		w.crash(0)
		m.journal = slices.Clone(m.journal[:length])
		lacks := m.spent(definition).Released < 3
		for range 2 { // the second start knows from its own journal
			w.boot(0)
			w.observe(w.all()...)
			w.tick(longest)
			state := m.exchange.ledger.State()
			if lacks != (state.Refused != "") || lacks != (m.spent(definition).Refused != "") {
				t.Errorf("%d records: state %+v, by the journal %+v", length, state, m.spent(definition))
			}
			if m.exchange.ledger.Open() {
				t.Errorf("%d records: contributions go on: %+v", length, state)
			}
			w.crash(0)
		}
		if lacks {
			refused++
			if !strings.Contains(strings.Join(m.warnings, " "), "peers hold release 3") {
				t.Errorf("%d records: warnings %q", length, m.warnings)
			}
		}
		if len(m.published) != before {
			t.Errorf("%d records: published %v", length, m.published)
		}
	}
	if refused < 3 {
		t.Errorf("%d copies lacked a contribution", refused)
	}
}

// The record of the refusal is no share, and the share that caused it need not come
// from a peer that is honest about anything else.
func TestAnEchoOfAnotherKindIsNoEcho(t *testing.T) {
	n := newNode(t, newTask(t, setting{}), 1)
	n.step(strategy.Echo{Share: strategy.Share{Value: protocol.Weights{Release: 5}}})
	if len(n.records) != 0 || !n.exchange.ledger.Open() {
		t.Errorf("records %q", n.records)
	}
	n.step(strategy.Echo{Share: strategy.Share{Value: protocol.Contribution{Release: 1, Round: 1}}})
	if len(n.records) != 1 || n.exchange.ledger.Open() || n.result.Refused == "" || len(n.warnings) != 1 {
		t.Errorf("records %q, state %+v, warnings %q", n.records, n.result.State, n.warnings)
	}
}

// What cannot be read may have been a contribution or a vote.
func TestUnreadableRecordsRefuse(t *testing.T) {
	definition := crashTask(t, 3)
	for name, c := range map[string]struct {
		record string
		told   bool // by the ledger's state as well
	}{
		"nothing":               {"", true},
		"a debit without":       {"b", true},
		"half a debit":          {`b{"release":`, true},
		"an empty debit":        {"b{}", true},
		"of a later version":    {"z\x01\x02", true},
		"half a record of sums": {"s\x01", false},
		"a sum of a new kind":   {"s\x01\x09\x00\x00\x00\x00\x00\x00\x00\x01", false},
	} {
		w := newWorld(t, definition)
		w.crash(0)
		w.members[0].journal = [][]byte{[]byte(c.record)}
		w.boot(0)
		w.play(3)
		m := w.members[0]
		if len(m.seen()) != 0 {
			t.Errorf("%s: contributed to rounds %v", name, m.seen())
		}
		if got := m.result.Refused != ""; got != c.told {
			t.Errorf("%s: %s", name, m.describe())
		}
		if m.result.State != m.spent(definition) {
			t.Errorf("%s: state %+v, by the journal %+v", name, m.result.State, m.spent(definition))
		}
		if m.result.Refused == "" && m.result.Reason == "" {
			t.Errorf("%s: nobody is told", name)
		}
	}
}

// A step torn between its debit and the sum's record, which the agent's journal rules
// out: the round is still open to the node, but its second contribution to it would
// have a number that no round can have, so that it is counted, told and not sent.
func TestATornStepSendsNothing(t *testing.T) {
	definition := crashTask(t, 3)
	w := newWorld(t, definition, 0)
	m := w.members[0]
	m.journal = [][]byte{[]byte(`b{"release":1,"name":"0000000000000001"}`)}
	m.receipt = &protocol.Receipt{} // peers know that it is there
	w.boot(0)
	w.play(3)
	if len(m.seen()) != 0 || m.exchange.ledger.State().Released != 2 || len(m.warnings) != 1 {
		t.Errorf("contributed to rounds %v; %s", m.seen(), m.describe())
	}
	for _, other := range w.members[1:] {
		if len(other.result.Sums) != 3 {
			t.Errorf("the others do without: %s", other.describe())
		}
	}
}
