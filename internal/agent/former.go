package agent

import (
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/strategy"
)

// FormerShare is a valid share of a peer on the task that this one continues. Its value applies to
// this task.
type FormerShare struct {
	strategy.Share
	Expires time.Time
}

// ValidShares returns the peers' valid shares that outlast a restart, sorted by key.
func (a *Agent) ValidShares(now time.Time) (valid []FormerShare) {
	for _, share := range a.shares.valid(now) {
		if isCached(share.Share) {
			valid = append(valid, FormerShare{Share: *share, Expires: a.shares.held[share.Key].expires})
		}
	}
	return valid
}

// UseFormer makes views contain shares of the former task, and returns the number of those whose
// kind the task uses. The share of an author ends once the author shares on this task, so that no
// author counts twice. The agent neither stores nor sends these shares.
func (a *Agent) UseFormer(shares []FormerShare) (used int) {
	for _, share := range shares {
		if _, known := a.exchanges.byName[share.Kind]; known && share.Author != a.self {
			a.former = append(a.former, share)
		}
	}
	return len(a.former)
}

// peerShares returns the peers' valid shares, with those of the former task whose authors have
// shared nothing here, sorted by key.
func (a *Agent) peerShares(now time.Time) []*strategy.Share {
	valid := a.shares.valid(now)
	if len(a.former) == 0 {
		return valid
	}
	valid = slices.Clone(valid)
	here := map[peer.ID]bool{}
	for _, share := range valid {
		here[share.Author] = here[share.Author] || isCached(share.Share)
	}
	for i := range a.former {
		share := &a.former[i]
		if _, ignored := a.shares.void[share.Author]; !here[share.Author] && !ignored && share.Expires.After(now) {
			valid = append(valid, &share.Share)
		}
	}
	slices.SortStableFunc(valid, func(a, b *strategy.Share) int { return compareKeys(a.Key, b.Key) })
	return valid
}
