package node

import (
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// DefaultWait is how long the first design of a node without outcomes waits for
// what peers know, at most.
const DefaultWait = 10 * time.Second

const (
	peerPollInterval = 50 * time.Millisecond
	quietTime        = 500 * time.Millisecond // without another peer, once all peers on the task have sent their shares
	searchTime       = 3 * time.Second        // without another peer, while none is on the task
	quietShare       = 10                     // of an evaluation's time, once known, a wait is one part
)

// wait is how long the first design may be held back; zero: not at all.
func (o JoinOptions) wait(evaluation time.Duration) time.Duration {
	longest := o.Wait
	if longest == 0 {
		longest = DefaultWait
	}
	if evaluation > 0 {
		longest = min(longest, evaluation/quietShare)
	}
	return max(longest, 0)
}

// awaitPeers lets the agent choose its first design once the peers that are there have
// told what they know, once it is clear that nobody is there, or when the time is
// up.
func (t *topic) awaitPeers(longest time.Duration) {
	begun := time.Now()
	look := time.NewTicker(peerPollInterval)
	defer look.Stop()
	peersBefore, changed := []peer.ID{}, begun
	for time.Since(begun) < longest {
		if now := t.hasPeers(); !slices.Equal(now, peersBefore) {
			peersBefore, changed = now, time.Now()
		}
		if t.gathered(len(peersBefore) > 0, time.Since(changed)) {
			break
		}
		select {
		case <-t.ctx.Done():
			return
		case <-look.C:
		}
	}
	t.session.logger.Info("the first design waits no longer", "after", time.Since(begun))
	_ = t.session.do(t.ctx, func(now time.Time) { t.session.agent.Release(now) }) // the session's end is seen by all
}

// hasPeers lists all peers that are connected, in order, those on the task twice.
func (t *topic) hasPeers() []peer.ID {
	all := slices.Concat(t.session.node.host.Network().Peers(), t.onTask())
	slices.Sort(all)
	return all
}

// gathered tells whether there is nothing more to wait for, so long after the last
// peer came or went.
func (t *topic) gathered(connected bool, quiet time.Duration) bool {
	if peers := t.onTask(); len(peers) > 0 {
		return t.policy.AllFetched(peers) && quiet >= quietTime
	}
	// Who is connected may yet turn up on the task, or be a hub that introduces others.
	n := t.session.node
	return n.untried.Load() == 0 && (!connected && !n.MDNS || quiet >= searchTime)
}
