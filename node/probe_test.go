package node_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/probe"
)

func TestProbe(t *testing.T) {
	t.Parallel()
	n, other := loopback(t), loopback(t)
	s := join(t, n, bowl, 1)
	dead := "/ip4/127.0.0.1/tcp/1/p2p/" + n.ID().String() // a port that nobody is given by chance
	cases := map[string]error{dead: probe.ErrUnreachable, "foo": probe.ErrPeerAddress, strings.Split(n.Addresses()[0], "/p2p/")[0]: probe.ErrPeerAddress}
	for _, address := range n.Addresses() { // one by QUIC and one by TCP
		cases[address] = nil
		cases[strings.Replace(address, n.ID().String(), other.ID().String(), 1)] = probe.ErrWrongPeer
	}
	if len(cases) != 7 {
		t.Fatalf("%d cases: %v", len(cases), cases)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	eventually(t, "the node announces its task", func() bool {
		reach, err := probe.Probe(ctx, n.Addresses()[0], "")
		return err == nil && len(reach.Tasks) == 1
	})
	for address, want := range cases {
		reach, err := probe.Probe(ctx, address, "bowl")
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", address, err, want)
		}
		if errors.Is(err, probe.ErrWrongPeer) && !strings.Contains(err.Error(), n.ID().String()) {
			t.Errorf("%v does not say who answers", err)
		}
		if err != nil {
			continue
		}
		if reach.ID != n.ID() || !strings.HasPrefix(address, reach.Address) || reach.RTT <= 0 || reach.Agent != "fbo-node" ||
			len(reach.Tasks) != 1 || reach.Tasks[0] != s.Task().ID().String() ||
			len(reach.Named) != 1 || reach.Named[0] != reach.Tasks[0] {
			t.Errorf("%s: %+v", address, reach)
		}
	}
}

// TestProbeOfSilence: somebody accepts connections and says nothing.
func TestProbeOfSilence(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	_, port, _ := net.SplitHostPort(silent.Addr().String())
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err = probe.Probe(ctx, "/ip4/127.0.0.1/tcp/"+port+"/p2p/12D3KooWGRUVp3QnFP5vfoqNXhRLSHpR8s4VbQYoyLQwVkkvUrvG", "")
	if !errors.Is(err, probe.ErrUnreachable) {
		t.Errorf("got %v", err)
	}
}
