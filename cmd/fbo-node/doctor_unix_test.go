//go:build unix

package main_test

import (
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/journal"
	"github.com/fbo-node/fbo/internal/store"
)

// check is one result of doctor --json.
type check struct {
	Grade   string `json:"status"`
	Check   string `json:"check"`
	Finding string `json:"finding"`
	Advice  string `json:"advice"`
}

// diagnosis is what doctor --json prints.
type diagnosis struct {
	OK     bool    `json:"ok"`
	Checks []check `json:"checks"`
	code   int
	stderr string
}

func diagnose(t *testing.T, args ...string) (d diagnosis) {
	t.Helper()
	e := call(t, append([]string{"doctor", "--json"}, args...)...)
	decode(t, e.stdout, &d)
	d.code, d.stderr = e.code, e.stderr
	if d.OK != (e.code == base.ExitDone) || d.OK != (e.stderr == "") {
		t.Errorf("%q: exit code %d, ok %v, standard error %q", args, e.code, d.OK, e.stderr)
	}
	return d
}

// expect finds a check and compares.
func (d diagnosis) expect(t *testing.T, what, want, says string) {
	t.Helper()
	for _, f := range d.Checks {
		if f.Check == what && f.Grade == want && regexp.MustCompile(says).MatchString(f.Finding) {
			if (want == "warn" || want == "fail") && f.Advice == "" {
				t.Errorf("no advice: %+v", f)
			}
			return
		}
	}
	t.Errorf("no %s %q that says %q in %+v", want, what, says, d.Checks)
}

func TestDoctorOfANewMachine(t *testing.T) {
	t.Parallel()
	dir := shortTempDir(t) + "/new/deep"
	d := diagnose(t, "--data-dir", dir)
	d.expect(t, "data directory", "ok", "does not exist yet and can be made")
	d.expect(t, "identity", "ok", "none yet")
	d.expect(t, "journal", "ok", "none yet")
	d.expect(t, "port", "ok", "/ip4/0.0.0.0/udp/0/quic-v1: any free one")
	d.expect(t, "port", "ok", "/ip4/0.0.0.0/tcp/0: any free one")
	if _, err := os.Stat(dir); err == nil {
		t.Error("asking has made the directory")
	}
	text := must(t, "doctor", "--data-dir", dir)
	for line := range strings.Lines(text) {
		if !regexp.MustCompile(`^(ok|warn|skip) +\S`).MatchString(line) {
			t.Errorf("line %q", line)
		}
	}
	if lines := strings.Count(text, "\n"); lines != len(d.Checks) {
		t.Errorf("%d lines for %d checks", lines, len(d.Checks))
	}
}

func TestDoctorAfterARun(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", bowlTask), shortTempDir(t)
	must(t, join([]string{"run", file, "--data-dir", dir, "--mdns=false", "--evals", "3"}, objective("bowl"))...)
	before, err := filepath.Glob(dir + "/*")
	if err != nil {
		t.Fatal(err)
	}
	d := diagnose(t, "--data-dir", dir)
	if !d.OK {
		t.Errorf("%+v", d)
	}
	d.expect(t, "data directory", "ok", "is writable")
	d.expect(t, "identity", "ok", "^"+strings.TrimSpace(must(t, "peer-id", "--data-dir", dir))+", mode 0600$")
	d.expect(t, "journal", "ok", "^whole: 3 trials on 1 task$")
	d.expect(t, "port", "ok", `^/ip4/0\.0\.0\.0/udp/[1-9]\d*/quic-v1 is free$`)
	if after, _ := filepath.Glob(dir + "/*"); strings.Join(after, " ") != strings.Join(before, " ") {
		t.Errorf("the directory held %v and holds %v", before, after)
	}
	// The port of the last start goes to somebody else.
	last := store.LastListen(dir) // in no particular order
	i := slices.IndexFunc(last, func(address string) bool { return strings.HasPrefix(address, "/ip4/0.0.0.0/udp/") })
	if i < 0 {
		t.Fatalf("the last start listened on %q, expected IPv4 over UDP among them", last)
	}
	address := last[i]
	part := strings.Split(address, "/") // such as /ip4/0.0.0.0/udp/4001/quic-v1
	taken, err := net.ListenPacket("udp4", net.JoinHostPort(part[2], part[4]))
	if err != nil {
		t.Skip("somebody else was quicker:", err)
	}
	defer taken.Close()
	diagnose(t, "--data-dir", dir).expect(t, "port", "warn", "^"+regexp.QuoteMeta(address)+", of the last start, is taken$")
}

func TestDoctorFindsDamage(t *testing.T) {
	t.Parallel()
	t.Run("a file for a directory", func(t *testing.T) {
		t.Parallel()
		for _, dir := range []string{writeFile(t, "file", "text"), writeFile(t, "file", "text") + "/below"} {
			d := diagnose(t, "--data-dir", dir)
			d.expect(t, "data directory", "fail", "not a directory")
			d.expect(t, "journal", "skip", "no data directory")
			if d.code != base.ExitFailed || d.stderr != "fbo-node: doctor: 1 check of "+strconv.Itoa(len(d.Checks))+" failed\n" {
				t.Errorf("exit code %d, %q", d.code, d.stderr)
			}
		}
	})
	t.Run("a key that others can read", func(t *testing.T) {
		t.Parallel()
		dir := shortTempDir(t)
		must(t, "peer-id", "--data-dir", dir)
		if err := os.Chmod(dir+"/identity.key", 0o640); err != nil {
			t.Fatal(err)
		}
		diagnose(t, "--data-dir", dir).expect(t, "identity", "fail", `open to others \(mode 0640\)`)
	})
	t.Run("a damaged key", func(t *testing.T) {
		t.Parallel()
		dir := shortTempDir(t)
		if err := os.WriteFile(dir+"/identity.key", []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
		diagnose(t, "--data-dir", dir).expect(t, "identity", "fail", "is damaged")
	})
	t.Run("a damaged journal", func(t *testing.T) {
		t.Parallel()
		dir := shortTempDir(t)
		if err := os.WriteFile(dir+"/journal.db", make([]byte, 1<<16), 0o600); err != nil {
			t.Fatal(err)
		}
		diagnose(t, "--data-dir", dir).expect(t, "journal", "fail", "damaged")
	})
	t.Run("a journal that another process holds", func(t *testing.T) {
		t.Parallel()
		dir := shortTempDir(t)
		held, err := journal.Open(dir+"/journal.db", 0)
		if err != nil {
			t.Fatal(err)
		}
		defer held.Close()
		diagnose(t, "--data-dir", dir).expect(t, "journal", "warn", "held by another process")
	})
	t.Run("taken ports", func(t *testing.T) {
		t.Parallel()
		udp, err := net.ListenPacket("udp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer udp.Close()
		tcp, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer tcp.Close()
		u := "/ip4/127.0.0.1/udp/" + strconv.Itoa(udp.LocalAddr().(*net.UDPAddr).Port) + "/quic-v1"
		c := "/ip4/127.0.0.1/tcp/" + strconv.Itoa(tcp.Addr().(*net.TCPAddr).Port)
		d := diagnose(t, "--data-dir", shortTempDir(t), "--listen", u, "--listen", c, "--listen", "/ip4/127.0.0.1/tcp/0")
		d.expect(t, "port", "fail", "^"+u+" is taken$")
		d.expect(t, "port", "fail", "^"+c+" is taken$")
		d.expect(t, "port", "ok", "^/ip4/127.0.0.1/tcp/0: any free one")
	})
}

// TestDoctorAndARunningNode: from the same directory, and as another's peer.
func TestDoctorAndARunningNode(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", bowlTask), shortTempDir(t)
	other := writeFile(t, "other.yaml", mixedTask)
	g := newGate(t)
	p := start(t, join(runLine(file, dir, "--json"), objective("gate", g.address))...)
	h := g.next(t)
	address := p.address(t)
	id := p.await(t, "its start", isEvent("node_started")).PeerID
	here, _, _ := strings.Cut(address, "/p2p/")

	d := diagnose(t, "--data-dir", dir, file)
	d.expect(t, "journal", "ok", `^held by the running node `+id+` on task bowl \(\w+\)$`)
	d.expect(t, "port", "ok", `^the running node holds tcp \d+, udp \d+$`)
	diagnose(t, "--data-dir", dir, "--listen", here).expect(t, "port", "ok", "held by the running node of this data directory")

	d = diagnose(t, "--data-dir", shortTempDir(t), "--peer", address, file)
	d.expect(t, "peer", "ok", "^"+id+" answers at "+here+` after \d\S*s \(fbo-node\)$`)
	d.expect(t, "peer's task", "ok", "it takes part in ")
	if !d.OK {
		t.Errorf("%+v", d)
	}
	d = diagnose(t, "--data-dir", shortTempDir(t), "--peer", address, "--peer", "foo", "--listen", here, other)
	d.expect(t, "peer's task", "fail", `^it takes part in \w+, not in \w+$`)
	d.expect(t, "peer", "fail", `not an address of a peer: .*"foo"`)
	d.expect(t, "port", "fail", "^"+here+" is taken$")

	stranger := strings.TrimSpace(must(t, "peer-id", "--data-dir", shortTempDir(t)))
	d = diagnose(t, "--data-dir", shortTempDir(t), "--peer", here+"/p2p/"+stranger)
	d.expect(t, "peer", "fail", "another peer answers there: it is "+id)

	h.release()
	p.await(t, "the node going on", isEvent("trial_finished"))
	p.signal(t, os.Interrupt)
	p.wait(t)
	d = diagnose(t, "--data-dir", shortTempDir(t), "--peer", strings.Replace(p.tcpAddress(t), "/quic-v1", "", 1))
	d.expect(t, "peer", "fail", "no answer: .*refused")
}

func (p *process) tcpAddress(t *testing.T) string {
	t.Helper()
	for _, address := range p.await(t, "its addresses", isEvent("node_started")).Addresses {
		if strings.Contains(address, "/tcp/") {
			return address
		}
	}
	t.Fatal("no TCP address")
	return ""
}

func TestDoctorUsage(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"a", "b"}, {"nosuch.yaml"}, {"--listen", "foo"}} {
		if e := call(t, append([]string{"doctor"}, args...)...); e.code != base.ExitUsage || e.stdout != "" || strings.Count(e.stderr, "\n") != 1 {
			t.Errorf("%q: exit code %d, %q%q", args, e.code, e.stdout, e.stderr)
		}
	}
}
