//go:build unix

package main_test

import (
	"os"
	"strings"
	"testing"
)

// TestTypingErrorInATaskFile: two nodes whose files differ by one character are
// connected and on different tasks. Both say so, once, and status and doctor too.
func TestTypingErrorInATaskFile(t *testing.T) {
	t.Parallel()
	right := writeFile(t, "task.yaml", bowlTask)
	wrong := writeFile(t, "task.yaml", strings.Replace(bowlTask, "high: 2}", "high: 3}", 1))
	unlike := writeFile(t, "other.yaml", strings.Replace(bowlTask, "bowl", "cup", 1))
	g := newGate(t)
	first := start(t, join(runLine(right, shortTempDir(t), "--json"), objective("gate", g.address))...)
	address, firstID := first.address(t), first.await(t, "its start", isEvent("node_started")).PeerID
	third := start(t, join(runLine(unlike, shortTempDir(t), "--json", "--peer", address), objective("gate", g.address))...)
	dir := shortTempDir(t)
	second := start(t, join(runLine(wrong, dir, "--json", "--peer", address), objective("gate", g.address))...)
	secondID := second.await(t, "its start", isEvent("node_started")).PeerID
	rightID, wrongID := strings.TrimSpace(must(t, "task", "id", right)), strings.TrimSpace(must(t, "task", "id", wrong))

	for _, c := range []struct {
		node              *process
		peer, other, here string
	}{{second, firstID, rightID, wrongID}, {first, secondID, wrongID, rightID}} {
		w := c.node.await(t, "a warning about the other task", func(e event) bool {
			return e.Event == "warning" && strings.Contains(e.Message, "same name")
		})
		want := "peer " + c.peer + ` works on another task of the same name, "bowl" (its id ` + c.other + ", here " + c.here +
			"): the task files differ, so the two do not help each other; compare what `fbo-node task check FILE` prints on both machines"
		if w.Message != want {
			t.Errorf("got  %s\nwant %s", w.Message, want)
		}
	}
	if s := statusOf(t, dir); len(s.TaskMismatches) != 1 || s.TaskMismatches[0].Task != rightID || s.TaskMismatches[0].Peer.String() != firstID {
		t.Errorf("status %+v", s)
	}
	if text := must(t, "status", "--data-dir", dir); !strings.Contains(text, "\nother     "+firstID+" is on another task of this name, id "+rightID+": the task files differ\n") {
		t.Errorf("got\n%s", text)
	}
	d := diagnose(t, "--data-dir", shortTempDir(t), "--peer", address, wrong)
	d.expect(t, "peer's task", "fail", "^it takes part in another task of the same name, "+rightID+", not in "+wrongID+"$")
	d = diagnose(t, "--data-dir", shortTempDir(t), "--peer", address, unlike)
	d.expect(t, "peer's task", "fail", "^it takes part in "+rightID+", not in ")

	// Patience runs out: the node says that it is alone, and nothing a second time.
	second.await(t, "the warning that it is alone", func(e event) bool {
		return e.Event == "warning" && strings.HasPrefix(e.Message, "no peers on this task")
	})
	for _, p := range []*process{first, second, third} {
		p.signal(t, os.Interrupt)
		p.wait(t)
		count := 0
		for _, e := range p.of("warning") {
			if strings.Contains(e.Message, "same name") {
				count++
			}
		}
		if want := map[*process]int{first: 1, second: 1, third: 0}[p]; count != want {
			t.Errorf("%d warnings about a task mismatch, want %d", count, want)
		}
	}
}
