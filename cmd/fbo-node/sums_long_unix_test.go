//go:build long && unix

package main_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/store"
	"github.com/fbo-node/fbo/tsampling/ftsde"
)

// Twelve nodes compute six rounds of sums, while members of the committee and others are killed
// and restarted. Every round with a quorum of survivors completes, and all nodes have the same
// sums.
func TestLongSumsOutliveKilledNodes(t *testing.T) {
	t.Parallel()
	const rounds = 6
	f := newFleet(t, 12, 10, "weights: schedule, schedule: constant, own_probability: 0",
		"epsilon: 8, releases: 6, min_contributors: 8, committee: 7, max_colluding: 2")
	f.startAll(t)
	before := trafficOf(t, f.alive())
	play := func(round int, survivors []*fleetNode, meanwhile func()) {
		t.Helper()
		began := time.Now()
		allow(t, f.due(round), f.nodes...)
		meanwhile()
		f.summed(t, round, survivors)
		reportRound(t, round, time.Since(began), survivors, before)
		before = trafficOf(t, f.alive())
	}
	play(1, f.nodes, func() {})

	// The last member is gone before the round, the first in the middle of it, whose
	// turn it would be to propose. It comes back at once.
	late, first := f.committee(2)[6], f.committee(2)[0]
	late.kill(t)
	before = trafficOf(t, f.alive(first))
	play(2, f.alive(first), func() {
		contributed(t, 2, f.alive())
		first.kill(t)
		f.start(t, first, f.evals)
	})
	f.summed(t, 2, []*fleetNode{first})

	f.start(t, late, f.evals)
	before = trafficOf(t, f.alive())
	play(3, f.alive(), func() {})

	// One that has the sum asks for it again after a restart, and gets it.
	idle := f.outside(late, first)
	idle.kill(t)
	f.start(t, idle, f.evals)
	eventually(t, "answers that suffice", []*fleetNode{idle}, func(n *fleetNode) bool {
		return trafficOf(t, []*fleetNode{n}).received >= 3
	})

	// A member and a node that does not serve, as soon as they have contributed.
	members := f.committee(4)
	other := f.outside(append(members, late, first, idle)...)
	member := members[slices.IndexFunc(members, func(n *fleetNode) bool { return n != late && n != first && n != idle })]
	before = trafficOf(t, f.alive(member, other))
	play(4, f.alive(member, other), func() {
		contributed(t, 4, []*fleetNode{member, other})
		member.kill(t)
		other.kill(t)
	})
	before = trafficOf(t, f.alive())
	play(5, f.alive(), func() { f.start(t, member, f.evals) })
	f.start(t, other, f.evals)
	before = trafficOf(t, f.alive(other))
	play(6, f.alive(other), func() {})

	for _, n := range f.alive(other) {
		n.process().await(t, "that it knows sums", func(e event) bool { return e.Event == "status" && e.Item.Key == "sums" })
	}
	f.finish(t)
	sums := f.check(t)
	for round := 1; round <= rounds; round++ {
		if _, ok := sums[round]; !ok {
			t.Errorf("no node has the sum of round %d", round)
		}
	}
}

// A round that cannot complete ends without a sum, and its contributions are spent. The nodes
// continue, and the next round completes once enough are back.
func TestLongSumsWithoutQuorumEndWithoutSum(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, privacy string
		nodes, evals  int
		before        func(*fleet) []*fleetNode // are gone when the second round begins
		amid          func(*fleet) []*fleetNode // go once they have contributed to it
		reason        string
	}{
		{
			// One member more is down than the committee bears.
			name: "no quorum", nodes: 9, evals: 8,
			privacy: "epsilon: 8, releases: 4, min_contributors: 6, committee: 7, max_colluding: 2",
			before:  func(f *fleet) []*fleetNode { return []*fleetNode{f.committee(2)[0], f.committee(2)[3]} },
			amid:    func(f *fleet) []*fleetNode { return []*fleetNode{f.committee(2)[5]} },
			reason:  "quorum", // of votes, or of contributions if the kills are known by then
		},
		{
			// There is a quorum, but too little noise.
			name: "too few contributors", nodes: 5, evals: 8,
			privacy: "epsilon: 8, releases: 4, min_contributors: 4, committee: 4, max_colluding: 1",
			before: func(f *fleet) []*fleetNode {
				members := f.committee(2)
				return []*fleetNode{members[0], f.outside(members...)}
			},
			amid:   func(*fleet) []*fleetNode { return nil },
			reason: "too few contributions reached a quorum",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t, c.nodes, c.evals, "weights: schedule, schedule: constant, own_probability: 0", c.privacy)
			before, amid := c.before(f), c.amid(f)
			lost := append(slices.Clone(before), amid...)
			f.startAll(t)
			allow(t, f.due(1), f.nodes...)
			f.summed(t, 1, f.nodes)
			for _, n := range before {
				n.kill(t)
			}
			sent, began := trafficOf(t, f.alive(lost...)), time.Now()
			allow(t, f.due(2), f.nodes...)
			contributed(t, 2, f.alive(before...)) // no node contributes once the committee is too small
			for _, n := range amid {
				n.kill(t)
			}
			survivors := f.alive()
			allow(t, f.due(3), survivors...)
			eventually(t, "its next outcome, in spite of the round", survivors, func(n *fleetNode) bool { return n.measured(f.due(3)) })
			eventually(t, "the end of the round", survivors, func(n *fleetNode) bool { return n.sums(t).Failed > 0 })
			reportRound(t, 2, time.Since(began), survivors, sent)
			for _, n := range survivors {
				if s := n.sums(t); s.Failed != 1 || !strings.HasPrefix(s.Reason, "round 2: ") || !strings.Contains(s.Reason, c.reason) {
					t.Errorf("%s: status %+v", n.id, s)
				}
			}

			for _, n := range lost {
				f.start(t, n, f.evals)
			}
			f.goOn(t, survivors)
			f.finish(t)
			for _, n := range survivors {
				if j := n.journal(t); j.dealt[1] != 1 || j.dealt[2] != 1 {
					t.Errorf("%s contributed to rounds %v", n.id, j.dealt)
				}
			}
			if _, ok := f.check(t)[2]; ok {
				t.Error("round 2 has a sum")
			}
		})
	}
}

// goOn lets rounds 3 and 4 take place. Those who have just come back may still be
// busy with the second in the third.
func (f *fleet) goOn(t *testing.T, survivors []*fleetNode) {
	t.Helper()
	for round := 3; round <= 4; round++ {
		before, began := trafficOf(t, survivors), time.Now()
		allow(t, f.due(round), f.nodes...)
		if round == 3 {
			f.summed(t, round, survivors)
		} else {
			f.summed(t, round, f.nodes)
		}
		reportRound(t, round, time.Since(began), survivors, before)
	}
}

// Gossip reaches a node again that is killed and restarted before QUIC detects the dead connection,
// which takes half a minute.
func TestLongSumsReachANodeThatComesBack(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 2, 1, "share_every: 1", "epsilon: 8, releases: 1, committee: 2, max_colluding: 1")
	f.listen = f.listen[:1] // QUIC alone; by TCP the end shows at once
	f.startAll(t)
	stays, leaves := f.nodes[0], f.nodes[1]
	leaves.moves = true // from its old ports it would reset the old connection
	met := func(times int) func(*fleetNode) bool {
		return func(n *fleetNode) bool { // an event for each connection and each loss of the other node
			return len(n.process().of("peers")) >= times && slices.Contains(n.status(t).TopicPeers, leaves.id)
		}
	}
	eventually(t, "the other on the topic", []*fleetNode{stays}, met(1))
	leaves.kill(t)
	f.start(t, leaves, 1)
	eventually(t, "the other on the topic again", []*fleetNode{stays}, met(3))
}

// A node whose journal is an older copy learns from its peers that it has contributed
// to more, and never contributes again; it goes on with the sums of the others.
func TestLongSumsOutliveTheJournal(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 4, 9, "share_every: 1", "epsilon: 8, releases: 4, min_contributors: 3, committee: 4, max_colluding: 1")
	restored, others := f.nodes[3], f.nodes[:3]
	restored.moves = true
	for _, n := range others {
		f.start(t, n, f.evals)
	}
	allow(t, 1, f.nodes...)
	f.start(t, restored, 1)
	if code := restored.process().wait(t); code != base.ExitDone {
		t.Fatalf("exit code %d", code)
	}
	journal := filepath.Join(restored.dir, store.JournalFile)
	backup, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	f.start(t, restored, f.evals)
	for round := 1; round <= 2; round++ {
		allow(t, f.due(round), f.nodes...)
		f.summed(t, round, f.nodes)
	}
	if spent := privacyOf(t, restored.dir); spent.Released != 2 || spent.Refused != "" || restored.contributions() != 2 {
		t.Errorf("before: %+v, %d contributions", spent, restored.contributions())
	}
	restored.kill(t)
	if err := os.WriteFile(journal, backup, 0o600); err != nil {
		t.Fatal(err)
	}
	for round := 3; round <= 4; round++ { // the second time it knows by itself
		f.start(t, restored, f.evals)
		if round == 3 {
			restored.process().await(t, "why it contributes no more", func(e event) bool {
				return e.Event == "warning" && strings.Contains(e.Message, "this node contributes to no further sum: peers hold release 2")
			})
		}
		allow(t, f.due(round), f.nodes...)
		f.summed(t, round, f.nodes)
		if spent := privacyOf(t, restored.dir); !strings.Contains(spent.Refused, "restored from a backup") || restored.contributions() != 2 {
			t.Errorf("round %d: %+v, %d contributions", round, spent, restored.contributions())
		}
		var s ftsde.Sum
		decode(t, others[0].journal(t).sums[round][0], &s)
		if s.Contributors != len(others) {
			t.Errorf("round %d has %d contributors", round, s.Contributors)
		}
		restored.process().signal(t, syscall.SIGINT)
		restored.process().wait(t)
	}
	if j := restored.journal(t); len(j.dealt) > 0 || len(j.sums) < 2 {
		t.Errorf("the journal tells contributions to rounds %v and the sums of %d", j.dealt, len(j.sums))
	}
}
