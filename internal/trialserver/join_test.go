package trialserver

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/network"

	"github.com/fbo-node/fbo/internal/admission"
	"github.com/fbo-node/fbo/internal/invitation"
	"github.com/fbo-node/fbo/internal/nethost"
	"github.com/fbo-node/fbo/internal/store"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy/all"
)

// admitter is a node that serves the bowl by invitation.
func admitter(t *testing.T) (*node.Node, invitation.Invitation) {
	t.Helper()
	n := started(t, t.TempDir())
	asked, err := Order{Text: bowl}.parse(all.Strategies())
	if err != nil {
		t.Fatal(err)
	}
	ours := invitation.New(asked.ID())
	if _, _, err := open(t, n).Create(t.Context(), Order{Text: bowl}, ours.Text()); err != nil {
		t.Fatal(err)
	}
	return n, ours
}

func memberOf(n *node.Node, ours invitation.Invitation) admission.Ticket {
	return admission.Ticket{Kind: admission.Member, Task: ours.Task(), Secret: ours, Peers: n.Addresses()[:1]}
}

func guestOf(t *testing.T, n *node.Node, ours invitation.Invitation, name string, expires time.Time) admission.Ticket {
	t.Helper()
	token := invitation.New(ours.Task())
	if err := store.AddGuest(n.Dir, store.Guest{Name: name, Token: token, Uses: 1, Made: time.Now(), Expires: expires}); err != nil {
		t.Fatal(err)
	}
	return admission.Ticket{Kind: admission.Guest, Task: ours.Task(), Secret: token, Peers: n.Addresses()[:1], Admitter: n.ID(), Reception: ours.Keys().Reception()}
}

// The addresses of a string are used at once and after a restart, and only for its task.
func TestJoinsByAString(t *testing.T) {
	t.Parallel()
	for name, guest := range map[string]bool{"member": false, "guest": true} {
		first, ours := admitter(t)
		ticket := memberOf(first, ours)
		if guest {
			ticket = guestOf(t, first, ours, "lab", time.Now().Add(time.Hour))
		}
		n := started(t, t.TempDir())
		d := open(t, n)
		p, err := d.Preview(t.Context(), ticket.Text())
		if err != nil || p.Task.ID() != ours.Task() || p.Open || p.Served || d.Count() != 0 {
			t.Fatalf("%s: %+v, %v", name, p, err)
		}
		joined, created, err := d.CreateFrom(t.Context(), Order{}, ticket.Text())
		if err != nil || !created {
			t.Fatalf("%s: %v", name, err)
		}
		meets(t, joined, first)
		if again, created, err := d.CreateFrom(t.Context(), Order{}, strings.ToUpper(ticket.Text())); err != nil || created || again != joined {
			t.Errorf("%s again: %v, %v", name, created, err)
		}
		if p, err := d.Preview(t.Context(), ticket.Text()); err != nil || !p.Served {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
		other := memberOf(first, invitation.New(ours.Task()))
		if _, _, err := d.CreateFrom(t.Context(), Order{}, other.Text()); !errors.Is(err, ErrOtherString) {
			t.Errorf("%s, another string: %v", name, err)
		}
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
		again, err := open(t, started(t, n.Dir)).Task(joined.ID())
		if err != nil {
			t.Fatal(err)
		}
		meets(t, again, first)
	}
}

// A task with a table of designs is refused by one error, in place of a task that cannot choose.
func TestAStringCarriesNoTable(t *testing.T) {
	t.Parallel()
	first := started(t, t.TempDir())
	asked := create(t, open(t, first), Order{Text: listed, Tables: map[string]string{"designs.csv": "x\n0\n1\n"}})
	ticket := admission.Ticket{Task: asked.Session().Task().ID(), Peers: first.Addresses()[:1]}
	d := open(t, started(t, t.TempDir()))
	if _, _, err := d.CreateFrom(t.Context(), Order{}, ticket.Text()); !isField(err, "join") || !errors.Is(err, admission.ErrTable) || d.Count() != 0 {
		t.Errorf("%v, %d tasks", err, d.Count())
	}
}

func meets(t *testing.T, of *Task, other *node.Node) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		status, err := of.Session().Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(status.TopicPeers) == 1 && status.TopicPeers[0] == other.ID() {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the nodes do not meet: %+v", status)
		}
	}
}

func TestStringsThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	first, ours := admitter(t)
	d := open(t, started(t, t.TempDir()))
	later := time.Now().Add(time.Hour)
	revoked := guestOf(t, first, ours, "revoked", later)
	if err := store.RevokeGuest(first.Dir, ours.Task().String(), "revoked"); err != nil {
		t.Fatal(err)
	}
	unknown := guestOf(t, first, ours, "unknown", later)
	unknown.Secret = invitation.New(ours.Task())
	for name, c := range map[string]struct {
		ticket admission.Ticket
		want   admission.Status
	}{
		"expired": {guestOf(t, first, ours, "expired", time.Now().Add(-time.Second)), admission.Expired},
		"revoked": {revoked, admission.Revoked},
		"unknown": {unknown, admission.Unknown},
	} {
		var refusal *admission.Refusal
		if _, _, err := d.CreateFrom(t.Context(), Order{}, c.ticket.Text()); !errors.As(err, &refusal) || refusal.Status != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := d.CreateFrom(t.Context(), Order{}, memberOf(first, ours).Text()[:70]); !isField(err, "join") {
		t.Errorf("cut short: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.Preview(ended, memberOf(first, ours).Text()); !errors.Is(err, context.Canceled) {
		t.Errorf("a client that has left: %v", err)
	}
	if d.Count() != 0 {
		t.Errorf("%d tasks are served", d.Count())
	}
}

func isField(err error, name string) bool {
	field, ok := errors.AsType[*FieldError](err)
	return ok && field.Field == name
}

// A node that does not answer, and one that sends another task.
func TestNoNodeSendsTheTask(t *testing.T) {
	t.Parallel()
	first, ours := admitter(t)
	silent := memberOf(first, ours)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	liar, err := libp2p.New(libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = liar.Close() })
	forged := admission.Ticket{Kind: admission.Guest, Task: ours.Task(), Secret: invitation.New(ours.Task()), Peers: nethost.FullAddresses(liar)[:1], Admitter: liar.ID(), Reception: ours.Keys().Reception()}
	liar.SetStreamHandler(admission.Protocol, func(s network.Stream) {
		ends := invitation.Ends{Opened: s.Conn().RemotePeer(), Accepted: liar.ID(), Protocol: admission.Protocol}
		if _, err := admission.ReadRequest(s); err == nil && forged.Secret.Keys().Answer(s, ends) == nil {
			_ = admission.WriteResponse(s, admission.Response{Task: []byte("{}")})
		}
		_ = s.Close()
	})
	d, err := New(started(t, t.TempDir()), Options{Strategies: all.Strategies(), Wait: -1, RequestTime: 3 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := d.CreateFrom(t.Context(), Order{}, silent.Text()); !errors.Is(err, node.ErrNoTask) {
		t.Errorf("silent: %v", err)
	}
	if _, _, err := d.CreateFrom(t.Context(), Order{}, forged.Text()); !errors.Is(err, admission.ErrMalformed) {
		t.Errorf("forged: %v", err)
	}
}
