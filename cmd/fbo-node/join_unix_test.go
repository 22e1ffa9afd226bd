//go:build unix

package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/cli/base"
)

// informedTask has a strategy that uses the first share of a peer.
var informedTask = strings.Replace(bowlTask, "strategy: {type: fts}\n", "", 1)

// joinLine is the beginning of a join that stays on this machine.
func joinLine(text, dir string, flags ...string) []string {
	return append([]string{"join", text, "--data-dir", dir, "--mdns=false", "--yes",
		"--listen", "/ip4/127.0.0.1/udp/0/quic-v1", "--listen", "/ip4/127.0.0.1/tcp/0"}, flags...)
}

// informed awaits the first design that uses shares of peers.
func (p *process) informed(t *testing.T) {
	t.Helper()
	p.await(t, "a design that uses peers' shares", func(e event) bool { return e.Trial != nil && e.Trial.Why.PeerCount > 0 })
}

func hubOf(t *testing.T) (address string) {
	t.Helper()
	hub := start(t, "hub", "--json", "--data-dir", shortTempDir(t), "--listen", "/ip4/127.0.0.1/tcp/0")
	return hub.await(t, "its start", isEvent("hub_started")).Addresses[0]
}

// From a string alone to the first informed design: as a member, as a guest, and again without the
// string. A second guest is refused by one line.
func TestJoinByOneString(t *testing.T) {
	t.Parallel()
	hub, file, dir := hubOf(t), writeFile(t, "task.yaml", informedTask), shortTempDir(t)
	member := strings.TrimSpace(must(t, "task", "invite", file, "--data-dir", dir, "--hub", hub))
	first := start(t, join(runLine(file, dir, "--json", "--hub", hub), objective("steady"))...)
	if e := first.await(t, "its start", isEvent("node_started")); e.Open {
		t.Error("the node with the string's invitation runs openly")
	}
	guestFile := filepath.Join(shortTempDir(t), "guest")
	must(t, "task", "invite", file, "--data-dir", dir, "--hub", hub, "--guest", "lab", "--out", guestFile)
	if info, err := os.Stat(guestFile); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	first.await(t, "a share", isEvent("share_sent"))

	memberDir, guestDir := shortTempDir(t), shortTempDir(t)
	second := start(t, join(joinLine(member, memberDir, "--json"), objective("steady"))...)
	second.informed(t)
	third := start(t, join(joinLine(guestFile, guestDir, "--json"), objective("steady"))...)
	third.informed(t)
	id := third.await(t, "its start", isEvent("node_started")).PeerID
	var list struct {
		Guests []struct {
			Name   string `json:"name"`
			UsedBy []struct {
				Peer string `json:"peer"`
			} `json:"used_by"`
		} `json:"guests"`
	}
	text := must(t, "task", "invite", "bowl", "--data-dir", dir, "--list", "--json")
	if err := json.Unmarshal([]byte(text), &list); err != nil || len(list.Guests) != 1 || list.Guests[0].Name != "lab" || len(list.Guests[0].UsedBy) != 1 || list.Guests[0].UsedBy[0].Peer != id {
		t.Errorf("%v\n%s", err, text)
	}
	refused := func(want string) {
		t.Helper()
		e := call(t, join(joinLine(guestFile, shortTempDir(t), "--json"), objective("steady"))...)
		if e.code != base.ExitFailed || strings.Count(e.stderr, "\n") != 1 || !strings.Contains(e.stderr, want) {
			t.Errorf("code %d\n%s%s", e.code, e.stdout, e.stderr)
		}
	}
	refused("used up: ask its sender for a new one")
	must(t, "task", "invite", file, "--data-dir", dir, "--revoke", "lab")
	refused("was revoked: ask its sender for a new one")

	for _, p := range []*process{first, second, third} {
		p.signal(t, os.Interrupt)
		p.wait(t)
	}
	// No node runs that could send the task.
	again := start(t, join(joinLine(guestFile, guestDir, "--json"), objective("steady"))...)
	if e := again.await(t, "its start", isEvent("node_started")); e.Open || e.PeerID != id {
		t.Errorf("%+v", e)
	}
	again.signal(t, os.Interrupt)
	again.wait(t)
	again = start(t, join(runLine("bowl", guestDir, "--json"), objective("steady"))...)
	again.await(t, "its start", isEvent("node_started"))
	if s := statusOf(t, guestDir); len(s.Hubs) != 1 {
		t.Errorf("the addresses of the string are not kept: hubs %+v", s.Hubs)
	}
}

// Each mistake is one line, before anything is on the network.
func TestJoinStringErrors(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", bowlTask), shortTempDir(t)
	const hub = "/dns4/hub.example.org/udp/4001/quic-v1/p2p/12D3KooWEyoppNCUx8Yx66oV9fJnriXwCcXwDDUA2kj6vnc6iDEp"
	member := strings.TrimSpace(must(t, "task", "invite", file, "--data-dir", dir, "--hub", hub))
	if again := strings.TrimSpace(must(t, "task", "invite", file, "--data-dir", dir, "--hub", hub)); again != member {
		t.Error("a second string has another invitation")
	}
	table := writeFile(t, "listed.yaml", bowlTask+"designs: {file: designs.csv}\n")
	if err := os.WriteFile(filepath.Join(filepath.Dir(table), "designs.csv"), []byte("x,y\n0,0\n1,1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	mistyped := member[:60] + string(member[60]^1) + member[61:]
	invite := []string{"task", "invite", file, "--data-dir", dir}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"mistyped":          {join(joinLine(mistyped, dir), objective("steady")), "its checksum is wrong"},
		"no string":         {join(joinLine("hello", dir), objective("steady")), "does not begin with fbo-join-"},
		"no command":        {[]string{"join", member}, "the command is missing"},
		"no terminal":       {join([]string{"join", member, "--data-dir", shortTempDir(t)}, objective("steady")), "expected --yes"},
		"expires":           {join(invite, []string{"--hub", hub, "--expires", "48h"}), "--expires and --uses need --guest"},
		"no address":        {join(invite, []string{"--guest", "lab"}), "expected --hub or --peer"},
		"another's address": {join(invite, []string{"--guest", "lab", "--peer", hub}), "the node that admits"},
		"a wrong name":      {join(invite, []string{"--guest", "a/b", "--hub", hub}), "expected a name"},
		"nobody to revoke":  {join(invite, []string{"--revoke", "lab"}), "no guest string of this name"},
		"a table":           {[]string{"task", "invite", table, "--data-dir", dir, "--hub", hub}, "lists its designs in a table, which a string does not carry"},
		"a wrong hub":       {join(invite, []string{"--hub", "hub"}), "--hub: "},
		"open and guest":    {join(invite, []string{"--open", "--guest", "lab", "--hub", hub}), ""},
	} {
		e := call(t, c.args...)
		if e.code != base.ExitUsage || strings.Count(e.stderr, "\n") != 1 || !strings.Contains(e.stderr, c.want) || strings.Contains(e.stderr, member[70:90]) {
			t.Errorf("%s: code %d\n%s%s", name, e.code, e.stdout, e.stderr)
		}
	}
	if text := must(t, join(invite, []string{"--hub", hub, "--qr"})...); strings.Count(text, "\n") < 20 || !strings.HasPrefix(text, member+"\n") {
		t.Errorf("no code in\n%s", text)
	}
}
