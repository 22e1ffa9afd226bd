package peers

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"
)

// Sybils are ten thousand identities of one party, which come from a few ranges of addresses one after
// another. Honest peers come from a range each.
const (
	sybils      = 10_000
	sybilRanges = 10
	honestPeers = 20
)

// siege drives a policy as the node does, in virtual time.
type siege struct {
	t      *testing.T
	policy *Policy
	task   *Task
	sync   *Slots
	now    time.Time
	honest []peer.ID
	came   int // sybils
	topic  string
}

func newSiege(t *testing.T) *siege {
	s := &siege{t: t, policy: New(config()), sync: NewSlots(maxSlots, maxSlotsOfPeer), now: noon, topic: topicOf(t, 0)}
	s.task = s.policy.NewTask(nil)
	s.policy.JoinTopic(s.topic)
	s.task.Start(s.now)
	for i := range honestPeers {
		id := peer.ID(fmt.Sprint("honest ", i))
		s.honest = append(s.honest, id)
		s.policy.Connected(s.now, id, "open", honestAddress(i), i%2 == 0)
		s.task.Joined(s.now, id)
	}
	return s
}

func honestAddress(i int) multiaddr.Multiaddr {
	return multiaddr.StringCast(fmt.Sprintf("/ip4/11.%d.0.1/tcp/1", i))
}

// next returns another identity and its address.
func (s *siege) next() (peer.ID, multiaddr.Multiaddr) {
	s.came++
	return peer.ID(fmt.Sprint("sybil ", s.came)), multiaddr.StringCast(fmt.Sprintf("/ip4/12.0.%d.1/tcp/%d", s.came%sybilRanges, 1+s.came%60_000))
}

// checkHonest makes all honest peers relay and publish what they do in a second, after the sybils of
// this second, and each in turn deliver, compare shares and answer. Nothing of it may be refused.
func (s *siege) checkHonest() {
	s.t.Helper()
	for i, id := range s.honest {
		allowed := func(what string, ok bool) {
			s.t.Helper()
			if !ok {
				s.t.Fatalf("after %v and %d sybils %s of %s is refused", s.now.Sub(noon), s.came, what, id)
			}
		}
		author := s.honest[(i+1)%len(s.honest)]
		allowed("a connection", !s.policy.Blocked(s.now, id, honestAddress(i)))
		for range GroupCheckRate {
			allowed("a message", s.policy.Allow(s.now, id, Relay, 1) && s.policy.AllowCheck(s.now, id, id))
			allowed("a relayed message", s.policy.Allow(s.now, id, Relay, 1) && s.policy.AllowCheck(s.now, id, author))
		}
		allowed("a share", s.policy.Allow(s.now, id, Publish, 1))
		if int(s.now.Sub(noon)/time.Second)%len(s.honest) != i {
			continue
		}
		s.task.Delivered(s.now, id, author)
		allowed("a request", s.policy.Allow(s.now, id, Sync, 1))
		slot := &Slot{ID: id, Group: GroupOf(honestAddress(i))}
		_, ok := s.sync.Acquire(slot)
		allowed("a stream", ok)
		s.sync.Release(slot)
		for range GroupItemRate * len(s.honest) {
			allowed("an item", s.policy.AllowItem(s.now, id, honestAddress(i), 0))
		}
		allowed("a topic", s.policy.Allow(s.now, id, Announce, 1) && s.policy.Subscribed(id, s.topic, true))
	}
}

// bounded checks how much the policy remembers.
func (s *siege) bounded() {
	s.t.Helper()
	p := s.policy
	for what, c := range map[string]struct{ got, most int }{
		"records of peers":         {p.peers.records.len(), MaxRecords},
		"records of authors":       {p.authors.records.len(), MaxRecords},
		"bans of peers":            {p.peers.bans.len(), maxBans},
		"bans of authors":          {p.authors.bans.len(), maxBans},
		"ranges":                   {p.ranges.len(), sybilRanges},
		"groups that are checked":  {p.checks.each.groups.len(), 2 * (sybilRanges + honestPeers)},
		"groups that answer":       {p.items.each.groups.len(), sybilRanges + honestPeers},
		"peers with subscriptions": {len(p.topics.others), len(p.connections)},
		"members":                  {len(s.task.known), MaxMembers},
		"attempts":                 {len(p.attempts.made), maxKept},
		"registrations":            {p.registry.count, MaxRegistrations},
		"streams":                  {len(s.sync.slots), maxSlots},
	} {
		if c.got > c.most {
			s.t.Errorf("%d %s are remembered, expected at most %d", c.got, what, c.most)
		}
	}
}

// Of ten thousand identities that send malformed messages, three of each range get in within ten
// minutes, and no honest peer is refused anything.
func TestSybilsThatMisbehaveBanTheirRanges(t *testing.T) {
	s := newSiege(t)
	const minutes = 9
	admitted := 0
	for range minutes * 60 {
		s.now = s.now.Add(time.Second)
		for range sybils/(minutes*60) + 1 {
			id, from := s.next()
			if s.policy.Blocked(s.now, id, from) {
				continue
			}
			admitted++
			s.policy.Connected(s.now, id, "open", from, false)
			for i := range MaxViolations {
				if v := s.policy.Violated(s.now, id, 1); v.Banned != (i == MaxViolations-1) {
					t.Fatalf("violation %d: banned %v", i+1, v.Banned)
				}
			}
			s.policy.Disconnected(id, "open")
		}
		s.checkHonest()
	}
	if want := 3 * sybilRanges; s.came < sybils || admitted != want {
		t.Errorf("%d of %d sybils get in, expected %d", admitted, s.came, want)
	}
	s.bounded()
}

// Ten thousand identities that do no more than an honest peer may do, all that at once: the memory of
// the node is bounded, honest peers keep their allowances, and they are the peers that the node
// keeps.
func TestSybilsThatBehaveTakeNothingFromHonestPeers(t *testing.T) {
	before := heap()
	s := newSiege(t)
	const open = 40 // connections of sybils at the same time
	var connected []peer.ID
	for s.came < sybils {
		s.now = s.now.Add(time.Second)
		for range 50 {
			id, from := s.next()
			if s.policy.Blocked(s.now, id, from) {
				t.Fatalf("sybil %d is refused without a violation", s.came)
			}
			s.policy.Connected(s.now, id, "open", from, false)
			s.task.Joined(s.now, id)
			if connected = append(connected, id); len(connected) > open {
				gone := connected[0]
				connected = connected[1:]
				s.task.Left(gone)
				s.policy.Disconnected(gone, "open")
			}
			s.policy.Subscribed(id, s.topic, true)
			s.policy.Subscribed(id, topicOf(t, s.came%1000), true)
			s.policy.Allow(s.now, id, Publish, 1)
			for range 20 {
				s.policy.Allow(s.now, id, Relay, 1)
				s.policy.AllowCheck(s.now, id, id)
				s.policy.AllowCheck(s.now, id, "made up")
				s.policy.AllowItem(s.now, id, from, 0)
			}
			s.sync.Acquire(&Slot{ID: id, Group: GroupOf(from)})
		}
		s.checkHonest()
	}
	plan := s.task.Plan(s.now, append(connected, s.honest...))
	for _, id := range s.honest {
		for _, sybil := range connected {
			if plan.Values[id] <= plan.Values[sybil] {
				t.Fatalf("%s has the value %d, and %s %d, expected less", id, plan.Values[id], sybil, plan.Values[sybil])
			}
		}
	}
	for _, id := range plan.Protect {
		if plan.Values[id] < valueActive+ValueOnTask {
			t.Errorf("%s is protected", id)
		}
	}
	s.bounded()
	if grown := heap() - before; grown > 32<<20 {
		t.Errorf("the policy holds %d MiB, expected at most 32", grown>>20)
	}
	runtime.KeepAlive(s)
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Identities that introduce hundreds of made-up members do not hide those that an honest peer
// introduces later: members of each referrer are dialled in turn.
func TestSybilReferrersDoNotHideMembers(t *testing.T) {
	const referrers, members = 5, 10
	s := newSiege(t)
	for i := range MaxMembers {
		if i%referrers == 0 {
			s.came = 0
		}
		referrer, from := s.next()
		_, sealed := newRecord(t, fmt.Sprintf("/ip4/14.%d.%d.1/tcp/1", i/256, i%256))
		if err := s.task.Learn(sealed, referrer, from); err != nil {
			t.Fatal(err)
		}
	}
	real := map[peer.ID]bool{}
	for i := range members {
		id, sealed := newRecord(t, fmt.Sprintf("/ip4/13.%d.0.1/tcp/1", i))
		if err := s.task.Learn(sealed, s.honest[0], honestAddress(0)); err != nil {
			t.Fatal(err)
		}
		real[id] = true
	}
	for _, id := range s.honest[1:] { // the node has few peers
		s.task.Left(id)
		s.policy.Disconnected(id, "open")
	}
	s.honest = s.honest[:1]
	dials := 0
	for most := (referrers+1)*members + EnoughPeers; len(real) > 0; {
		plan := s.task.Plan(s.now, s.honest)
		for _, c := range plan.Dial {
			dials++
			delete(real, c.Info.ID)
			s.task.Dialled(s.now, c, false)
		}
		if dials > most {
			t.Fatalf("%d of the members of an honest peer are not dialled after %d dials", len(real), dials)
		}
		s.now = s.now.Add(plan.Pause)
	}
	if took := s.now.Sub(noon); took > time.Minute {
		t.Errorf("the last member is dialled after %v, expected a minute at most", took)
	}
	s.bounded()
}
