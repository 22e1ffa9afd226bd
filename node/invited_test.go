package node_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/invitation"
	"github.com/fbo-node/fbo/internal/probe"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy/all"
)

// joinBy joins the bowl task by an invitation; nil: without naming one.
func joinBy(t *testing.T, n *node.Node, i *invitation.Invitation) *node.Session {
	t.Helper()
	seed := uint64(1)
	session, err := n.Join(t.Context(), parse(t, bowl), node.JoinOptions{Seed: &seed, Invitation: i, Wait: -1})
	if err != nil {
		t.Fatal(err)
	}
	return session
}

// Of nodes that are all connected those with one invitation work together, and nobody
// else sees more than tags, also after one of them came back without naming it.
func TestOnlyOneInvitationMeets(t *testing.T) {
	t.Parallel()
	first := loopback(t)
	address := first.Addresses()[0]
	ours, others := invitation.New(parse(t, bowl).ID()), invitation.New(parse(t, bowl).ID())
	a := joinBy(t, first, &ours)
	again := &node.Node{Strategies: all.Strategies(), Dir: t.TempDir(), Listen: loopbackAddresses(), Peers: []string{address}}
	if err := again.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	b := joinBy(t, again, &ours)
	c := joinBy(t, loopback(t, address), &others)
	d := joinBy(t, loopback(t, address), nil)
	meet := func(what string) {
		t.Helper()
		eventually(t, what, func() bool {
			x, y := statusOf(t, a), statusOf(t, b)
			return len(x.TopicPeers) == 1 && len(x.Present) == 2 && len(y.TopicPeers) == 1 && len(y.Present) == 2
		})
	}
	meet("that those with one invitation meet")
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	again = &node.Node{Strategies: all.Strategies(), Dir: again.Dir, Listen: loopbackAddresses(), Peers: []string{address}}
	if err := again.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	b = joinBy(t, again, nil)
	meet("the same after a restart without naming the invitation")
	for name, s := range map[string]*node.Session{"another invitation": c, "none": d} {
		if status := statusOf(t, s); len(status.TopicPeers) != 0 || len(status.Present) != 1 {
			t.Errorf("with %s: %+v", name, status)
		}
	}
	id := parse(t, bowl).ID().String()
	if reach, err := probe.Probe(t.Context(), address, "bowl"); err != nil || len(reach.Tasks)+len(reach.Named) != 0 || len(reach.Tags) != 1 || reach.Tags[0] != a.Tag().String() {
		t.Errorf("%+v, %v", reach, err)
	}
	if a.Tag() != b.Tag() || a.Tag() == c.Tag() || d.Tag().Defined() || statusOf(t, a).Tag != a.Tag().String() || statusOf(t, a).Task != id {
		t.Error("tags are told wrong")
	}
	// Who runs it openly is noticed by those who do not, and not the other way round.
	eventually(t, "that the open one is noticed", func() bool {
		n := statusOf(t, a).TaskMismatches
		return len(n) == 1 && n[0].Open && n[0].Task == id
	})
	if n := statusOf(t, d).TaskMismatches; len(n) != 0 {
		t.Errorf("an open node sees %+v", n)
	}
}

// Two nodes that reach nobody but a hub exchange shares through it, by invitation, and the
// hub can keep them.
func TestInvitedNodesExchangeSharesThroughAHub(t *testing.T) {
	t.Parallel()
	h := &node.Hub{Strategies: all.Strategies()}
	address := startHub(t, h)
	i := invitation.New(parse(t, bowl).ID())
	var sessions []*node.Session
	for range 2 {
		n := through(t, address)
		n.Dir, n.Listen = t.TempDir(), loopbackAddresses()
		if err := n.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer n.Close()
		sessions = append(sessions, joinBy(t, n, &i))
	}
	kept, err := h.KeepInvited(t.Context(), parse(t, bowl), &i)
	if err != nil {
		t.Fatal(err)
	}
	for k, s := range sessions {
		eventually(t, "a relayed path", func() bool {
			for _, link := range statusOf(t, s).Peers {
				if link.ID == statusOf(t, sessions[1-k]).PeerID {
					return link.Path == node.Relayed
				}
			}
			return false
		})
		for n := range 3 {
			trial, err := s.Ask(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Tell(t.Context(), trial.ID, float64(n)); err != nil {
				t.Fatal(err)
			}
		}
		eventually(t, "shares", func() bool {
			return statusOf(t, sessions[1-k]).Stored.Authors == 1 && statusOf(t, kept).Stored.Authors > k
		})
	}
}

// What is wrong with an invitation keeps a node from joining, above all openly.
func TestJoinRefuses(t *testing.T) {
	t.Parallel()
	n := loopback(t)
	other := invitation.New(parse(t, strings.Replace(bowl, "bowl", "cup", 1)).ID())
	task := parse(t, bowl)
	if _, err := n.Join(t.Context(), task, node.JoinOptions{Invitation: &other}); err == nil || !strings.Contains(err.Error(), "the task files differ") {
		t.Error(err)
	}
	ours := invitation.New(task.ID())
	dir := filepath.Join(n.Dir, "invitations")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, task.ID().String())
	for name, c := range map[string]struct {
		text string
		mode os.FileMode
		want string
	}{
		"damaged":      {ours.Text()[:50], 0o600, "checksum is wrong"},
		"empty":        {"", 0o600, "does not begin with"},
		"wide":         {ours.Text(), 0o644, "readable by others"},
		"another task": {other.Text(), 0o600, "is an invitation to task " + other.Task().String()},
	} {
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, c.mode); err != nil {
			t.Fatal(err)
		}
		if _, err := n.Join(t.Context(), task, node.JoinOptions{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if s := joinBy(t, n, nil); s.Tag().Defined() {
		t.Error("joined by an invitation that is gone")
	}
}
