package node_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/marcopolo/simnet"

	"github.com/fbo-node/fbo/node"
)

// addKnowing starts a node that was given the addresses of others, and returns how
// long its first Ask waited and from how many authors it had weights then.
func (f *fleet) addKnowing(wait time.Duration, others ...string) (waited time.Duration, authors int) {
	f.t.Helper()
	f.wait, f.peers = wait, others
	late := f.add()
	f.wait, f.peers = 0, nil
	asked := time.Now()
	if _, err := late.session.Ask(context.Background()); err != nil {
		f.t.Fatal(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return time.Since(asked), len(late.got)
}

// followTask is one whose first designs can rest on what peers know.
var followTask = strings.Replace(simTask, "type: fts", "type: peer-prior", 1)

// stranger is a peer that is nowhere.
const unmet = "12D3KooWCtgLB35RpjwhC4Hwgj2ZbSsN7WRMiDdBQg9mExHX659m"

// learn makes so many trials that the node has something to share.
func (s *simulated) learn() {
	s.fleet.t.Helper()
	for range 4 {
		s.evaluate()
	}
}

func addressOf(s *simulated) string {
	return fmt.Sprintf("%s/p2p/%s", s.host.Addrs()[0], s.host.ID())
}

// Asked at once, a newcomer answers with what all its peers know, however slow
// their connections, and long before the time is up.
func TestFirstAskWaitsForWhatPeersKnow(t *testing.T) {
	inSimulation(t, func(t *testing.T, f *fleet) {
		f.task = parse(t, followTask)
		f.latency = func(*simnet.Packet) time.Duration { return 200 * time.Millisecond }
		for range 5 {
			f.add().connect()
		}
		time.Sleep(5 * time.Second)
		for _, n := range f.nodes {
			n.learn()
		}
		time.Sleep(30 * time.Second)
		waited, authors := f.addKnowing(0, addressOf(f.nodes[0]))
		if authors != 5 || waited > 5*time.Second {
			t.Errorf("the first design came after %v with the weights of %d authors, want 5", waited, authors)
		}
		t.Logf("waited %v", waited)
	})
}

// Where nobody is looked for the first Ask waits for nobody, where the only peer
// does not answer no longer than allowed, and not at all where that is not wanted.
func TestFirstAskWaitsNoLongerThanAllowed(t *testing.T) {
	inSimulation(t, func(t *testing.T, f *fleet) {
		f.task = parse(t, followTask)
		silent := fmt.Sprintf("/ip4/%s/udp/8000/quic-v1/p2p/%s", simnet.IntToPublicIPv4(99), unmet)
		for name, c := range map[string]struct {
			wait        time.Duration
			peers       []string
			least, most time.Duration
		}{
			"nobody is looked for": {0, nil, 0, 100 * time.Millisecond},
			"nobody answers":       {3 * time.Second, []string{silent}, 2900 * time.Millisecond, 3200 * time.Millisecond},
			"the default":          {0, []string{silent}, 4 * time.Second, node.DefaultWait + 200*time.Millisecond},
			"no wait":              {-1, []string{silent}, 0, 100 * time.Millisecond},
		} {
			if waited, _ := f.addKnowing(c.wait, c.peers...); waited < c.least || waited > c.most {
				t.Errorf("%s: waited %v, want %v to %v", name, waited, c.least, c.most)
			}
		}
	})
}

// A node with an outcome does not wait.
func TestOnlyTheFirstDesignWaits(t *testing.T) {
	inSimulation(t, func(t *testing.T, f *fleet) {
		f.task = parse(t, followTask)
		f.peers = []string{fmt.Sprintf("/ip4/%s/udp/8000/quic-v1/p2p/%s", simnet.IntToPublicIPv4(99), unmet)}
		late := f.add()
		late.evaluate()
		begun := time.Now()
		late.evaluate()
		if waited := time.Since(begun); waited > 100*time.Millisecond {
			t.Errorf("the second design waited %v", waited)
		}
	})
}

// A keeper is nobody's peer in the rounds of presence, and tells a later node what
// it holds when all others have left.
func TestKeeperIsNotPresent(t *testing.T) {
	inSimulation(t, func(t *testing.T, f *fleet) {
		f.task = parse(t, followTask)
		f.keep = true
		keeper := f.add()
		f.keep = false
		for range 3 {
			n := f.add()
			n.connect()
			n.learn()
		}
		time.Sleep(10 * time.Second)
		for i, n := range f.nodes {
			status, err := n.session.Status(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if len(status.Present) != 3 || status.Keeping != (i == 0) {
				t.Errorf("node %d sees %d present, want 3; keeping: %v", i, len(status.Present), status.Keeping)
			}
		}
		for _, n := range f.nodes[1:] {
			n.close()
		}
		f.nodes = f.nodes[:1]
		time.Sleep(time.Hour)
		if _, authors := f.addKnowing(0, addressOf(keeper)); authors != 3 {
			t.Errorf("a later node has the weights of %d authors, want 3", authors)
		}
	})
}
