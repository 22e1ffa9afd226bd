package peers

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"
)

const aHub = "12D3KooWCtgLB35RpjwhC4Hwgj2ZbSsN7WRMiDdBQg9mExHX659m"

// taskWith returns a task with peers on it that have just delivered a share.
func taskWith(count int, outbound bool) (t *Task, onTask []peer.ID) {
	t = New(config()).NewTask(nil)
	t.Start(noon)
	for i := range count {
		id := peer.ID(fmt.Sprint("peer ", i))
		t.policy.Connected(noon, id, "open", honestAddress(i), outbound)
		t.Joined(noon, id)
		t.Delivered(noon, id, id)
		onTask = append(onTask, id)
	}
	return t, onTask
}

func (s *Task) deliver(now time.Time, ids []peer.ID) {
	for _, id := range ids {
		s.Delivered(now, id, id)
	}
}

// A node with too few active peers dials as many members as it lacks, and the rest soon after.
func TestPlanOfANodeWithFewPeers(t *testing.T) {
	s, onTask := taskWith(3, false)
	for i := range EnoughPeers {
		introduce(t, s, "hub", Global, fmt.Sprintf("/ip4/13.%d.0.1/tcp/1", i))
	}
	for _, want := range []int{EnoughPeers - 3, 3} {
		plan := s.Plan(noon, onTask)
		if len(plan.Dial) != want || plan.Fetch != "" || plan.Pause < DialPause/2 || plan.Pause > 2*DialPause {
			t.Errorf("%d are dialled, %q is asked, the pause is %v; expected %d, none, %v", len(plan.Dial), plan.Fetch, plan.Pause, want, DialPause)
		}
	}
}

// A node with too few active peers that knows no members asks for them at growing intervals.
func TestPlanOfANodeWithoutMembers(t *testing.T) {
	s, onTask := taskWith(3, false)
	var asked []time.Duration
	for now := noon; now.Before(noon.Add(2 * time.Minute)); now = now.Add(time.Second) {
		s.deliver(now, onTask)
		if plan := s.Plan(now, onTask); plan.Fetch != "" {
			asked = append(asked, now.Sub(noon)/time.Second)
		}
	}
	// The pause has to be over: after 1, 2, 4, 8, 16, 30, 30 s.
	if want := []time.Duration{1, 3, 6, 11, 20, 37, 68, 99}; !slices.Equal(asked, want) {
		t.Errorf("peers are asked at second %d, expected %d", asked, want)
	}
}

// A node with enough active peers dials one member at a time: often while it has few outbound
// connections and there are members that were never visited.
func TestPlanOfANodeWithEnoughPeers(t *testing.T) {
	for _, c := range []struct {
		peers    int
		outbound bool
		want     time.Duration
	}{
		{EnoughPeers, false, VisitPause},
		{EnoughDialled, true, LostPause},
	} {
		s, onTask := taskWith(c.peers, c.outbound)
		for i := range 100 {
			introduce(t, s, peer.ID(fmt.Sprint("referrer ", i%4)), Global, fmt.Sprintf("/ip4/13.%d.0.1/tcp/1", i))
		}
		visits := 0
		const lasts = 2 * time.Minute
		for now := noon; now.Before(noon.Add(lasts)); now = now.Add(time.Second) {
			s.deliver(now, onTask)
			plan := s.Plan(now, onTask)
			if len(plan.Dial) > 1 || len(plan.Dial) > 0 && plan.Fetch != "" {
				t.Fatalf("%d are dialled at once, %q is asked", len(plan.Dial), plan.Fetch)
			}
			for _, candidate := range plan.Dial {
				visits++
				s.Dialled(now, candidate, false)
			}
			if len(plan.Protect) > maxOutbound || c.outbound && now.Equal(noon) && len(plan.Protect) != maxOutbound {
				t.Errorf("%d peers are protected, expected %d", len(plan.Protect), maxOutbound)
			}
		}
		if want := int((lasts - time.Second) / (c.want + time.Second)); visits != want { // the pause has to be over
			t.Errorf("%d outbound connections: %t: %d visits, expected %d", c.peers, c.outbound, visits, want)
		}
	}
}

// A relayed peer is reached directly at growing intervals, and one with a direct connection is not.
func TestPlanReachesRelayedPeersDirectly(t *testing.T) {
	s, onTask := taskWith(1, false)
	circuit := multiaddr.StringCast("/ip4/203.0.113.7/tcp/1/p2p/" + aHub + "/p2p-circuit")
	for _, id := range []peer.ID{"relayed", "both"} {
		s.policy.Connected(noon, id, "relayed", circuit, false)
		onTask = append(onTask, id)
	}
	s.policy.Connected(noon, "both", "direct", honestAddress(9), false)
	tries := 0
	for now := noon; now.Before(noon.Add(time.Minute)); now = now.Add(time.Second) {
		switch id := s.Plan(now, onTask).Direct; id {
		case "":
		case "relayed":
			tries++
		default:
			t.Errorf("%s is dialled", id)
		}
	}
	if tries < 2 || tries > 5 {
		t.Errorf("%d attempts in a minute", tries)
	}
}

// A peer that has made the connection is dialled back at its addresses until it answers, first at
// those of its connections, and not at relayed ones.
func TestDialBacks(t *testing.T) {
	s, _ := taskWith(0, false)
	id, sealed := newRecord(t, "/ip4/13.0.0.9/tcp/1", "/ip4/203.0.113.7/tcp/1/p2p/"+aHub+"/p2p-circuit", "/ip4/13.0.0.1/tcp/1", "/ip4/13.0.0.2/tcp/1")
	s.policy.Connected(noon, id, "open", multiaddr.StringCast("/ip4/13.0.0.1/tcp/999"), false)
	s.Joined(noon, id)
	due := s.Identified(noon, id, sealed)
	want := []DialBack{{id, []multiaddr.Multiaddr{multiaddr.StringCast("/ip4/13.0.0.1/tcp/1"), multiaddr.StringCast("/ip4/13.0.0.9/tcp/1")}}}
	if fmt.Sprint(due) != fmt.Sprint(want) {
		t.Errorf("%v, expected %v", due, want)
	}
	onTask := []peer.ID{id}
	if plan := s.Plan(noon.Add(time.Second), onTask); len(plan.DialBacks) != 0 {
		t.Error("a dial-back is due after a second")
	}
	s.DialBackSoon(id)
	if plan := s.Plan(noon.Add(time.Second), onTask); len(plan.DialBacks) != 1 {
		t.Error("a dial-back that was not made is not due")
	}
	if plan := s.Plan(noon.Add(time.Minute), onTask); len(plan.DialBacks) != 1 {
		t.Error("no dial-back is due after a minute")
	}
	s.policy.Answered(noon, id, want[0].Addrs[0])
	if plan := s.Plan(noon.Add(time.Hour), onTask); len(plan.DialBacks) != 0 || len(s.Records(1)) != 1 {
		t.Error("a peer that has answered is dialled back, or not introduced")
	}
}

// A peer counts with the range of a direct connection, else with the hub, and with all that are gone
// after its last connection has ended.
func TestGroupsOfConnectedPeers(t *testing.T) {
	p := New(config())
	circuit := multiaddr.StringCast("/ip4/203.0.113.7/tcp/1/p2p/" + aHub + "/p2p-circuit")
	want := func(group string) {
		t.Helper()
		if got := p.Group("peer"); got != group {
			t.Errorf("the group is %q, expected %q", got, group)
		}
	}
	want("gone")
	for range 2 { // as one of those that are there at the start
		p.Connected(noon, "peer", "1", circuit, false)
	}
	want("hub " + aHub)
	p.Connected(noon, "peer", "2", honestAddress(1), false)
	want("11.1.0.1/32")
	p.Disconnected("peer", "2")
	p.Disconnected("peer", "2")
	want("hub " + aHub)
	p.Disconnected("peer", "1")
	want("gone")
	if len(p.connections) > 0 {
		t.Errorf("%d peers have connections", len(p.connections))
	}
}

// A connection that the node has made, or that is relayed by one of its own hubs, is an answer.
func TestConnectionsAreAnswers(t *testing.T) {
	hub, err := peer.Decode(aHub)
	if err != nil {
		t.Fatal(err)
	}
	c := config()
	c.Hubs = []peer.ID{hub}
	p := New(c)
	const other = "/p2p/12D3KooWEyoppNCUx8Yx66oV9fJnriXwCcXwDDUA2kj6vnc6iDEp/p2p-circuit"
	for i, c := range []struct {
		address  string
		outbound bool
		want     string
	}{
		{"/ip4/13.0.0.1/tcp/1", true, "/ip4/13.0.0.1/tcp/1"},
		{"/ip4/13.0.0.1/tcp/1", false, ""},
		{"/ip4/203.0.113.7/tcp/1/p2p/" + aHub + "/p2p-circuit", false, "/p2p/" + aHub + "/p2p-circuit"},
		{"/ip4/203.0.113.7/tcp/1" + other, true, ""},
	} {
		id := peer.ID(fmt.Sprint(i))
		p.Connected(noon, id, "open", multiaddr.StringCast(c.address), c.outbound)
		got := ""
		if last := p.attempts.lastAnswer(id); last != nil {
			got = last.String()
		}
		if got != c.want {
			t.Errorf("%s, outbound %t: answered at %q, expected %q", c.address, c.outbound, got, c.want)
		}
	}
}

// With the same events and the same source of randomness a policy decides the same, so that a run can
// be repeated.
func TestPlansRepeat(t *testing.T) {
	type record struct {
		id     peer.ID
		sealed []byte
	}
	var records []record
	for i := range 60 {
		id, sealed := newRecord(t, fmt.Sprintf("/ip4/13.%d.0.1/tcp/1", i%7))
		records = append(records, record{id, sealed})
	}
	run := func() (plans []Plan, introduced [][][]byte) {
		s, onTask := taskWith(12, true)
		s.policy.self = records[0].id // a valid ID
		for i, r := range records {
			for j := range 6 {
				if err := s.Learn(r.sealed, peer.ID(fmt.Sprint("referrer ", (i+j)%9)), honestAddress(1)); err != nil {
					t.Fatal(err)
				}
			}
			s.policy.Register(noon, "task", r.id, honestAddress(i%5), r.sealed)
		}
		for now := noon; len(plans) < 500; {
			if len(plans)%50 == 0 {
				s.deliver(now, onTask[:len(plans)/50])
			}
			plan := s.Plan(now, onTask)
			for i, c := range plan.Dial {
				s.Dialled(now, c, i%3 == 0)
				plan.Dial[i].member = nil // a pointer
			}
			plans = append(plans, plan)
			introduced = append(introduced, s.policy.Introduce(now, "task", records[0].id, 5), s.Records(5))
			now = now.Add(plan.Pause)
		}
		return plans, introduced
	}
	plans, introduced := run()
	again, introducedAgain := run()
	if !reflect.DeepEqual(plans, again) || !reflect.DeepEqual(introduced, introducedAgain) {
		t.Error("a second run decides otherwise")
	}
}
