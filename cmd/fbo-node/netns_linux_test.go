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
)

// hosts are network namespaces on one switch.
type hosts struct {
	t    *testing.T
	name string // prefix of their names
}

func newHosts(t *testing.T, count int) *hosts {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("network namespaces need root")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("network namespaces need the command ip (iproute2), which is not here")
	}
	h := &hosts{t: t, name: fmt.Sprintf("fbo%d", os.Getpid())}
	h.ip("netns", "add", h.of(0)) // the switch
	t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", h.of(0)).Run() })
	h.ip("-n", h.of(0), "link", "add", "switch", "type", "bridge")
	h.ip("-n", h.of(0), "link", "set", "switch", "up")
	for i := 1; i <= count; i++ {
		h.ip("netns", "add", h.of(i))
		t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", h.of(i)).Run() })
		port := fmt.Sprintf("port%d", i)
		h.ip("-n", h.of(0), "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", h.of(i))
		h.ip("-n", h.of(0), "link", "set", port, "master", "switch", "up")
		h.ip("-n", h.of(i), "address", "add", fmt.Sprintf("10.77.0.%d/24", i), "dev", "eth0")
		h.ip("-n", h.of(i), "link", "set", "eth0", "up")
		h.ip("-n", h.of(i), "link", "set", "lo", "up")
	}
	return h
}

func (h *hosts) of(i int) string { return fmt.Sprintf("%s-%d", h.name, i) }

func (h *hosts) ip(args ...string) {
	h.t.Helper()
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		h.t.Skipf("network namespaces cannot be made here: ip %s: %v: %s", strings.Join(args, " "), err, out)
	}
}

// cut and heal pull and plug the cable of one host.
func (h *hosts) cut(i int)  { h.ip("-n", h.of(0), "link", "set", fmt.Sprintf("port%d", i), "down") }
func (h *hosts) heal(i int) { h.ip("-n", h.of(0), "link", "set", fmt.Sprintf("port%d", i), "up") }

// start runs fbo-node on a host.
func (h *hosts) start(i int, args ...string) *process {
	h.t.Helper()
	command := nodeCommand()
	command.Args = append([]string{"ip", "netns", "exec", h.of(i), os.Args[0]}, args...)
	path, err := exec.LookPath("ip")
	if err != nil {
		h.t.Fatal(err)
	}
	command.Path = path
	return startCommand(h.t, command)
}

// Three machines: one comes late, one is cut off and comes back, one is killed.
func TestLongThreeHosts(t *testing.T) {
	h := newHosts(t, 3)
	file := writeFile(t, "task.yaml", bowlTask)
	line := func(dir string, flags ...string) []string {
		return join([]string{"run", file, "--data-dir", dir, "--mdns=false", "--json"}, flags, objective("steady"))
	}
	first := h.start(1, line(shortTempDir(t))...)
	id := func(p *process) string { return p.await(t, "its start", isEvent("node_started")).PeerID }
	address := ""
	for _, a := range first.await(t, "its addresses", isEvent("node_started")).Addresses {
		if strings.Contains(a, "10.77.0.1") {
			address = a
		}
	}
	second := h.start(2, line(shortTempDir(t), "--peer", address)...)
	first.sharesOf(t, id(second), "a share of the second", 0)

	dir := shortTempDir(t)
	third := h.start(3, line(dir, "--peer", address)...)
	id(third)
	took := max(third.sharesOf(t, id(first), "a share of the first", 0), third.sharesOf(t, id(second), "a share of the second", 0))
	t.Logf("the latecomer had the shares of both after %v", took)
	if took > 5*time.Second {
		t.Errorf("the latecomer needed %v, wanted are 5s", took)
	}

	h.cut(2)
	time.Sleep(45 * time.Second) // long enough for all its connections to die
	before := map[*process]int{first: len(first.all()), second: len(second.all()), third: len(third.all())}
	time.Sleep(2 * time.Second)
	for _, e := range second.all()[before[second]:] {
		if e.Event == "share_received" {
			t.Fatalf("the second is cut off and has got %+v", e)
		}
	}
	h.heal(2)
	for _, pair := range [][2]*process{{first, second}, {second, first}, {second, third}, {third, second}} {
		took = pair[0].sharesOf(t, id(pair[1]), "a share after the cut", before[pair[0]])
		if took > time.Minute {
			t.Errorf("shares flow again after %v, wanted is a minute", took)
		}
	}
	t.Logf("shares flowed again within %v", took)

	third.signal(t, syscall.SIGKILL)
	third.wait(t)
	printed := finished(third)
	seen := map[*process]int{first: len(first.all()), second: len(second.all())}
	third = h.start(3, line(dir, "--peer", address)...)
	for p, skip := range seen {
		p.sharesOf(t, id(third), "a share of the restarted node", skip)
	}
	third.signal(t, syscall.SIGINT)
	third.wait(t)
	kept := map[uint64]trialJSON{}
	for _, trial := range historyOf(t, dir) {
		kept[trial.ID] = trial
	}
	for trial, value := range printed {
		if k := kept[trial]; k.Outcome == nil || k.Outcome.Value != value {
			t.Errorf("trial %d was finished with %g; the history has %+v", trial, value, k)
		}
	}
}
