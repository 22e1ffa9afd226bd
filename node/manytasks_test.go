package node_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p/core/network"

	"github.com/fbo-node/fbo/node"
)

// TestCommonTasksShareAConnection: two nodes with many common tasks exchange the shares of each over
// the connection that they began with, and neither bans the other.
func TestCommonTasksShareAConnection(t *testing.T) {
	t.Parallel()
	const tasks = 20
	first := loopback(t)
	second := loopback(t, first.Addresses()[0])
	dialled := func() (ids []string) {
		for _, c := range second.Network().Network().ConnsToPeer(first.ID()) {
			if c.Stat().Direction == network.DirOutbound { // the others verify addresses
				ids = append(ids, c.ID())
			}
		}
		return ids
	}
	eventually(t, "the connection", func() bool { return len(dialled()) == 1 })
	begun := dialled()
	var sessions [2][tasks]*node.Session
	for i := range tasks {
		text := strings.Replace(bowl, "name: bowl", fmt.Sprintf("name: bowl%d", i), 1)
		for of, n := range []*node.Node{first, second} {
			sessions[of][i] = join(t, n, text, uint64(of))
		}
	}
	for i := range tasks {
		evaluate(t, sessions[0][i], 1)
	}
	for i := range tasks {
		eventually(t, fmt.Sprintf("both on task %d", i), func() bool {
			return len(statusOf(t, sessions[0][i]).Present) == 2 && len(statusOf(t, sessions[1][i]).Present) == 2
		})
	}
	if now := dialled(); len(now) != 1 || now[0] != begun[0] {
		t.Errorf("the nodes have the connections %v, expected %v", now, begun)
	}
}
