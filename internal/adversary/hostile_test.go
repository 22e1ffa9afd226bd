package adversary

import (
	"testing"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/peer"
	"google.golang.org/protobuf/proto"

	"github.com/fbo-node/fbo/protocol"
)

const tinyTask = `name: tiny
goal: minimize
parameters:
  - {name: x, type: float, low: -2, high: 2}
surrogate: {features: 16}
strategy: {type: fts}
`

func TestAttacksAreFoundByTheirNames(t *testing.T) {
	seen := map[string]bool{}
	for _, a := range Attacks() {
		if found, err := ByName(a.Name); err != nil || found.Name != a.Name || seen[a.Name] {
			t.Errorf("%q: %v", a.Name, err)
		}
		seen[a.Name] = true
	}
	if _, err := ByName("none of them"); err == nil {
		t.Error("an attack that does not exist was found")
	}
}

func TestPlansThatCannotBeReadAreErrors(t *testing.T) {
	for name, plan := range map[string]Plan{
		"no address": {Task: tinyTask},
		"no task":    {Task: "name:", Addresses: []string{"127.0.0.1"}},
		"no target":  {Task: tinyTask, Addresses: []string{"127.0.0.1"}, Targets: []string{"/ip4/127.0.0.1/tcp/1"}},
	} {
		if _, err := NewField(plan, func() {}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// What is forged is well-formed: nodes refuse it for what it is only.
func TestForgedMessagesAreValid(t *testing.T) {
	f, err := NewField(Plan{Task: tinyTask, Addresses: []string{"127.0.0.1"}}, func() {})
	if err != nil {
		t.Fatal(err)
	}
	key, err := newKey()
	if err != nil {
		t.Fatal(err)
	}
	m, err := f.Forged(key, 7, 1)
	if err != nil {
		t.Fatal(err)
	}
	author, err := peer.IDFromPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	share, err := protocol.Open(m.Data)
	if err != nil || share.Author != author || share.Stamp.Sequence != 7 {
		t.Errorf("%+v, %v", share, err)
	}
	if _, err := protocol.DecodeWeights(share.Payload, 16); err != nil {
		t.Error(err)
	}
	unsigned := proto.CloneOf(m)
	unsigned.Signature = nil
	signed, err := proto.Marshal(unsigned)
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := key.GetPublic().Verify(append([]byte(pubsub.SignPrefix), signed...), m.Signature); !ok {
		t.Errorf("the signature does not fit: %v", err)
	}
}
