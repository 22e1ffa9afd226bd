package node_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"github.com/fbo-node/fbo/internal/admission"
	"github.com/fbo-node/fbo/internal/invitation"
	"github.com/fbo-node/fbo/internal/store"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// guestTicket makes a guest string that a node admits.
func guestTicket(t *testing.T, n *node.Node, ours invitation.Invitation, name string, uses int, expires time.Time) admission.Ticket {
	t.Helper()
	token := invitation.New(ours.Task())
	g := store.Guest{Name: name, Token: token, Uses: uses, Made: time.Now(), Expires: expires}
	if err := store.AddGuest(n.Dir, g); err != nil {
		t.Fatal(err)
	}
	return admission.Ticket{Kind: admission.Guest, Task: ours.Task(), Secret: token, Peers: n.Addresses()[:1], Admitter: n.ID(), Reception: ours.Keys().Reception()}
}

// request requests the task of a ticket with an empty data directory.
func request(t *testing.T, ticket admission.Ticket) (*task.Task, *invitation.Invitation, error) {
	t.Helper()
	return requestBy(t, requesterOf(t, ticket), ticket)
}

func requesterOf(t *testing.T, ticket admission.Ticket) *node.Node {
	t.Helper()
	n := &node.Node{Strategies: all.Strategies(), Dir: t.TempDir(), Listen: loopbackAddresses(), Hubs: ticket.Hubs, Peers: ticket.Peers}
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Close() })
	return n
}

func requestBy(t *testing.T, n *node.Node, ticket admission.Ticket) (*task.Task, *invitation.Invitation, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return n.RequestTask(ctx, ticket.Text())
}

func expectStatus(t *testing.T, what string, err error, want admission.Status) {
	t.Helper()
	var refusal *admission.Refusal
	if !errors.As(err, &refusal) || refusal.Status != want {
		t.Errorf("%s: %v, want status %d", what, err, want)
	}
}

// A node gets the task of an open string, and of a member string, from a peer and from a hub that keeps it.
func TestMemberStringGetsTheTask(t *testing.T) {
	t.Parallel()
	ours := invitation.New(parse(t, bowl).ID())
	h := &node.Hub{Strategies: all.Strategies()}
	hub := startHub(t, h)
	if _, err := h.KeepInvited(t.Context(), parse(t, bowl), &ours); err != nil {
		t.Fatal(err)
	}
	first, open := loopback(t), loopback(t)
	joinBy(t, first, &ours)
	joinBy(t, open, nil)
	for name, ticket := range map[string]admission.Ticket{
		"member": {Kind: admission.Member, Task: ours.Task(), Secret: ours, Peers: first.Addresses()[:1]},
		"hub":    {Kind: admission.Member, Task: ours.Task(), Secret: ours, Hubs: []string{hub}},
		"open":   {Kind: admission.Open, Task: ours.Task(), Peers: open.Addresses()[:1]},
	} {
		got, invited, err := request(t, ticket)
		if err != nil || got.ID() != ours.Task() || (invited == nil) != (ticket.Kind == admission.Open) || invited != nil && !invited.Equal(ours) {
			t.Errorf("%s: %v, %v, %v", name, got, invited, err)
		}
	}
}

// Two nodes that reach only a hub: one admits the other by a guest string with the hub's address.
func TestGuestStringThroughAHub(t *testing.T) {
	t.Parallel()
	hub := startHub(t, &node.Hub{})
	ours := invitation.New(parse(t, bowl).ID())
	first := through(t, hub)
	first.Dir, first.Listen = t.TempDir(), loopbackAddresses()
	if err := first.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	joinBy(t, first, &ours)
	ticket := guestTicket(t, first, ours, "lab", 1, time.Now().Add(time.Hour))
	ticket.Hubs, ticket.Peers = []string{hub}, nil
	second := through(t, hub)
	second.Dir, second.Listen = t.TempDir(), loopbackAddresses()
	if err := second.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	got, invited, err := requestBy(t, second, ticket)
	if err != nil || got.ID() != ours.Task() || invited == nil || !invited.Equal(ours) {
		t.Fatalf("%v, %v, %v", got, invited, err)
	}
	guests, err := store.Guests(first.Dir, ours.Task().String())
	if err != nil || len(guests) != 1 || len(guests[0].UsedBy) != 1 || guests[0].UsedBy[0].Peer != second.ID() {
		t.Errorf("%+v, %v", guests, err)
	}
}

func TestGuestStringsAreRefused(t *testing.T) {
	t.Parallel()
	ours := invitation.New(parse(t, bowl).ID())
	first := loopback(t)
	joinBy(t, first, &ours)
	later := time.Now().Add(time.Hour)
	_, _, err := request(t, guestTicket(t, first, ours, "expired", 1, time.Now().Add(-time.Second)))
	expectStatus(t, "expired", err, admission.Expired)

	revoked := guestTicket(t, first, ours, "revoked", 1, later)
	if err := store.RevokeGuest(first.Dir, ours.Task().String(), "revoked"); err != nil {
		t.Fatal(err)
	}
	_, _, err = request(t, revoked)
	expectStatus(t, "revoked", err, admission.Revoked)

	wrong := guestTicket(t, first, ours, "wrong", 1, later)
	wrong.Secret = invitation.New(ours.Task())
	_, _, err = request(t, wrong)
	expectStatus(t, "a token that nobody made", err, admission.Unknown)

	elsewhere := guestTicket(t, loopback(t), ours, "elsewhere", 1, later)
	_, _, err = request(t, elsewhere)
	expectStatus(t, "a node that does not run the task", err, admission.Unknown)

	damaged := guestTicket(t, first, ours, "damaged", 1, later)
	path := filepath.Join(first.Dir, "guests", damaged.Name().String())
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err = request(t, damaged)
	expectStatus(t, "damaged", err, admission.Unknown)
}

// The node that admits restarts, and the guest's connection ends between the record and the answer: the
// same guest gets its answer, and no other does.
func TestGuestUseSurvivesACrash(t *testing.T) {
	t.Parallel()
	ours := invitation.New(parse(t, bowl).ID())
	first := &node.Node{Strategies: all.Strategies(), Dir: t.TempDir(), Listen: loopbackAddresses()}
	if err := first.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	joinBy(t, first, &ours)
	ticket := guestTicket(t, first, ours, "lab", 1, time.Now().Add(time.Hour))
	guest, other := requesterOf(t, ticket), requesterOf(t, ticket)
	eventually(t, "a connection", func() bool {
		return guest.Network().Network().Connectedness(first.ID()) == network.Connected
	})
	stream, err := guest.Network().NewStream(t.Context(), first.ID(), admission.Protocol)
	if err != nil {
		t.Fatal(err)
	}
	if err := admission.WriteRequest(stream, ticket.Name()); err != nil {
		t.Fatal(err)
	}
	ends := invitation.Ends{Opened: guest.ID(), Accepted: first.ID(), Protocol: admission.Protocol}
	if err := ticket.Secret.Keys().Prove(stream, ends); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the record of the use", func() bool { // its answer is never read
		guests, err := store.Guests(first.Dir, ours.Task().String())
		return err == nil && len(guests[0].UsedBy) == 1
	})
	_ = stream.Reset()
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	address, _, _ := strings.Cut(ticket.Peers[0], "/p2p/")
	again := &node.Node{Strategies: all.Strategies(), Dir: first.Dir, Listen: []string{address}}
	if err := again.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	joinBy(t, again, nil)
	_, _, err = requestBy(t, other, ticket)
	expectStatus(t, "another peer", err, admission.UsedUp)
	if _, invited, err := requestBy(t, guest, ticket); err != nil || invited == nil || !invited.Equal(ours) {
		t.Errorf("%v, %v", invited, err)
	}
}

func TestTwoGuestsForOneUse(t *testing.T) {
	t.Parallel()
	ours := invitation.New(parse(t, bowl).ID())
	first := loopback(t)
	joinBy(t, first, &ours)
	ticket := guestTicket(t, first, ours, "lab", 1, time.Now().Add(time.Hour))
	var failures [2]error
	var running sync.WaitGroup
	for k := range failures {
		n := requesterOf(t, ticket)
		running.Go(func() { _, _, failures[k] = n.RequestTask(t.Context(), ticket.Text()) })
	}
	running.Wait()
	if (failures[0] == nil) == (failures[1] == nil) {
		t.Fatalf("%v", failures)
	}
	expectStatus(t, "the slower guest", errors.Join(failures[:]...), admission.UsedUp)
}

// Wrong and replayed proofs are violations: the third ends the connection. Nothing is sent before a
// proof.
func TestWrongProofsAreViolations(t *testing.T) {
	t.Parallel()
	ours := invitation.New(parse(t, bowl).ID())
	first := loopback(t)
	joinBy(t, first, &ours)
	ticket := guestTicket(t, first, ours, "lab", 1, time.Now().Add(time.Hour))
	stranger := requesterOf(t, ticket)
	h := stranger.Network()
	eventually(t, "a connection", func() bool { return h.Network().Connectedness(first.ID()) == network.Connected })
	for range 3 {
		stream, err := h.NewStream(network.WithNoDial(t.Context(), "test"), first.ID(), admission.Protocol)
		if err != nil {
			t.Fatal(err)
		}
		var sent bytes.Buffer
		if err := admission.WriteRequest(&sent, ticket.Name()); err != nil {
			t.Fatal(err)
		}
		if _, err := stream.Write(append(sent.Bytes(), make([]byte, 64)...)); err != nil {
			t.Fatal(err)
		}
		if answer, _ := io.ReadAll(stream); len(answer) > 64 {
			t.Errorf("%d bytes, where nonce and proof have 64", len(answer))
		}
	}
	eventually(t, "the end of the connection", func() bool { return h.Network().Connectedness(first.ID()) != network.Connected })
	if guests, err := store.Guests(first.Dir, ours.Task().String()); err != nil || len(guests[0].UsedBy) != 0 {
		t.Errorf("%+v, %v", guests, err)
	}
}

// A peer of a member string that sends another task gives no task, and the request goes on to the next.
func TestForeignTaskIsNotTaken(t *testing.T) {
	t.Parallel()
	ours := invitation.New(parse(t, bowl).ID())
	liar, first := loopback(t), loopback(t)
	joinBy(t, first, &ours)
	foreign := parse(t, strings.Replace(bowl, "bowl", "cup", 1)).Canonical()
	liar.Network().SetStreamHandler(admission.Protocol, func(s network.Stream) {
		ends := invitation.Ends{Opened: s.Conn().RemotePeer(), Accepted: liar.ID(), Protocol: admission.Protocol}
		_, err := admission.ReadRequest(s)
		if err == nil && ours.Keys().Answer(s, ends) == nil {
			_ = admission.WriteResponse(s, admission.Response{Task: foreign})
		}
		_ = s.Close()
	})
	ticket := admission.Ticket{Kind: admission.Member, Task: ours.Task(), Secret: ours, Peers: []string{liar.Addresses()[0], first.Addresses()[0]}}
	if got, _, err := request(t, ticket); err != nil || got.ID() != ours.Task() {
		t.Errorf("%v, %v", got, err)
	}
}
