//go:build linux && long

package main_test

import (
	"os"
	"strings"
	"testing"
	"time"
)

// Two machines that can reach nothing but the hub: from a guest string alone to the first design that
// uses shares of the other, within half a minute.
func TestLongJoinThroughTheHub(t *testing.T) {
	h := newApart(t)
	hub := h.start(3, "hub", "--json", "--data-dir", shortTempDir(t))
	address := addressOf(t, hub)
	file, dir := writeFile(t, "task.yaml", informedTask), shortTempDir(t)
	guest := strings.TrimSpace(must(t, "task", "invite", file, "--data-dir", dir, "--hub", address, "--guest", "lab", "--uses", "2"))
	member := strings.TrimSpace(must(t, "task", "invite", file, "--data-dir", dir, "--hub", address))
	first := h.start(1, join([]string{"run", file, "--data-dir", dir, "--json", "--hub", address}, objective("steady"))...)
	first.await(t, "a share", isEvent("share_sent"))
	for name, text := range map[string]string{"guest": guest, "member": member} {
		began := time.Now()
		p := h.start(2, join([]string{"join", text, "--data-dir", shortTempDir(t), "--json", "--yes"}, objective("steady"))...)
		p.informed(t)
		took := time.Since(began)
		t.Logf("%s: the first informed design after %v", name, took)
		if took > 30*time.Second {
			t.Errorf("%s: %v, want at most 30 s", name, took)
		}
		p.signal(t, os.Interrupt)
		p.wait(t)
	}
}
