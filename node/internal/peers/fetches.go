package peers

import (
	"maps"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// maxFetchDials is the maximum number of members that a FetchPlan dials.
const maxFetchDials = 8

// FetchPlan lists the peers from which to request the announced shares of authors.
type FetchPlan struct {
	Ask    []peer.ID   // connected authors, to ask for their own shares
	Dial   []Candidate // authors to dial, and then to ask for their own shares
	Rest   []peer.ID   // authors whose shares Helper may have
	Helper peer.ID     // a peer on the task, a keeper if one is known; empty: there is none
}

// PlanFetch returns the peers to ask for the announced shares of authors: each author itself if it is
// connected or may be dialled, else another peer. The dials have the limits of all
// dials to members. A peer that is refused is not asked.
func (t *Task) PlanFetch(now time.Time, authors, onTask []peer.ID) (plan FetchPlan) {
	now = t.policy.lock(now)
	defer t.policy.mu.Unlock()
	for _, id := range authors {
		known := t.known[id]
		switch {
		case t.policy.banned(now, id) || !t.policy.MayTakePart(id):
		case len(t.policy.connections[id]) > 0 || slices.Contains(onTask, id):
			plan.Ask = append(plan.Ask, id)
		case known != nil && len(plan.Dial) < maxFetchDials && len(known.info.Addrs) > 0 && !known.retry.After(now):
			referrer, ok := t.mayTry(now, known)
			if !ok {
				plan.Rest = append(plan.Rest, id)
				continue
			}
			if referrer != "" {
				t.policy.attempts.try(now, referrer)
			}
			known.visited, known.retry = true, now.Add(DialTimeout)
			plan.Dial = append(plan.Dial, Candidate{Info: known.info, member: known, referrer: referrer})
		default:
			plan.Rest = append(plan.Rest, id)
		}
	}
	var keepers []peer.ID
	for _, id := range slices.Sorted(maps.Keys(t.suggesting)) {
		if slices.Contains(onTask, id) {
			keepers = append(keepers, id)
		}
	}
	if helpers := len(keepers) + len(onTask); helpers > 0 {
		plan.Helper = t.pickActive(now, keepers, onTask)
	}
	return plan
}

// Reaches reports whether the node can request shares from a peer itself: it is connected, or its record has an address.
func (t *Task) Reaches(now time.Time, id peer.ID) bool {
	now = t.policy.lock(now)
	defer t.policy.mu.Unlock()
	if t.policy.banned(now, id) || !t.policy.MayTakePart(id) {
		return false
	}
	known := t.known[id]
	return len(t.policy.connections[id]) > 0 || known != nil && len(known.info.Addrs) > 0
}

// Suggested records that a peer has suggested authors, as keepers do.
func (t *Task) Suggested(by peer.ID) {
	t.policy.mu.Lock()
	defer t.policy.mu.Unlock()
	if _, on := t.peers[by]; on {
		t.suggesting[by] = true
	}
}
