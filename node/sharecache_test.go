package node_test

import (
	"crypto/rand"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/sharecache"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// sealed is a share of an author that exists for this alone.
func sealed(t *testing.T, spec *task.Task, payload []byte, ttl time.Duration) protocol.Share {
	t.Helper()
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	share, err := protocol.Seal(protocol.Share{
		Task: spec.ID(), Key: protocol.Key{Kind: "weights"}, Stamp: protocol.Stamp{Epoch: 1, Sequence: 1}, TTL: ttl, Payload: payload,
	}, key)
	if err != nil {
		t.Fatal(err)
	}
	return share
}

// What stands in the file of an earlier run is judged as if a peer told it now: by
// signature, task, decoder, age and the present list of those who may take part.
func TestFileOfWhatWasHeardIsNotTrusted(t *testing.T) {
	t.Parallel()
	spec, other := parse(t, bowl), parse(t, strings.Replace(bowl, "name: bowl", "name: another", 1))
	payload, err := protocol.Weights{Observations: 5, Values: make([]float64, 64)}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	good, unlisted := sealed(t, spec, payload, 24*time.Hour), sealed(t, spec, payload, 24*time.Hour)
	broken := append([]byte(nil), sealed(t, spec, payload, 24*time.Hour).Envelope...)
	broken[len(broken)-1] ^= 1
	now := time.Now()
	c := sharecache.Contents{Task: spec.ID().String(), Shares: []sharecache.Share{
		{Envelope: good.Envelope, Sent: now},
		{Envelope: unlisted.Envelope, Sent: now},
		{Envelope: broken, Sent: now},
		{Envelope: sealed(t, spec, []byte("no weights"), 24*time.Hour).Envelope, Sent: now},
		{Envelope: sealed(t, other, payload, 24*time.Hour).Envelope, Sent: now},
		{Envelope: sealed(t, spec, payload, 24*time.Hour).Envelope, Sent: now.Add(-25 * time.Hour)},
	}}
	for name, test := range map[string]struct {
		allow []peer.ID
		void  map[string]uint64
		want  int
	}{
		"everybody":  {nil, nil, 2},
		"a list":     {[]peer.ID{good.Author}, nil, 1},
		"a liar":     {nil, map[string]uint64{good.Author.String(): 1}, 1},
		"before now": {nil, map[string]uint64{good.Author.String(): 0}, 2},
	} {
		n := &node.Node{Strategies: all.Strategies(), Dir: t.TempDir(), Listen: []string{"/ip4/127.0.0.1/tcp/0"}, Allow: test.allow}
		c.Distrusted = test.void
		if err := sharecache.Write(filepath.Join(n.Dir, "peer-shares", spec.ID().String()+".jsonl"), c); err != nil {
			t.Fatal(err)
		}
		if err := n.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		s := join(t, n, bowl, 1)
		status, err := s.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if status.Stored.PeerShares != test.want || status.SharesReceived != 0 {
			t.Errorf("%s: %d shares are believed, want %d; %d count as received", name, status.Stored.PeerShares, test.want, status.SharesReceived)
		}
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}
}
