package node_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy/all"
)

// The tasks of a node with a memory limit divide the bytes for shares, whenever one comes or goes.
func TestTasksDivideTheMemory(t *testing.T) {
	t.Parallel()
	n := &node.Node{Strategies: all.Strategies(), Dir: t.TempDir(), Listen: loopbackAddresses(), MemoryLimit: 96 << 20}
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Close() })
	var sessions []*node.Session
	divided := func(all, parts int) {
		t.Helper()
		for i, s := range sessions {
			eventually(t, fmt.Sprintf("a part of 1/%d for task %d of %d", parts, i, len(sessions)), func() bool {
				bytes, err := s.ShareBytes(t.Context())
				return err == nil && bytes == all/parts
			})
		}
	}
	all := 0
	for i, parts := range []int{1, 2, 4, 4, 8} {
		s := join(t, n, strings.Replace(bowl, "name: bowl", fmt.Sprint("name: bowl", i), 1), 1)
		if sessions = append(sessions, s); i == 0 {
			var err error
			if all, err = s.ShareBytes(t.Context()); err != nil || all == 0 {
				t.Fatalf("%d bytes for a single task, %v", all, err)
			}
		}
		divided(all, parts)
	}
	for _, s := range sessions[2:] {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	sessions = sessions[:2]
	divided(all, 2)
}
