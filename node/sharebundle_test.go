package node_test

import (
	"crypto/rand"
	"errors"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/sharebundle"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy/all"
)

// TestImportedBundlesObeyTheAllowList imports a bundle into nodes without a network, with lists of other
// nodes, and one that was made in the future.
func TestImportedBundlesObeyTheAllowList(t *testing.T) {
	t.Parallel()
	spec := parse(t, bowl)
	payload, err := protocol.Weights{Observations: 5, Values: make([]float64, 64)}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	exporter, err := peer.IDFromPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	share := sealed(t, spec, payload, 24*time.Hour)
	now := time.Now()
	for name, test := range map[string]struct {
		allow []peer.ID
		made  time.Time
		want  node.ImportCounts
		bad   bool
	}{
		"all may":          {nil, now, node.ImportCounts{New: 1}, false},
		"both are listed":  {[]peer.ID{exporter, share.Author}, now, node.ImportCounts{New: 1}, false},
		"another exporter": {[]peer.ID{share.Author}, now, node.ImportCounts{}, true},
		"another author":   {[]peer.ID{exporter}, now, node.ImportCounts{Excluded: 1}, true},
		"in the future":    {nil, now.Add(48 * time.Hour), node.ImportCounts{}, true},
		"expired since":    {nil, now.Add(-25 * time.Hour), node.ImportCounts{Expired: 1}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bundle, err := sharebundle.Encode(sharebundle.Bundle{Task: spec.ID(), Made: test.made, Items: []sharebundle.Item{{Share: share}}}, key, nil)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			host, err := node.Offline(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer host.Close()
			n := &node.Node{Dir: dir, Host: host, Allow: test.allow, Strategies: all.Strategies()}
			if err := n.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			defer n.Close()
			session, err := n.Join(t.Context(), spec, node.JoinOptions{Keep: true})
			if err != nil {
				t.Fatal(err)
			}
			counts, err := session.ImportShares(t.Context(), bundle)
			if counts != test.want || errors.Is(err, node.ErrBundle) != test.bad || !test.bad && err != nil {
				t.Errorf("%+v, %v; want %+v, refused: %t", counts, err, test.want, test.bad)
			}
		})
	}
}
