//go:build unix

package main_test

import (
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/cli/base"
)

// TestVariablesConfigureNodes checks that a container needs no flags: variables start a daemon and a
// node that connects to it, and flags precede them.
func TestVariablesConfigureNodes(t *testing.T) {
	t.Parallel()
	dir, file := shortTempDir(t), writeFile(t, "bowl.yaml", bowlTask)
	variables := []string{"FBO_DATA_DIR=" + dir, "FBO_JSON=true", "FBO_MDNS=false", "FBO_HTTP=127.0.0.1:0", "FBO_LISTEN=/ip4/127.0.0.1/tcp/0, /ip4/127.0.0.1/udp/0/quic-v1"}
	command := nodeCommand("serve")
	command.Env = append(command.Env, variables...)
	p := startCommand(t, command)
	e := p.await(t, "the daemon's start", isEvent("serving"))
	if text := strings.Join(e.Addresses, " "); !strings.HasPrefix(e.URL, "http://127.0.0.1:") || !strings.Contains(text, "/quic-v1/") || !strings.Contains(text, "/tcp/") {
		t.Errorf("the daemon's start: %+v", e)
	}
	asked := nodeCommand("ask", file)
	asked.Env = append(asked.Env, variables...)
	if e := finish(t, asked); e.code != base.ExitDone || !strings.HasPrefix(e.stdout, "trial 1 of") {
		t.Fatalf("ask: %+v", e) // FBO_JSON is a variable of commands with events
	}
	peers := nodeCommand(join([]string{"run", file, "--mdns=false", "--listen", "/ip4/127.0.0.1/tcp/0"}, objective("steady"))...)
	peers.Env = append(peers.Env, "FBO_DATA_DIR="+shortTempDir(t), "FBO_JSON=1", "FBO_PEER="+strings.Join(e.Addresses, ","))
	startCommand(t, peers).await(t, "a peer", func(e event) bool { return e.Event == "peers" })

	for variable, want := range map[string]string{
		"FBO_HTTP=nowhere":    "(--http is from $FBO_HTTP)\n",
		"FBO_HUB=first,/ip4/": "(--hub is from $FBO_HUB)\n",
		"FBO_LEASE=soon":      "--lease soon: expected times such as 90s or 10m (--lease is from $FBO_LEASE)\n",
		"FBO_ALLOW=/missing":  "(--allow is from $FBO_ALLOW)\n",
	} {
		command := nodeCommand("serve", "--data-dir", shortTempDir(t))
		command.Env = append(command.Env, variable)
		if e := finish(t, command); e.code != base.ExitUsage || !strings.HasSuffix(e.stderr, want) || strings.Count(e.stderr, "\n") != 1 {
			t.Errorf("%s: %+v", variable, e)
		}
	}
	precedes := nodeCommand("serve", "--lease", "0s", "--data-dir", shortTempDir(t))
	precedes.Env = append(precedes.Env, "FBO_LEASE=soon")
	if e := finish(t, precedes); e.code != base.ExitUsage || !strings.Contains(e.stderr, "--lease 0s: expected times from 1s") || strings.Contains(e.stderr, "$FBO") {
		t.Errorf("a flag and a variable: %+v", e)
	}
}
