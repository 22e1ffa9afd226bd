//go:build unix

package main

import (
	"slices"
	"testing"
)

// A node that is killed and comes back before QUIC has found out that its connection
// is dead, which takes half a minute, is spoken to by gossip again.
func TestSumsFindWhoComesBack(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a timeout of QUIC")
	}
	t.Parallel()
	f := newFleet(t, 2, 1, "share_every: 1", "epsilon: 8, releases: 1, committee: 2, colluding: 1")
	f.listen = f.listen[:1] // QUIC alone; by TCP the end shows at once
	f.startAll(t)
	stays, leaves := f.nodes[0], f.nodes[1]
	leaves.moves = true // from its old ports it would reset the old connection
	met := func(times int) func(*fleetNode) bool {
		return func(n *fleetNode) bool { // it says so whenever it meets the other and whenever it loses it
			return len(n.process().of("peers")) >= times && slices.Contains(n.status(t).MeshPeers, leaves.id)
		}
	}
	eventually(t, "the other on the topic", []*fleetNode{stays}, met(1))
	leaves.kill(t)
	f.start(t, leaves, 1)
	eventually(t, "the other on the topic again", []*fleetNode{stays}, met(3))
}
