//go:build linux && long

package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/protocol"
)

// hubAddress is the one that both know.
const hubAddress = "10.77.9.9"

// newApart makes hosts 1 and 2, which have no way to each other but each a cable
// of its own to host 3.
func newApart(t *testing.T) *hosts {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("network namespaces need root")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("network namespaces need the command ip (iproute2), which is not here")
	}
	h := &hosts{t: t, name: fmt.Sprintf("fboa%d", os.Getpid())}
	for i := 1; i <= 3; i++ {
		h.ip("netns", "add", h.of(i))
		t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", h.of(i)).Run() })
		h.ip("-n", h.of(i), "link", "set", "lo", "up")
	}
	for i := 1; i <= 2; i++ {
		port := fmt.Sprintf("port%d", i)
		h.ip("-n", h.of(3), "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", h.of(i))
		h.ip("-n", h.of(3), "address", "add", fmt.Sprintf("10.77.%d.3/24", i), "dev", port)
		h.ip("-n", h.of(i), "address", "add", fmt.Sprintf("10.77.%d.1/24", i), "dev", "eth0")
		h.ip("-n", h.of(3), "link", "set", port, "up")
		h.ip("-n", h.of(i), "link", "set", "eth0", "up")
		h.ip("-n", h.of(i), "route", "add", hubAddress, "via", fmt.Sprintf("10.77.%d.3", i))
	}
	h.ip("-n", h.of(3), "address", "add", hubAddress+"/32", "dev", "lo")
	return h
}

func addressOf(t *testing.T, hub *process) string {
	t.Helper()
	for _, a := range hub.await(t, "the hub's start", isEvent("hub_started")).Addresses {
		if strings.Contains(a, "/"+hubAddress+"/udp/") {
			return a
		}
	}
	t.Fatalf("the hub does not listen at %s", hubAddress)
	return ""
}

// Two machines that can reach nothing but the hub, each started with one flag
// about the network, exchange shares; and again after the hub was killed.
func TestLongOnlyTheHub(t *testing.T) {
	h := newApart(t)
	if out, err := exec.Command("ip", "netns", "exec", h.of(1), "ping", "-c1", "-W1", "10.77.2.1").CombinedOutput(); err == nil {
		t.Fatalf("the hosts reach each other: %s", out)
	}
	hubDir := shortTempDir(t)
	hub := h.start(3, "hub", "--json", "--data-dir", hubDir)
	address := addressOf(t, hub)
	file := writeFile(t, "task.yaml", bowlTask)
	var dirs, ids []string
	var nodes []*process
	for i := 1; i <= 2; i++ {
		dir := shortTempDir(t)
		p := h.start(i, join([]string{"run", file, "--data-dir", dir, "--json", "--hub", address}, objective("steady"))...)
		dirs, nodes = append(dirs, dir), append(nodes, p)
		ids = append(ids, p.await(t, "its start", isEvent("node_started")).PeerID)
	}
	for i, p := range nodes {
		t.Logf("the first share of the other after %v", p.sharesOf(t, ids[1-i], "a share of the other", 0))
	}
	for i := range nodes {
		if got := statusOf(t, dirs[i]).path(ids[1-i]); got != node.Relayed {
			t.Errorf("the path is %q", got)
		}
		t.Log(must(t, "status", "--data-dir", dirs[i]))
	}

	hub.signal(t, syscall.SIGKILL)
	hub.wait(t)
	h.start(3, "hub", "--json", "--data-dir", hubDir).await(t, "the hub's return", isEvent("hub_started"))
	// What is sent from here on can come to the other through this hub alone.
	sent := []protocol.Stamp{nodes[0].latestSent(), nodes[1].latestSent()}
	began := time.Now()
	for i, p := range nodes {
		p.await(t, "a share after the hub's return", func(e event) bool {
			return e.Event == "share_received" && e.Peer == ids[1-i] && e.Stamp.Compare(sent[1-i]) > 0
		})
		t.Logf("a share sent since came %v after the hub's return", time.Since(began))
	}
}

// latestSent returns the stamp of the last share that a node has said it sent.
func (p *process) latestSent() protocol.Stamp {
	var latest protocol.Stamp
	for _, e := range p.of("share_sent") {
		latest = e.Stamp
	}
	return latest
}

// Ten nodes behind one address, and one that reaches them only through the hub:
// libp2p by itself stops at eight connections from an address.
func TestLongManyBehindOneAddress(t *testing.T) {
	const many = 10
	h := newApart(t)
	hub := h.start(3, "hub", "--json", "--data-dir", shortTempDir(t))
	address := addressOf(t, hub)
	file := writeFile(t, "task.yaml", bowlTask)
	run := func(host int) (dir string) {
		dir = shortTempDir(t)
		p := h.start(host, join([]string{"run", file, "--data-dir", dir, "--json", "--hub", address}, objective("sleep"))...)
		p.await(t, "its start", isEvent("node_started"))
		return dir
	}
	for range many {
		run(2)
	}
	alone := run(1)
	deadline := time.Now().Add(patienceOfTests)
	began := time.Now()
	for {
		relayed := 0
		s := statusOf(t, alone)
		for _, link := range s.Peers {
			if link.Path == node.Relayed {
				relayed++
			}
		}
		if relayed == many {
			t.Logf("%d relayed peers after %v", many, time.Since(began))
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d relayed peers, want %d: %+v", relayed, many, s.Peers)
		}
		time.Sleep(time.Second)
	}
}
