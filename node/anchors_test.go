package node_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"

	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy/all"
)

// A node that was given an address once finds its peers again without it, for as long
// as one of them is where it was. A file that is none costs one warning.
func TestANodeFindsItsPeersOfTheLastRun(t *testing.T) {
	inSimulation(t, func(t *testing.T, f *fleet) {
		var late atomic.Pointer[peer.ID] // whom the others do not dial
		f.build = func(n *node.Node) {
			n.Bar(func(id peer.ID, _ multiaddr.Multiaddr) bool {
				known := late.Load()
				return known != nil && *known == id
			})
		}
		first, second := f.honest(nil), f.honest(nil)
		f.build = nil
		again := f.honest(nil, first.node.Addresses()[0], second.node.Addresses()[0])
		id := again.host.ID()
		late.Store(&id)
		time.Sleep(10 * time.Minute)
		file := filepath.Join(again.node.Dir, "anchors", f.task.ID().String())
		kept, err := os.ReadFile(file)
		if err != nil || strings.Count(string(kept), "\n") != 2 || !strings.Contains(string(kept), first.host.ID().String()) {
			t.Fatalf("anchors %q, %v", kept, err)
		}
		restart := func() []string {
			var mu sync.Mutex
			var warnings []string
			warn := func(m string) { mu.Lock(); defer mu.Unlock(); warnings = append(warnings, m) }
			again.close()
			again.node = &node.Node{Strategies: all.Strategies(), Dir: again.node.Dir, Listen: again.node.Listen, OnWarning: warn}
			again.node.Libp2p(f.onNetwork()...)
			f.nodes = f.nodes[:len(f.nodes)-1]
			f.enter(again)
			time.Sleep(10 * time.Second)
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(warnings)
		}
		if warnings := restart(); len(warnings) > 0 || f.apart() > 0 {
			t.Errorf("after a restart %d pairs are not connected, warnings %q", f.apart(), warnings)
		}
		again.close()
		if err := os.WriteFile(file, []byte("\x00 is no address"), 0o600); err != nil {
			t.Fatal(err)
		}
		if warnings := restart(); f.apart() != 2 || len(warnings) != 1 || !strings.Contains(warnings[0], "the peers of the last run are forgotten") {
			t.Errorf("without anchors %d pairs are not connected, want 2; warnings %q", f.apart(), warnings)
		}
	})
}
