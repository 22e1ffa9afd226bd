package node_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/x/simlibp2p"
	"github.com/marcopolo/simnet"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/internal/invitation"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// The network of these tests is simulated and so is their time: QUIC packets
// take 20 ms each way over links of 20 Mbit/s.
const oneWay = 20 * time.Millisecond

const simTask = `
name: simulated
goal: minimize
parameters:
  - {name: x, type: int, low: 1, high: 1000}
surrogate: {type: rff, features: 16}
strategy: {type: fts, initial_designs: 1}
`

// fleet is a set of nodes that note when shares were sent and received.
type fleet struct {
	t     *testing.T
	net   *simnet.Simnet
	task  *task.Task
	nodes []*simulated

	latency func(*simnet.Packet) time.Duration
	started int         // nodes, those that have left included
	lose    func() bool // whether a share gets lost on its way to a node
	direct  bool        // the nodes have the exchange mail

	// Of the nodes that are started next.
	keep  bool
	by    *invitation.Invitation
	wait  time.Duration
	peers []string
	build func(*node.Node) // called before the node starts

	newHost func() host.Host // nil: newQUICHost

	mu   sync.Mutex
	sent map[peer.ID]time.Time // when the node last sent weights
}

type simulated struct {
	fleet   *fleet
	host    host.Host
	node    *node.Node
	session *node.Session
	mail    *mail
	got     map[peer.ID]time.Time // under fleet.mu: when weights of that peer last came
}

// inSimulation runs a test in a bubble of virtual time.
func inSimulation(t *testing.T, test func(t *testing.T, f *fleet)) {
	runtime.GC() // finalisers must not run inside the bubble
	synctest.Test(t, func(t *testing.T) {
		f := &fleet{
			t:    t,
			net:  &simnet.Simnet{},
			task: parse(t, simTask),
			sent: map[peer.ID]time.Time{},
		}
		f.net.LatencyFunc = func(p *simnet.Packet) time.Duration { return f.latency(p) }
		f.latency = func(*simnet.Packet) time.Duration { return oneWay }
		f.net.Start()
		test(t, f)
		for _, n := range f.nodes {
			n.close()
		}
		f.net.Close()
	})
}

// newQUICHost returns a host on the simulated network.
func (f *fleet) newQUICHost() host.Host {
	f.t.Helper()
	link := simnet.LinkSettings{BitsPerSecond: 20 * simlibp2p.OneMbps}
	address := fmt.Sprintf("/ip4/%s/udp/8000/quic-v1", simnet.IntToPublicIPv4(f.started))
	h, err := libp2p.New(
		libp2p.ListenAddrStrings(address),
		simlibp2p.QUICSimnet(f.net, simnet.NodeBiDiLinkSettings{Downlink: link, Uplink: link}),
		libp2p.DisableIdentifyAddressDiscovery(), // stalls virtual time
		libp2p.ResourceManager(&network.NullResourceManager{}),
		libp2p.DisableMetrics(),
	)
	if err != nil {
		f.t.Fatal(err)
	}
	return h
}

// add starts a node that does not know any peer yet.
func (f *fleet) add() *simulated {
	f.t.Helper()
	newHost, err := f.newQUICHost, error(nil)
	if f.newHost != nil {
		newHost = f.newHost
	}
	h := newHost()
	s := &simulated{fleet: f, host: h, node: &node.Node{Strategies: all.Strategies(), Dir: f.t.TempDir(), Host: h, Peers: f.peers}, got: map[peer.ID]time.Time{}}
	f.started++
	f.nodes = append(f.nodes, s)
	if f.lose != nil {
		s.node.Lose(func() bool { f.mu.Lock(); defer f.mu.Unlock(); return f.lose() })
	}
	if f.direct {
		s.mail = newMail(s.node)
	}
	if f.build != nil {
		f.build(s.node)
	}
	if err := s.node.Start(context.Background()); err != nil {
		f.t.Fatal(err)
	}
	seed := uint64(f.started)
	if s.session, err = s.node.Join(context.Background(), f.task, node.JoinOptions{Seed: &seed, Wait: f.wait, Keep: f.keep, Invitation: f.by, OnEvent: s.note}); err != nil {
		f.t.Fatal(err)
	}
	return s
}

// invite makes the nodes that are started next take part by invitation.
func (f *fleet) invite(invited bool) {
	if invited {
		i := invitation.New(f.task.ID())
		f.by = &i
	}
}

func (s *simulated) note(e agent.Event) {
	s.fleet.mu.Lock()
	defer s.fleet.mu.Unlock()
	switch {
	case e.Kind == presence.Kind:
	case e.Type == agent.ShareSent:
		s.fleet.sent[s.node.ID()] = time.Now()
	case e.Type == agent.ShareReceived:
		s.got[e.Peer] = time.Now()
	}
}

func (s *simulated) close() {
	if err := s.node.Close(); err != nil {
		s.fleet.t.Error(err)
	}
	s.host.Close()
}

// connect dials every node that was added before.
func (s *simulated) connect() {
	s.fleet.t.Helper()
	for _, other := range s.fleet.nodes {
		if other == s {
			return
		}
		if err := s.host.Connect(context.Background(), peer.AddrInfo{ID: other.host.ID(), Addrs: other.host.Addrs()}); err != nil {
			s.fleet.t.Fatal(err)
		}
	}
}

// evaluate makes one trial, after which the node shares.
func (s *simulated) evaluate() {
	s.fleet.t.Helper()
	trial, err := s.session.Ask(context.Background())
	if err != nil {
		s.fleet.t.Fatal(err)
	}
	if err := s.session.Tell(context.Background(), trial.ID, float64(trial.Design.Int("x"))); err != nil {
		s.fleet.t.Fatal(err)
	}
}

func TestEveryShareReachesAFullMeshOfTenWithin2s(t *testing.T) { testFullMesh(t, false) }

func TestEveryShareReachesTenByInvitationWithin2s(t *testing.T) { testFullMesh(t, true) }

func testFullMesh(t *testing.T, invited bool) {
	inSimulation(t, func(t *testing.T, f *fleet) {
		f.invite(invited)
		for range 10 {
			f.add().connect()
		}
		time.Sleep(5 * time.Second) // gossip forms its mesh
		for round := range 3 {
			for _, n := range f.nodes {
				n.evaluate()
			}
			time.Sleep(2 * time.Second)
			f.mu.Lock()
			var slowest time.Duration
			for _, receiver := range f.nodes {
				for _, sender := range f.nodes {
					if receiver == sender {
						continue
					}
					took := receiver.got[sender.node.ID()].Sub(f.sent[sender.node.ID()])
					if took < 0 {
						t.Errorf("round %d: a share did not arrive within 2s", round)
					}
					slowest = max(slowest, took)
				}
			}
			f.mu.Unlock()
			t.Logf("round %d: the slowest of 90 deliveries took %v", round, slowest)
		}
	})
}

func TestLateJoinerHasEveryPresentShareWithin5s(t *testing.T) { testLateJoiner(t, false) }

func TestLateGuestHasEveryPresentShareWithin5s(t *testing.T) { testLateJoiner(t, true) }

func testLateJoiner(t *testing.T, invited bool) {
	inSimulation(t, func(t *testing.T, f *fleet) {
		f.invite(invited)
		for range 10 {
			f.add().connect()
		}
		time.Sleep(2 * time.Second)
		for _, n := range f.nodes {
			n.evaluate()
		}
		time.Sleep(time.Minute) // gossip has long forgotten
		late := f.add()
		joined := time.Now()
		late.connect()
		time.Sleep(5*time.Second - time.Since(joined))
		f.mu.Lock()
		var slowest time.Duration
		for _, at := range late.got {
			slowest = max(slowest, at.Sub(joined))
		}
		missing := 10 - len(late.got)
		f.mu.Unlock()
		if missing > 0 {
			t.Errorf("%d of 10 shares are missing after 5s", missing)
		}
		t.Logf("the last of 10 shares came %v after joining", slowest)
		for _, n := range f.nodes {
			status, err := n.session.Status(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if len(status.Present) != 11 || !status.PresenceAgreed {
				t.Errorf("after 5s a node sees %d present, agreed: %v; want 11 and true", len(status.Present), status.PresenceAgreed)
			}
		}
	})
}
