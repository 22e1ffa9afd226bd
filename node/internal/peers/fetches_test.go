package peers

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

func TestPlanFetch(t *testing.T) {
	s, onTask := taskWith(3, false)
	var members []peer.ID
	for i := range maxFetchDials + 2 {
		members = append(members, introduce(t, s, "referrer", Global, fmt.Sprintf("/ip4/13.%d.0.1/tcp/1", i)))
	}
	const unknown = peer.ID("unknown")
	banned := onTask[2]
	s.policy.Violated(noon, banned, MaxViolations)
	authors := slices.Concat(onTask, members, []peer.ID{unknown})

	plan := s.PlanFetch(noon, authors, onTask[:2])
	if want := onTask[:2]; !slices.Equal(plan.Ask, want) {
		t.Errorf("%v are asked themselves, expected the connected authors %v, and not the banned one", plan.Ask, want)
	}
	if len(plan.Dial) != maxFetchDials || len(plan.Rest) != 3 || !slices.Contains(plan.Rest, unknown) {
		t.Errorf("%d authors are dialled and %d asked of others, expected %d and 3, the unknown one among them", len(plan.Dial), len(plan.Rest), maxFetchDials)
	}
	if !slices.Contains(onTask[:2], plan.Helper) {
		t.Errorf("%q is asked for the others, expected one of %v", plan.Helper, onTask[:2])
	}

	// A member is not dialled again at once, and the budget of its referrer ends.
	again := s.PlanFetch(noon, members, onTask[:2])
	for _, c := range again.Dial {
		if slices.ContainsFunc(plan.Dial, func(before Candidate) bool { return before.Info.ID == c.Info.ID }) {
			t.Errorf("%v is dialled twice at once", c.Info.ID)
		}
	}
	if len(again.Dial)+len(again.Rest) != len(members) {
		t.Errorf("%d of %d authors are in the second plan", len(again.Dial)+len(again.Rest), len(members))
	}
	for i := range 40 {
		members = append(members, introduce(t, s, "referrer", Global, fmt.Sprintf("/ip4/14.%d.0.1/tcp/1", i)))
	}
	dials := len(plan.Dial) + len(again.Dial)
	for range 10 {
		dials += len(s.PlanFetch(noon, members, nil).Dial)
	}
	if dials != 16 {
		t.Errorf("%d members of one referrer are dialled at once, the limit is 16", dials)
	}
}

// A peer that has suggested authors is a keeper, and helps before others while it is on the task.
func TestPlanFetchPrefersKeepers(t *testing.T) {
	s, onTask := taskWith(5, false)
	s.Suggested(onTask[3])
	s.Suggested("elsewhere")
	for range 20 {
		if plan := s.PlanFetch(noon, []peer.ID{"unknown"}, onTask); plan.Helper != onTask[3] {
			t.Fatalf("%q is asked, expected the keeper %q", plan.Helper, onTask[3])
		}
	}
	s.Left(onTask[3])
	if plan := s.PlanFetch(noon.Add(time.Second), []peer.ID{"unknown"}, onTask[:3]); plan.Helper == onTask[3] || plan.Helper == "" {
		t.Errorf("%q is asked after the keeper has left", plan.Helper)
	}
	if plan := s.PlanFetch(noon, []peer.ID{"unknown"}, nil); plan.Helper != "" {
		t.Errorf("%q is asked without a peer on the task", plan.Helper)
	}
}

func TestReaches(t *testing.T) {
	s, onTask := taskWith(2, false)
	member := introduce(t, s, "referrer", Global, "/ip4/13.0.0.1/tcp/1")
	hidden := introduce(t, s, "referrer", Global, "/ip4/192.168.1.1/tcp/1") // in a network of the referrer
	banned := introduce(t, s, "referrer", Global, "/ip4/13.0.0.2/tcp/1")
	s.policy.Violated(noon, banned, MaxViolations)
	s.policy.Violated(noon, onTask[1], MaxViolations)
	for id, want := range map[peer.ID]bool{onTask[0]: true, member: true, hidden: false, banned: false, onTask[1]: false, "unknown": false} {
		if got := s.Reaches(noon, id); got != want {
			t.Errorf("the node reaches %s: %v, want %v", id, got, want)
		}
	}
}
