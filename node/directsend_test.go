package node_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/peer"
	libp2pprotocol "github.com/libp2p/go-libp2p/core/protocol"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// mail is an exchange that sends what the test says and keeps what comes.
type mail struct {
	mu  sync.Mutex
	out []strategy.Output
	got []strategy.Direct
}

var _ strategy.Exchange = (*mail)(nil)

const mailName = "mail"

// newMail gives a node, before its start, this exchange in place of a strategy's.
// One mail serves one task.
func newMail(n *node.Node) *mail {
	m := &mail{}
	n.Exchange(func(*task.Task) []strategy.Exchange { return []strategy.Exchange{presence.New(), m} })
	return m
}

func (*mail) Name() string                       { return mailName }
func (*mail) Decode(payload []byte) (any, error) { return payload, nil }

func (m *mail) Step(view strategy.View, in strategy.Input) []strategy.Output {
	direct, ok := in.(strategy.Direct)
	if !ok {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if direct.From != view.Self {
		m.got = append(m.got, direct)
		return nil
	}
	out := m.out
	m.out = nil
	return out
}

// send makes the session's agent send all messages in one step.
func (m *mail) send(t *testing.T, s *node.Session, to peer.ID, messages ...string) {
	t.Helper()
	m.mu.Lock()
	for _, message := range messages {
		m.out = append(m.out, strategy.Send{To: to, Data: []byte(message)})
	}
	m.mu.Unlock()
	if err := s.Prompt(t.Context(), mailName); err != nil {
		t.Fatal(err)
	}
}

// of lists what has come from a peer.
func (m *mail) of(from peer.ID) (messages []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, d := range m.got {
		if d.From == from {
			messages = append(messages, string(d.Data))
		}
	}
	return messages
}

// lines are count messages of the same size that can be told apart.
func lines(count, size int) (all []string) {
	for i := range count {
		all = append(all, fmt.Sprintf("%06d%s", i, strings.Repeat(".", max(0, size-6))))
	}
	return all
}

func sorted(messages []string) []string { slices.Sort(messages); return messages }

// Settle returns when what was sent to a connected peer has arrived, and does not wait for
// one that is not there.
func TestSettleWaitsForDirectMessages(t *testing.T) {
	t.Parallel()
	address := loopbackAddresses()[0]
	na, nb := &node.Node{Strategies: all.Strategies(), Listen: []string{address}}, &node.Node{Strategies: all.Strategies(), Listen: []string{address}}
	mails := []*mail{newMail(na), newMail(nb)}
	a, b := listen(t, na), listen(t, nb)
	if err := connect(t.Context(), a.node, b.node); err != nil {
		t.Fatal(err)
	}
	want := lines(30, 40000) // in one step; one is on its way at a time
	mails[0].send(t, a.session, b.node.ID(), want...)
	if err := a.session.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := mails[1].of(a.node.ID()); len(got) != len(want) {
		t.Errorf("%d messages of %d have come", len(got), len(want))
	}
	mails[0].send(t, a.session, peer.ID("somebody else"), "nobody is there")
	if err := a.session.Settle(t.Context()); err != nil {
		t.Errorf("with a message to a peer that is not there: %v", err)
	}
}

// Between two nodes on real sockets, by QUIC and by TCP, messages of every length
// come to whom they were sent, each once, and from whom sent them.
func TestDirectMessagesOverRealSockets(t *testing.T) {
	t.Parallel()
	for _, address := range loopbackAddresses() {
		t.Run(address, func(t *testing.T) {
			t.Parallel()
			registry := prometheus.NewRegistry()
			na, nb := &node.Node{Strategies: all.Strategies(), Listen: []string{address}, Metrics: registry}, &node.Node{Strategies: all.Strategies(), Listen: []string{address}, Metrics: registry}
			mails := []*mail{newMail(na), newMail(nb)}
			a, b := listen(t, na), listen(t, nb)
			if err := connect(t.Context(), a.node, b.node); err != nil {
				t.Fatal(err)
			}
			want := append(lines(20, 40000), "", strings.Repeat("x", protocol.MaxDirectBytes))
			mails[0].send(t, a.session, b.node.ID(), want...)
			mails[1].send(t, b.session, a.node.ID(), "back")
			mails[0].send(t, a.session, b.node.ID(), strings.Repeat("x", protocol.MaxDirectBytes+1)) // too long
			eventually(t, "all messages", func() bool {
				return len(mails[1].of(a.node.ID())) >= len(want) && len(mails[0].of(b.node.ID())) >= 1
			})
			if got := mails[1].of(a.node.ID()); !slices.Equal(sorted(got), sorted(want)) {
				t.Errorf("%d messages, want %d", len(got), len(want))
			}
			if got := mails[0].of(b.node.ID()); !slices.Equal(got, []string{"back"}) {
				t.Errorf("got %q", got)
			}
			ofA, ofB := strategy.ShortID(a.node.ID()), strategy.ShortID(b.node.ID())
			eventually(t, "receipts", func() bool {
				return value(t, registry, "fbo_direct_sent_total", "node", ofA, "kind", mailName) == float64(len(want))
			})
			for _, c := range []struct {
				name, node, label, value string
				want                     float64
			}{
				{"fbo_direct_received_total", ofB, "kind", mailName, float64(len(want))},
				{"fbo_direct_received_total", ofA, "kind", mailName, 1},
				{"fbo_direct_dropped_total", ofA, "reason", "invalid", 1},
				{"fbo_direct_dropped_total", ofB, "reason", "invalid", 0},
				{"fbo_direct_rejected_total", ofB, "reason", "malformed", 0},
			} {
				if got := value(t, registry, c.name, "node", c.node, c.label, c.value); got != c.want {
					t.Errorf("%s of %q: %g, want %g", c.name, c.value, got, c.want)
				}
			}
		})
	}
}

// A message to a node that is down arrives when it is started again.
func TestADirectMessageWaitsForARestart(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	na, dir := &node.Node{Strategies: all.Strategies(), Metrics: registry}, t.TempDir()
	mail := newMail(na)
	a := listen(t, na)
	start := func() (*node.Node, *node.Session, func() []string) {
		b := &node.Node{Strategies: all.Strategies(), Dir: dir, Peers: a.node.Addresses()[:1]}
		of := newMail(b)
		if err := b.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { b.Close() })
		return b, join(t, b, bowl, 1), func() []string { return of.of(a.node.ID()) }
	}
	b, session, got := start()
	eventually(t, "the other", func() bool { return len(statusOf(t, a.session).TopicPeers) == 1 })
	mail.send(t, a.session, b.ID(), "first")
	eventually(t, "the first message", func() bool { return slices.Equal(got(), []string{"first"}) })
	// Without its receipt the first message would be sent again.
	eventually(t, "the receipt", func() bool { return value(t, registry, "fbo_direct_sent_total", "kind", mailName) == 1 })
	if err := session.Close(); err != nil { // and leaves before the node does
		t.Fatal(err)
	}
	mail.send(t, a.session, b.ID(), "second")
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	mail.send(t, a.session, b.ID(), "third")
	time.Sleep(time.Second)
	began := time.Now()
	_, _, got = start()
	eventually(t, "the messages that waited", func() bool { return len(got()) >= 2 })
	if !slices.Equal(sorted(got()), []string{"second", "third"}) {
		t.Errorf("got %q", got())
	}
	t.Logf("delivered %v after the new start", time.Since(began))
}

// Messages come through a hub when there is no other way.
func TestDirectMessagesThroughAHub(t *testing.T) {
	t.Parallel()
	hub := startHub(t, &node.Hub{Strategies: all.Strategies()})
	na, nb := through(t, hub), through(t, hub)
	mails := []*mail{newMail(na), newMail(nb)}
	a, b := listen(t, na), listen(t, nb)
	eventually(t, "a path", func() bool { return path(t, a, b) == node.Relayed && path(t, b, a) == node.Relayed })
	want := lines(5, protocol.MaxDirectBytes)
	mails[0].send(t, a.session, b.node.ID(), want...)
	mails[1].send(t, b.session, a.node.ID(), "back")
	eventually(t, "all messages", func() bool {
		return len(mails[1].of(a.node.ID())) == len(want) && len(mails[0].of(b.node.ID())) == 1
	})
	if path(t, a, b) != node.Relayed {
		t.Error("there was another way")
	}
}

// Who is not on the list is not heard, even where connections have no gate, and
// is not spoken to.
func TestDirectMessagesOfStrangers(t *testing.T) {
	t.Parallel()
	h, err := libp2p.New(libp2p.ListenAddrStrings(loopbackAddresses()...), libp2p.DisableMetrics())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	registry := prometheus.NewRegistry()
	ns, nc := &node.Node{Strategies: all.Strategies()}, &node.Node{Strategies: all.Strategies(), Host: h, Allow: []peer.ID{}, Metrics: registry}
	ofStranger, ofClosed := newMail(ns), newMail(nc)
	stranger, closed := listen(t, ns), listen(t, nc)
	if err := connect(t.Context(), stranger.node, closed.node); err != nil {
		t.Fatal(err)
	}
	ofStranger.send(t, stranger.session, closed.node.ID(), "let me in")
	ofClosed.send(t, closed.session, stranger.node.ID(), "a secret")
	eventually(t, "both refusals", func() bool {
		return value(t, registry, "fbo_direct_rejected_total", "reason", "blocked") >= 1 &&
			value(t, registry, "fbo_direct_dropped_total", "reason", "blocked") == 1
	})
	stream, err := stranger.node.Network().NewStream(t.Context(), closed.node.ID(), libp2pprotocol.ID("/fbo/direct/1/"+closed.session.Task().ID().String()))
	if err == nil {
		var wire bytes.Buffer
		if err := protocol.WriteDirect(&wire, protocol.Direct{Exchange: mailName}); err != nil {
			t.Fatal(err)
		}
		_, _ = stream.Write(wire.Bytes())
		if protocol.ReadReceipt(stream) == nil {
			t.Error("a stranger got a receipt")
		}
	}
	if len(ofClosed.of(stranger.node.ID())) > 0 || len(ofStranger.of(closed.node.ID())) > 0 {
		t.Error("a message has come")
	}
}

// Where a task has a roster, nobody else's direct messages are taken.
func TestDirectMessagesFromOutsideOfTheRoster(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	nodes := []*node.Node{{Strategies: all.Strategies(), Metrics: registry}, {Strategies: all.Strategies(), Metrics: registry}, {Strategies: all.Strategies(), Metrics: registry}}
	var mails []*mail
	for _, n := range nodes {
		n.Dir, n.Listen = t.TempDir(), loopbackAddresses()
		mails = append(mails, newMail(n))
		if err := n.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { n.Close() })
	}
	text := strings.TrimSpace(bowl)
	text = text[:strings.LastIndex(text, "strategy:")] + fmt.Sprintf("strategy: {type: fair, roster: [%s, %s]}\n", nodes[0].ID(), nodes[1].ID())
	var sessions []*node.Session
	for i, n := range nodes {
		sessions = append(sessions, join(t, n, text, uint64(i)))
		if i > 0 {
			if err := connect(t.Context(), n, nodes[0]); err != nil {
				t.Fatal(err)
			}
		}
	}
	mails[2].send(t, sessions[2], nodes[0].ID(), "let me in")
	mails[1].send(t, sessions[1], nodes[0].ID(), "I am on it")
	eventually(t, "the refusal and the message", func() bool {
		return value(t, registry, "fbo_direct_rejected_total", "node", strategy.ShortID(nodes[0].ID()), "reason", "blocked") >= 1 &&
			len(mails[0].of(nodes[1].ID())) == 1
	})
	if got := mails[0].of(nodes[2].ID()); len(got) > 0 {
		t.Errorf("a stranger's messages were taken: %q", got)
	}
}
