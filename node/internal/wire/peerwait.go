package wire

import (
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/agent"
)

const (
	peerPollInterval = 50 * time.Millisecond
	quietTime        = 500 * time.Millisecond // the wait ends this long after the last change of connected peers, once all peers on the task have sent their shares
	searchTime       = 3 * time.Second        // the wait ends this long after the last change of connected peers, if none of them is on the task
)

// awaitPeers lets the agent choose its first design once the connected peers have sent their
// shares, no peer has appeared for a while, or the maximum wait has passed.
func (t *Topic) awaitPeers(longest time.Duration) {
	begun := time.Now()
	look := time.NewTicker(peerPollInterval)
	defer look.Stop()
	peersBefore, changed := []peer.ID{}, begun
	for time.Since(begun) < longest {
		// untried must be read before the list of peers. A dial counts as tried only after its peer
		// is connected. In the other order, a peer that connects in between would be missing in
		// both.
		tried := t.net.untried.Load() == 0
		if now := t.hasPeers(); !slices.Equal(now, peersBefore) {
			peersBefore, changed = now, time.Now()
		}
		if t.gathered(tried, len(peersBefore) > 0, time.Since(changed)) {
			break
		}
		select {
		case <-t.ctx.Done():
			return
		case <-look.C:
		}
	}
	t.log.Info("the first design waits no longer", "after", time.Since(begun))
	_ = t.do(t.ctx, func(a *agent.Agent, now time.Time) { a.Release(now) }) // other code reports the session's end
}

// hasPeers returns a sorted list of the connected peers. Peers on the task occur twice, so that the
// list also changes when a connected peer joins the task.
func (t *Topic) hasPeers() []peer.ID {
	all := slices.Concat(t.net.Host.Network().Peers(), t.OnTask())
	slices.Sort(all)
	return all
}

// gathered reports whether the wait for peers can end. The argument tried means that all configured
// peers were dialled, connected that some peer is connected, and quiet is the time since the last
// change of the peers.
func (t *Topic) gathered(tried, connected bool, quiet time.Duration) bool {
	if peers := t.OnTask(); len(peers) > 0 {
		return t.policy.AllFetched(peers) && quiet >= quietTime
	}
	// A connected peer may still join the task, or be a hub that introduces members.
	return tried && (!connected && !t.net.MDNS || quiet >= searchTime)
}
