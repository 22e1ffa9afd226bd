package wire

import (
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/agent"
)

const (
	peerPollInterval = 50 * time.Millisecond
	quietTime        = 500 * time.Millisecond // without another peer, once all peers on the task have sent their shares
	searchTime       = 3 * time.Second        // without another peer, while none is on the task
)

// awaitPeers ends the wait of the agent for its first design: once the connected peers have sent their
// shares, once no peers have appeared for a while, or when the time is up.
func (t *Topic) awaitPeers(longest time.Duration) {
	begun := time.Now()
	look := time.NewTicker(peerPollInterval)
	defer look.Stop()
	peersBefore, changed := []peer.ID{}, begun
	for time.Since(begun) < longest {
		// Read before the peers: a dial counts as tried once its peer is connected. In the other order a
		// peer that connects in between would be neither.
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
	_ = t.do(t.ctx, func(a *agent.Agent, now time.Time) { a.Release(now) }) // the session's end is reported elsewhere
}

// hasPeers lists all peers that are connected, in order, those on the task twice.
func (t *Topic) hasPeers() []peer.ID {
	all := slices.Concat(t.net.Host.Network().Peers(), t.OnTask())
	slices.Sort(all)
	return all
}

// gathered reports whether the wait can end, when all configured peers have been tried or not, and the
// last peer came or went that long ago.
func (t *Topic) gathered(tried, connected bool, quiet time.Duration) bool {
	if peers := t.OnTask(); len(peers) > 0 {
		return t.policy.AllFetched(peers) && quiet >= quietTime
	}
	// A connected peer may yet join the task, or be a hub that introduces others.
	return tried && (!connected && !t.net.MDNS || quiet >= searchTime)
}
