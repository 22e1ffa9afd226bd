//go:build unix

package main_test

import (
	"strings"
	"testing"
)

// Two nodes name each other; a third, which knows an address, is kept out.
func TestAllowFlagKeepsOtherNodesOut(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "task.yaml", bowlTask)
	var dirs, ids []string
	for range 2 {
		dirs = append(dirs, shortTempDir(t))
		ids = append(ids, strings.TrimSpace(must(t, "peer-id", "--data-dir", dirs[len(dirs)-1])))
	}
	list := writeFile(t, "list", strings.Join(ids, " # one of us\n"))
	first := start(t, join(runLine(file, dirs[0], "--json", "--allow", list), objective("steady"))...)
	address := first.address(t)
	second := start(t, join(runLine(file, dirs[1], "--json", "--allow", list, "--peer", address), objective("steady"))...)
	third := start(t, join(runLine(file, shortTempDir(t), "--json", "--peer", address), objective("steady"))...)
	stranger := third.await(t, "its start", isEvent("node_started")).PeerID
	second.await(t, "a share of the first", func(e event) bool {
		return e.Event == "share_received" && e.Kind == "weights" && e.Peer == ids[0]
	})
	third.await(t, "its being alone", func(e event) bool { return e.Event == "warning" })
	for _, e := range append(first.all(), second.all()...) {
		if e.Peer == stranger {
			t.Errorf("the stranger was heard: %+v", e)
		}
	}
	if first.of("node_started")[0].Open || !third.of("node_started")[0].Open {
		t.Error("which task is open is told wrong")
	}
}
