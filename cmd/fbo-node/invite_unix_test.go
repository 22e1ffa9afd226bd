//go:build unix

package main_test

import (
	"bytes"
	"crypto/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/invitation"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/protocol"
)

// invite makes an invitation to a task file, and returns its file and what it says.
func invite(t *testing.T, taskFile string) (file string, i invitation.Invitation) {
	t.Helper()
	file = filepath.Join(shortTempDir(t), "invite")
	must(t, "task", "invite", taskFile, "--out", file)
	i, err := node.ReadInvitation(file)
	if err != nil {
		t.Fatal(err)
	}
	return file, i
}

// withOnePeer waits until a node has a peer on its task, which gossip may forget for a moment
// when one of two connections ends. More than one it never has.
func withOnePeer(t *testing.T, dir string) (s statusView) {
	t.Helper()
	for began := time.Now(); len(s.Peers) != 1; time.Sleep(50 * time.Millisecond) {
		if s = statusOf(t, dir); len(s.Peers) > 1 || time.Since(began) > patienceOfTests {
			t.Fatalf("the peers on its task are %+v, want one", s.Peers)
		}
	}
	return s
}

// TestStrangerAndInvitation: two nodes find each other through a hub, by invitation. A
// stranger reaches both and the hub, and has more than is announced: the task's ID, and
// sealed messages of somebody who has the invitation. It reads no share and gets none
// taken. That what it sends would be taken otherwise, another host shows, which does the
// same and proves to have the invitation.
func TestStrangerAndInvitation(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "task.yaml", bowlTask)
	inviteFile, i := invite(t, file)
	keys, id := i.Keys(), i.Task()
	tag := keys.Tag().String()

	hub := start(t, "hub", "--json", "--data-dir", shortTempDir(t), "--listen", "/ip4/127.0.0.1/tcp/0")
	hubStarted := hub.await(t, "its start", isEvent("hub_started"))
	var nodes []*process
	var dirs, addresses, ids []string
	for range 2 {
		dir := shortTempDir(t)
		p := start(t, join(runLine(file, dir, "--json", "--hub", hubStarted.Addresses[0], "--invite", inviteFile), objective("steady"))...)
		started := p.await(t, "its start", isEvent("node_started"))
		if started.Open || started.Tag != tag {
			t.Errorf("started as %+v", started)
		}
		nodes, dirs = append(nodes, p), append(dirs, dir)
		addresses, ids = append(addresses, tcpOf(t, started.Addresses)), append(ids, started.PeerID)
	}
	for k, p := range nodes {
		p.sharesOf(t, ids[1-k], "a share of the other", 0)
		if s := withOnePeer(t, dirs[k]); s.Tag != tag || s.Task != id.String() {
			t.Errorf("status %+v", s)
		}
	}

	absent, _, err := crypto.GenerateEd25519Key(rand.Reader) // has the invitation, and its messages were recorded
	if err != nil {
		t.Fatal(err)
	}
	absentID, err := peer.IDFromPrivateKey(absent)
	if err != nil {
		t.Fatal(err)
	}
	stranger := newOutsider(t, append(slices.Clone(addresses), hubStarted.Addresses[0]), tag, absent, func(s network.Stream) { _ = s.Reset() })
	targets := map[string]peer.ID{}
	for _, text := range append(slices.Clone(ids), hubStarted.PeerID) {
		target, err := peer.Decode(text)
		if err != nil {
			t.Fatal(err)
		}
		targets[text] = target
		if said := stranger.announced(target); strings.Contains(said, id.String()) || !strings.Contains(said, "/fbo/") {
			t.Errorf("%s announces %s", text, said)
		}
	}
	for k, text := range ids {
		if said := stranger.announced(targets[text]); !strings.Contains(said, "/fbo/sync/1/"+tag) {
			t.Errorf("node %d announces %s", k, said)
		}
	}

	// Streams: it says at once what a node says after a proof.
	var request, direct bytes.Buffer
	if err := protocol.WriteSyncRequest(&request, protocol.SyncRequest{}); err != nil {
		t.Fatal(err)
	}
	if err := protocol.WriteDirect(&direct, protocol.Direct{Exchange: protocol.WeightsKind, Data: []byte("?")}); err != nil {
		t.Fatal(err)
	}
	for _, target := range ids {
		for name, said := range map[string][]byte{
			"/fbo/sync/1/" + tag: request.Bytes(), "/fbo/direct/1/" + tag: direct.Bytes(),
			"/fbo/sync/1/" + id.String(): request.Bytes(), "/fbo/direct/1/" + id.String(): direct.Bytes(),
		} {
			if answer := stranger.request(targets[target], name, said); len(answer) > 64 {
				t.Errorf("%s: %d bytes, where nonce and proof have 64", name, len(answer))
			}
		}
	}
	// The names of tasks: the stranger knows that of this one.
	var question bytes.Buffer
	if err := protocol.WriteTaskMismatchRequest(&question, protocol.NameHash(stranger.host.ID(), targets[ids[1]], "bowl")); err != nil {
		t.Fatal(err)
	}
	if named, err := protocol.ReadTaskMismatchResponse(bytes.NewReader(stranger.request(targets[ids[1]], "/fbo/task-mismatch/1", question.Bytes()))); err != nil || len(named) != 0 {
		t.Errorf("tasks of the name: %v, %v", named, err)
	}
	// The hub: asked by whatever the stranger has learned.
	record := recordOf(t, stranger.host)
	for _, asked := range []cid.Cid{keys.Tag(), id} {
		if met := stranger.meet(targets[hubStarted.PeerID], asked, record); met != 0 {
			t.Errorf("the hub introduces %d nodes by %v", met, asked)
		}
	}
	if met := stranger.meet(targets[hubStarted.PeerID], keys.Meeting(), record); met == 0 {
		t.Error("the hub knows nobody by the name that the nodes use: the test shows nothing")
	}

	// Gossip: what is not sealed, is garbage, or is sealed and was recorded.
	before := []int{len(nodes[0].all()), len(nodes[1].all())}
	for n := range uint64(20) {
		for _, message := range [][]byte{
			keys.Seal(absentID, shareOf(t, id, absent, n+1)), shareOf(t, id, absent, n+1), []byte("garbage"),
		} {
			if err := stranger.topic.Publish(t.Context(), message); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	for k, p := range nodes { // which go on meanwhile
		p.sharesOf(t, ids[1-k], "a share after the stranger came", before[k])
	}
	for k, p := range nodes {
		for _, e := range p.all() {
			if e.Event == "share_received" && e.Peer != ids[1-k] {
				t.Errorf("node %d has heard %+v", k, e)
			}
		}
		withOnePeer(t, dirs[k])
	}
	if n := stranger.received.Load(); n != 0 {
		t.Errorf("the stranger has heard %d messages", n)
	}
	for k, text := range ids {
		if stranger.host.Network().Connectedness(targets[text]) != network.Connected {
			t.Errorf("node %d has broken with the stranger, so that its gossip shows nothing", k)
		}
	}

	// A proof that is passed on, and one that is made up: nodes break with who does that.
	relay := &proofRelay{targets: []peer.ID{targets[ids[0]], targets[ids[1]]}}
	defer func() { t.Logf("the relay was asked %d times", relay.tried.Load()) }()
	between := newOutsider(t, nil, tag, absent, relay.answer)
	relay.host = between.host
	between.connect(addresses...)
	between.awaitBreak("passes on proofs", 1) // then there is nobody left to whom it could lead the other
	if n, tried := relay.most.Load(), relay.tried.Load(); n > 64 || tried < 2 {
		t.Errorf("in %d attempts one that was led to another node said %d bytes", tried, n)
	}
	liar := newOutsider(t, addresses, tag, absent, func(s network.Stream) { _ = s.Reset() })
	for range 3 {
		for _, target := range ids {
			if answer := liar.request(targets[target], "/fbo/sync/1/"+tag, append(make([]byte, 64), request.Bytes()...)); len(answer) > 64 {
				t.Errorf("%d bytes, where nonce and proof have 64", len(answer))
			}
		}
	}
	liar.awaitBreak("makes up proofs", 0)

	// Another host does the same and has the invitation.
	guest := newOutsider(t, addresses, tag, absent, func(s network.Stream) {
		_ = keys.Answer(s, invitation.Ends{Opened: s.Conn().RemotePeer(), Accepted: s.Conn().LocalPeer(), Protocol: string(s.Protocol())})
		_ = s.Close()
	})
	taken := func(p *process) bool {
		return slices.ContainsFunc(p.all(), func(e event) bool { return e.Event == "share_received" && e.Peer == absentID.String() })
	}
	deadline := time.Now().Add(patienceOfTests)
	for n := uint64(100); !taken(nodes[0]) || !taken(nodes[1]) || guest.received.Load() == 0; n++ {
		if time.Now().After(deadline) {
			t.Fatalf("nodes do not accept the shares of a host with the invitation, or it receives nothing (%d messages): the test proves nothing", guest.received.Load())
		}
		_ = guest.topic.Publish(t.Context(), keys.Seal(absentID, shareOf(t, id, absent, n)))
		time.Sleep(200 * time.Millisecond)
	}
}

// TestInvitationIsKept: the directory keeps it, so that a start without the flag, and a
// keeper, stay among those invited; who runs the file openly is noticed; a directory that
// ran openly may be closed.
func TestInvitationIsKept(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "task.yaml", bowlTask)
	inviteFile, i := invite(t, file)
	tag, id := i.Keys().Tag().String(), i.Task().String()
	dir := shortTempDir(t)
	// An environment variable names the file too.
	once := nodeCommand(join(runLine(file, dir, "--json", "--evals", "2"), objective("steady"))...)
	once.Env = append(once.Env, "FBO_INVITE="+inviteFile)
	if e := finish(t, once); e.code != base.ExitDone || !strings.Contains(e.stdout, tag) {
		t.Fatalf("%+v", e)
	}
	if info, err := os.Stat(filepath.Join(dir, "invitations", id)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if text := must(t, "status", "--data-dir", dir); !strings.Contains(text, "\ninvited   announced as "+tag+"\n") {
		t.Errorf("status\n%s", text)
	}

	first := start(t, join(runLine(file, dir, "--json"), objective("steady"))...) // no flag
	if e := first.await(t, "its start", isEvent("node_started")); e.Open || e.Tag != tag {
		t.Errorf("without the flag %+v", e)
	}
	address := first.address(t)
	keeper := start(t, "keep", file, "--json", "--data-dir", shortTempDir(t), "--mdns=false", "--listen", "/ip4/127.0.0.1/tcp/0", "--peer", address, "--invite", inviteFile)
	keeper.await(t, "a share", func(e event) bool { return e.Event == "shares_stored" && e.Authors == 1 })
	hub := start(t, "hub", "--json", "--data-dir", shortTempDir(t), "--listen", "/ip4/127.0.0.1/tcp/0", "--keep", file, "--invite", inviteFile)
	hubAddress := hub.await(t, "its start", isEvent("hub_started")).Addresses[0]
	if e := hub.await(t, "its keeping", isEvent("keeping")); e.Tag != tag {
		t.Errorf("the hub keeps %+v", e)
	}

	// A node that ran openly takes the invitation; it also speaks with the keeping hub.
	openly := shortTempDir(t)
	open := start(t, join(runLine(file, openly, "--json", "--peer", address), objective("steady"))...)
	open.await(t, "its being alone", func(e event) bool { return e.Event == "warning" && strings.HasPrefix(e.Message, "no peers") })
	first.await(t, "a warning about it", func(e event) bool {
		return e.Event == "warning" && strings.Contains(e.Message, `works on this task, "bowl", without the invitation`)
	})
	if text := must(t, "status", "--data-dir", dir); !strings.Contains(text, " is on this task without the invitation\n") {
		t.Errorf("status\n%s", text)
	}
	diagnose(t, "--data-dir", dir, file, "--peer", open.address(t)).expect(t, "peer's task", "fail", "^it takes part in "+id+" without an invitation$")
	open.signal(t, os.Interrupt)
	open.wait(t)
	open = start(t, join(runLine(file, openly, "--json", "--peer", address, "--hub", hubAddress, "--invite", inviteFile), objective("steady"))...)
	open.await(t, "a warning", func(e event) bool {
		return e.Event == "warning" && strings.Contains(e.Message, "ran without an invitation until now")
	})
	open.await(t, "a share of the first", func(e event) bool { return e.Event == "share_received" && e.Kind == "weights" })
	hub.await(t, "a share", func(e event) bool { return e.Event == "shares_stored" && e.Authors > 0 })

	// The doctor looks for the tag, by a file or by what is kept.
	elsewhere := shortTempDir(t)
	d := diagnose(t, "--data-dir", elsewhere, file, "--invite", inviteFile, "--peer", address)
	d.expect(t, "invitation", "ok", "announced as "+tag)
	d.expect(t, "peer's task", "ok", "^it takes part in "+id+" by this invitation$")
	d = diagnose(t, "--data-dir", elsewhere, file, "--peer", address)
	d.expect(t, "peer's task", "fail", "^it does not take part in "+id+" openly; it takes part in 1 task by invitation")
	another, _ := invite(t, file)
	d = diagnose(t, "--data-dir", elsewhere, file, "--invite", another, "--peer", address)
	d.expect(t, "peer's task", "fail", "^it takes part in 1 task by another invitation$")
	diagnose(t, "--data-dir", dir, file).expect(t, "invitation", "ok", "kept")

	// Another invitation takes the place of the one that is kept.
	first.signal(t, os.Interrupt)
	first.wait(t)
	changed := start(t, join(runLine(file, dir, "--json", "--invite", another), objective("steady"))...)
	changed.await(t, "a warning", func(e event) bool {
		return e.Event == "warning" && strings.Contains(e.Message, "the invitation is another than before")
	})
	if e := changed.await(t, "its start", isEvent("node_started")); e.Tag == tag || e.Open {
		t.Errorf("%+v", e)
	}
}

// TestInvitationErrors: each mistake is one line that names the file and what is
// accepted, before anything is on the network.
func TestInvitationErrors(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "task.yaml", bowlTask)
	other := writeFile(t, "other.yaml", strings.Replace(bowlTask, "high: 2}", "high: 3}", 1))
	inviteFile, i := invite(t, file)
	text := i.Text()
	mistyped := writeFile(t, "mistyped", text[:60]+string(text[60]^1)+text[61:])
	wide := writeFile(t, "wide", text)
	if err := os.Chmod(wide, 0o644); err != nil {
		t.Fatal(err)
	}
	damaged := shortTempDir(t)
	if err := os.MkdirAll(filepath.Join(damaged, "invitations"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(damaged, "invitations", i.Task().String()), []byte(text[:70]), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(file, dir string, flags ...string) []string {
		return join(runLine(file, dir, append(flags, "--evals", "1")...), objective("steady"))
	}
	for _, c := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"mistyped", run(file, shortTempDir(t), "--invite", mistyped), base.ExitUsage, "mistyped or cut short: its checksum is wrong"},
		{"wide", run(file, shortTempDir(t), "--invite", wide), base.ExitUsage, "readable by others (mode 0644): expected 0600"},
		{"another task", run(other, shortTempDir(t), "--invite", inviteFile), base.ExitUsage, "is an invitation to task " + i.Task().String() + ", not to "},
		{"missing", run(file, shortTempDir(t), "--invite", "/nowhere"), base.ExitUsage, "/nowhere: no such file"},
		{"kept and damaged", run(file, damaged), base.ExitFailed, "mistyped or cut short"},
		{"exists", []string{"task", "invite", file, "--out", inviteFile}, base.ExitUsage, "exists; an invitation in use is not replaced"},
		{"check", []string{"task", "check", other, "--invite", inviteFile}, base.ExitUsage, "is an invitation to task"},
		{"hub", []string{"hub", "--data-dir", shortTempDir(t), "--keep", other, "--invite", inviteFile}, base.ExitUsage, "which no --keep names"},
		{"hub without keep", []string{"hub", "--data-dir", shortTempDir(t), "--invite", inviteFile}, base.ExitUsage, "which no --keep names"},
		{"doctor", []string{"doctor", "--data-dir", shortTempDir(t), "--invite", inviteFile}, base.ExitUsage, "name the TASK too"},
	} {
		e := call(t, c.args...)
		if e.code != c.code || strings.Count(e.stderr, "\n") != 1 || !strings.Contains(e.stderr, c.want) || strings.Contains(e.stderr, text[70:90]) {
			t.Errorf("%s: code %d\n%s%s", c.name, e.code, e.stdout, e.stderr)
		}
	}
	if text := must(t, "task", "invite", file); len(strings.Fields(text)) != 1 || strings.Contains(text, i.Text()) {
		t.Errorf("prints %q", text)
	}
	if text := must(t, "task", "check", file, "--invite", inviteFile); !strings.Contains(text, "announce the task as "+i.Keys().Tag().String()+"\n") {
		t.Errorf("check prints %s", text)
	}
	if text := must(t, run(file, shortTempDir(t), "--invite", inviteFile)...); !strings.Contains(text, "\nclosed: only nodes that have the invitation take part") || strings.Contains(text, "is open") || strings.Contains(text, "\nopen") {
		t.Errorf("run prints %s", text)
	}
}
