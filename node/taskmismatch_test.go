package node_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/network"

	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy/all"
)

// warnings collects what a node tells its user.
type warnings struct {
	mu  sync.Mutex
	all []string
}

func (w *warnings) add(message string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, message)
}

func (w *warnings) about(text string) (count int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, message := range w.all {
		if strings.Contains(message, text) {
			count++
		}
	}
	return count
}

func warned(t *testing.T, peers ...string) (*node.Node, *warnings) {
	t.Helper()
	w := &warnings{}
	n := &node.Node{Strategies: all.Strategies(), Dir: t.TempDir(), Listen: loopbackAddresses(), Peers: peers, OnWarning: w.add}
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	return n, w
}

func mismatchesOf(t *testing.T, s *node.Session) []node.TaskMismatch {
	t.Helper()
	status, err := s.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return status.TaskMismatches
}

// TestTaskMismatchWarnsOnce: found when the peer joins later, gone when it has joined the same
// task, and one warning in all.
func TestTaskMismatchWarnsOnce(t *testing.T) {
	t.Parallel()
	first, said := warned(t)
	s := join(t, first, bowl, 1)
	second, _ := warned(t, first.Addresses()[0])
	join(t, second, strings.Replace(bowl, "name: bowl", "name: cup", 1), 1)
	other := join(t, second, strings.Replace(bowl, "high: 2", "high: 3", 1), 1)
	eventually(t, "the task mismatch", func() bool { return len(mismatchesOf(t, s)) > 0 })
	if got := mismatchesOf(t, s); len(got) != 1 || got[0].Peer != second.ID() || got[0].Task != other.Task().ID().String() {
		t.Errorf("got %v", got)
	}
	eventually(t, "the mismatch at the other node", func() bool { return len(mismatchesOf(t, other)) == 1 })
	join(t, second, bowl, 1)
	eventually(t, "that all is well", func() bool { return len(mismatchesOf(t, s)) == 0 })
	if count := said.about("same name"); count != 1 {
		t.Errorf("%d warnings", count)
	}
}

// A node on both tasks of a name, as a hub that keeps them, knows that there are two.
func TestTaskMismatchesWithServedTasks(t *testing.T) {
	t.Parallel()
	wide := strings.Replace(bowl, "high: 2", "high: 3", 1)
	both, said := warned(t)
	s := join(t, both, bowl, 1)
	join(t, both, wide, 1)
	peer, _ := warned(t, both.Addresses()[0])
	join(t, peer, wide, 1)
	wider := join(t, peer, strings.Replace(bowl, "high: 2", "high: 4", 1), 1)
	eventually(t, "the task mismatch", func() bool { return len(mismatchesOf(t, s)) > 0 })
	if got := mismatchesOf(t, s); len(got) != 1 || got[0].Task != wider.Task().ID().String() {
		t.Errorf("got %v", got)
	}
	if said.about("its id "+wider.Task().ID().String()+",") == 0 {
		t.Error("no warning of a task that the node does not work on")
	}
}

// TestTaskMismatchAnswersOnlyWhoKnowsTheName checks that a node reports its task only to peers that
// know the task's name and may take part.
func TestTaskMismatchAnswersOnlyWhoKnowsTheName(t *testing.T) {
	t.Parallel()
	n, asking := loopback(t), loopback(t)
	s := join(t, n, bowl, 1)
	id := s.Task().ID()
	if err := connect(t.Context(), asking, n); err != nil {
		t.Fatal(err)
	}
	ask := func(hash [32]byte) ([]cid.Cid, error) {
		stream, err := asking.Network().NewStream(t.Context(), n.ID(), "/fbo/task-mismatch/1")
		if err != nil {
			t.Fatal(err)
		}
		defer stream.Reset()
		if err := stream.SetDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		// A refusal may arrive before the question is written.
		if err := protocol.WriteTaskMismatchRequest(stream, hash); err != nil {
			return nil, err
		}
		return protocol.ReadTaskMismatchResponse(stream)
	}
	for name, c := range map[string]struct {
		hash [32]byte
		want int
	}{
		"the name":               {protocol.NameHash(asking.ID(), n.ID(), "bowl"), 1},
		"another":                {protocol.NameHash(asking.ID(), n.ID(), "bow"), 0},
		"another peer's request": {protocol.NameHash(n.ID(), n.ID(), "bowl"), 0},
	} {
		got, err := ask(c.hash)
		if err != nil || len(got) != c.want || c.want > 0 && !got[0].Equals(id) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	// Guessing names is slow: of as many questions as one after the other ten are answered at
	// once, and one more each second.
	began, answered := time.Now(), 0
	for range 30 {
		if _, err := ask([32]byte{}); err == nil {
			answered++
		}
	}
	if most := 10 + int(time.Since(began).Seconds()); answered > most {
		t.Errorf("%d of 30 questions in a row were answered, at most %d", answered, most)
	}
}

// TestTaskMismatchFromFalseAnswers: a peer that names tasks in which it does not take part, or
// sends garbage, is not shown; who goes on sending garbage is cut off.
func TestTaskMismatchFromFalseAnswers(t *testing.T) {
	t.Parallel()
	n, said := warned(t)
	s := join(t, n, bowl, 1)
	liar, babbler := loopback(t), loopback(t)
	for _, l := range []*node.Node{liar, babbler} {
		join(t, l, strings.Replace(bowl, "name: bowl", "name: cup", 1), 1)
	}
	asked := make(chan struct{}, 100)
	liar.Network().SetStreamHandler("/fbo/task-mismatch/1", func(stream network.Stream) {
		_ = protocol.WriteTaskMismatchResponse(stream, []cid.Cid{parse(t, strings.Replace(bowl, "high: 2", "high: 9", 1)).ID(), s.Task().ID()})
		_ = stream.Close()
		asked <- struct{}{}
	})
	babbler.Network().SetStreamHandler("/fbo/task-mismatch/1", func(stream network.Stream) {
		_, _ = stream.Write([]byte{3, 0xff, 0xff, 0xff})
		_ = stream.Close()
		asked <- struct{}{}
	})
	if err := connect(t.Context(), liar, n); err != nil {
		t.Fatal(err)
	}
	if err := connect(t.Context(), babbler, n); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		select {
		case <-asked:
		case <-time.After(patience):
			t.Fatal("not asked")
		}
	}
	// A mismatch that is found later shows that both answers have been taken in.
	honest := loopback(t)
	join(t, honest, strings.Replace(bowl, "high: 2", "high: 3", 1), 1)
	if err := connect(t.Context(), honest, n); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the mismatch of the honest peer", func() bool { return len(mismatchesOf(t, s)) > 0 })
	if got := mismatchesOf(t, s); len(got) != 1 || got[0].Peer != honest.ID() || said.about("same name") != 1 {
		t.Errorf("task mismatches %v, warnings %q", got, said.all)
	}

	// Garbage as a question: the third time ends the connection.
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		stream, err := babbler.Network().NewStream(ctx, n.ID(), "/fbo/task-mismatch/1")
		if err == nil {
			_, _ = stream.Write([]byte{3, 0xff, 0xff, 0xff})
			_ = stream.CloseWrite()
			_, _ = stream.Read(make([]byte, 1)) // until it is reset
			_ = stream.Reset()
		}
		cancel()
	}
	eventually(t, "the end of the connection", func() bool { return n.Network().Network().Connectedness(babbler.ID()) != network.Connected })
}
