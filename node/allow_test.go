package node_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy/all"
)

const (
	anID      = "12D3KooWEyoppNCUx8Yx66oV9fJnriXwCcXwDDUA2kj6vnc6iDEp"
	anotherID = "12D3KooWHHzSeKaY8xuZVzkLbKFfvNgPPeKhFBGrMbNzbm5akpqu"
)

func TestParseAllow(t *testing.T) {
	list := "# the lab\n\n " + anID + "\t# Ada\r\n" + anotherID
	allowed, err := node.ParseAllow(strings.NewReader(list))
	var ids []string
	for _, id := range allowed {
		ids = append(ids, id.String())
	}
	if err != nil || !slices.Equal(ids, []string{anID, anotherID}) {
		t.Errorf("%v, %v", ids, err)
	}
	for name, c := range map[string]struct{ list, want string }{
		"no ID":       {anID + "\n\nada\n", `3: "ada" is no peer ID`},
		"two a line":  {anID + " " + anotherID, `1: "` + anID},
		"cut":         {"#\n" + anID[:20], "2: "},
		"an address":  {"/ip4/192.0.2.7/tcp/4001/p2p/" + anID, "1: "},
		"nobody":      {"# nobody yet\n", "1: the list names no node"},
		"empty":       {"", "1: the list names no node"},
		"a long line": {anID + "\n" + strings.Repeat("x", 1<<20), "2: "},
	} {
		if allowed, err := node.ParseAllow(strings.NewReader(c.list)); err == nil || !strings.HasPrefix(err.Error(), c.want) || allowed != nil {
			t.Errorf("%s: %v, %v, want %s", name, allowed, err, c.want)
		}
	}
}

func TestAPeerThatIsNotAllowedIsAMistake(t *testing.T) {
	n := &node.Node{Strategies: all.Strategies(), Dir: t.TempDir(), Peers: []string{"/ip4/127.0.0.1/tcp/1/p2p/" + anID}, Allow: []peer.ID{}}
	if err := n.Start(t.Context()); err == nil || !strings.Contains(err.Error(), anID+" is in Node.Peers and not in Node.Allow") {
		t.Errorf("error %v", err)
	}
}

// member is a session that notes whose weights it has got.
type member struct {
	node    *node.Node
	session *node.Session

	mu  sync.Mutex
	got map[peer.ID]int
}

// listen starts a node on loopback with the bowl task.
func listen(t *testing.T, n *node.Node) *member {
	t.Helper()
	n.Dir = t.TempDir()
	if n.Listen == nil {
		n.Listen = loopbackAddresses()
	}
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error("Close:", err)
		}
	})
	m := &member{node: n, got: map[peer.ID]int{}}
	session, err := n.Join(t.Context(), parse(t, bowl), node.JoinOptions{OnEvent: func(e agent.Event) {
		if e.Type == agent.ShareReceived && e.Kind != presence.Kind {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.got[e.Peer]++
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	m.session = session
	return m
}

func (m *member) received(other *member) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.got[other.node.ID()]
}

// evaluate makes one more trial, after which the node shares.
func (m *member) evaluate(t *testing.T) {
	t.Helper()
	trial, err := m.session.Ask(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := m.session.Tell(t.Context(), trial.ID, 1/float64(trial.ID)); err != nil {
		t.Fatal(err)
	}
}

// evaluateUntil makes trials of one node until something has happened.
func (m *member) evaluateUntil(t *testing.T, what string, reached func() bool) {
	t.Helper()
	next := time.Now()
	eventually(t, what, func() bool {
		if time.Now().After(next) {
			m.evaluate(t)
			next = time.Now().Add(300 * time.Millisecond)
		}
		return reached()
	})
}

func connect(ctx context.Context, from, to *node.Node) error {
	return from.Network().Connect(ctx, *peerInfo(to))
}

func peerInfo(n *node.Node) *peer.AddrInfo {
	return &peer.AddrInfo{ID: n.ID(), Addrs: n.Network().Network().ListenAddresses()}
}

// A stranger is refused at dial, whoever dials.
func TestAStrangerIsRefused(t *testing.T) {
	t.Parallel()
	friend, stranger := listen(t, &node.Node{Strategies: all.Strategies()}), listen(t, &node.Node{Strategies: all.Strategies()})
	closed := listen(t, &node.Node{Strategies: all.Strategies(), Allow: []peer.ID{friend.node.ID()}})
	if err := connect(t.Context(), closed.node, stranger.node); !errors.Is(err, swarm.ErrGaterDisallowedConnection) {
		t.Errorf("dialling a stranger: %v", err)
	}
	_ = connect(t.Context(), stranger.node, closed.node) // the dialler of a QUIC connection is told after the handshake
	eventually(t, "the stranger's disconnection", func() bool {
		return stranger.node.Network().Network().Connectedness(closed.node.ID()) == network.NotConnected
	})
	if err := connect(t.Context(), friend.node, closed.node); err != nil {
		t.Fatal(err)
	}
	friend.evaluateUntil(t, "a friend's share", func() bool { return closed.received(friend) > 0 })
	if peers := statusOf(t, closed.session).TopicPeers; !slices.Equal(peers, []peer.ID{friend.node.ID()}) {
		t.Errorf("peers %v", peers)
	}
}

// Whoever is refused is told so, and does not knock every second.
func TestARefusedNodeIsWarned(t *testing.T) {
	t.Parallel()
	for _, address := range loopbackAddresses() {
		closed := listen(t, &node.Node{Strategies: all.Strategies(), Listen: []string{address}, Allow: []peer.ID{}})
		warnings := make(chan string, 10)
		listen(t, &node.Node{Strategies: all.Strategies(), Peers: closed.node.Addresses(), OnWarning: func(message string) { warnings <- message }})
		select {
		case message := <-warnings:
			if !strings.Contains(message, "cannot reach peer "+closed.node.ID().String()) {
				t.Errorf("%s: %s", address, message)
			}
			t.Log(message)
		case <-time.After(patience):
			t.Errorf("%s: no warning", address)
		}
	}
}

// What an unlisted node has written is refused even from the hands of a listed
// one, by gossip and by the sync stream, and the listed one is not blamed.
func TestAnUnlistedAuthorIsNotHeardThroughOthers(t *testing.T) {
	t.Parallel()
	stranger, friend := listen(t, &node.Node{Strategies: all.Strategies()}), listen(t, &node.Node{Strategies: all.Strategies()})
	if err := connect(t.Context(), stranger.node, friend.node); err != nil {
		t.Fatal(err)
	}
	stranger.evaluateUntil(t, "the stranger's share at the friend", func() bool { return friend.received(stranger) > 0 })

	closed := listen(t, &node.Node{Strategies: all.Strategies(), Allow: []peer.ID{friend.node.ID()}})
	if err := connect(t.Context(), closed.node, friend.node); err != nil {
		t.Fatal(err)
	}
	friend.evaluateUntil(t, "the friend's share", func() bool { return closed.received(friend) > 0 })
	before := friend.received(stranger)
	stranger.evaluateUntil(t, "more shares of the stranger at the friend", func() bool { return friend.received(stranger) > before+3 })
	again := closed.received(friend)
	friend.evaluateUntil(t, "the friend's next share", func() bool { return closed.received(friend) > again })
	if received := closed.received(stranger); received > 0 {
		t.Errorf("%d shares of the stranger were taken", received)
	}
	eventually(t, "the friend alone taking part", func() bool {
		present := statusOf(t, closed.session).Present
		return len(present) == 2 && slices.Contains(present, friend.node.ID())
	})
}

// A Host of the user's has no gate, so a stranger can connect to it, and has no
// part in anything all the same.
func TestAStrangerAtAHostOfTheUsers(t *testing.T) {
	t.Parallel()
	h, err := libp2p.New(libp2p.ListenAddrStrings(loopbackAddresses()...), libp2p.DisableMetrics())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	stranger := listen(t, &node.Node{Strategies: all.Strategies()})
	var log bytes.Buffer // read after Close
	closed := listen(t, &node.Node{Strategies: all.Strategies(), Host: h, Allow: []peer.ID{}, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err := connect(t.Context(), stranger.node, closed.node); err != nil {
		t.Fatal(err)
	}
	if err := connect(t.Context(), closed.node, stranger.node); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		stranger.evaluate(t)
		closed.evaluate(t)
	}
	time.Sleep(time.Second)
	if len(statusOf(t, closed.session).TopicPeers) > 0 || closed.received(stranger) > 0 || stranger.received(closed) > 0 {
		t.Errorf("%+v, received %d and %d shares", statusOf(t, closed.session), closed.received(stranger), stranger.received(closed))
	}
	stream, err := stranger.node.Network().NewStream(t.Context(), closed.node.ID(), protocol.ID("/fbo/sync/1/"+closed.session.Task().ID().String()))
	if err == nil {
		_, _ = stream.Write([]byte{0}) // an empty request
		if _, err = stream.Read(make([]byte, 1)); err == nil {
			t.Error("a stranger's request was answered")
		}
	}
	if err := closed.node.Close(); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(log.String(), "peer joined the task") {
		t.Errorf("the stranger has joined the task:\n%s", log.String())
	}
}
