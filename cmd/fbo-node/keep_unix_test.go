//go:build unix

package main_test

import (
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/sharecache"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/task"
)

// site is one machine's part in a tuning: its own data, and a command that trains on
// it, with the flags before it.
type site struct {
	file     string
	seed     uint64
	node     int
	training []string
}

// demoSites train as those of the demo do.
func demoSites(file string, seed uint64, count int) (sites []site) {
	for node := range count {
		sites = append(sites, site{file, seed, node, []string{
			"--", os.Args[0], "train", "--seed", strconv.FormatUint(seed, 10), "--node", strconv.Itoa(node),
			"--learning-rate", "{learning_rate}", "--l2", "{l2}", "--momentum", "0.8",
			"--batch-size", "{batch_size}", "--optimizer", "{optimizer}",
		}})
	}
	return sites
}

// run is the site's node as a process.
func (s site) run(t *testing.T, dir string, flags ...string) *process {
	t.Helper()
	seeded := append(flags, "--json", "--seed", strconv.FormatUint(1000*s.seed+uint64(s.node), 10))
	return start(t, join(runLine(s.file, dir, seeded...), s.training)...)
}

func keepLine(file, dir string, flags ...string) []string {
	return append([]string{"keep", file, "--json", "--data-dir", dir, "--mdns=false",
		"--listen", "/ip4/127.0.0.1/udp/0/quic-v1", "--listen", "/ip4/127.0.0.1/tcp/0"}, flags...)
}

func startKeeper(t *testing.T, file, dir string) (keeper *process, address string) {
	t.Helper()
	keeper = start(t, keepLine(file, dir)...)
	return keeper, keeper.await(t, "its start", isEvent("keeper_started")).Addresses[0]
}

// onDisk waits until a node's file of what it has heard holds what peers believe, resting on so
// many observations each.
func onDisk(t *testing.T, dir, file string, authors, observations int) {
	t.Helper()
	parsed, err := base.ReadTask(file)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "peer-shares", parsed.ID().String()+".jsonl")
	var held map[peer.ID]bool // whether all shares of an author rest on so many
	for begun := time.Now(); time.Since(begun) < patienceOfTests; time.Sleep(50 * time.Millisecond) {
		c, err := sharecache.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		held = map[peer.ID]bool{}
		for _, kept := range c.Shares {
			share, err := protocol.Open(kept.Envelope)
			if err != nil {
				t.Fatal(err)
			}
			last := observationsOf(t, parsed, share) == observations
			before, known := held[share.Author]
			held[share.Author] = last && (before || !known)
		}
		maps.DeleteFunc(held, func(_ peer.ID, last bool) bool { return !last })
		if len(held) == authors {
			return
		}
	}
	t.Fatalf("%s holds what %d nodes know in the end, want %d", path, len(held), authors)
}

// observationsOf returns how many a share of peer-prior rests on.
func observationsOf(t *testing.T, of *task.Task, share protocol.Share) int {
	t.Helper()
	if share.Kind == protocol.MeanKind {
		mean, err := protocol.DecodeMean(share.Payload, of.Surrogate.Features, of.Space.Len())
		if err != nil {
			t.Fatal(err)
		}
		return mean.Observations
	}
	believed, err := protocol.DecodeDensity(share.Payload, of.Space)
	if err != nil {
		t.Fatal(err)
	}
	return believed.Observations
}

// tuneAndEnd lets sites tune together; the keeper is the only one they know.
func tuneAndEnd(t *testing.T, sites []site, keeper string, evals int) {
	t.Helper()
	var nodes []*process
	for _, s := range sites {
		nodes = append(nodes, s.run(t, shortTempDir(t), "--peer", keeper, "--evals", strconv.Itoa(evals)))
	}
	for i, p := range nodes {
		if code := p.wait(t); code != base.ExitDone {
			t.Fatalf("site %d: exit code %d: %s", i, code, p.stderr.String())
		}
	}
}

// firstTrial lets a fourth site that only knows the keeper evaluate one design.
func firstTrial(t *testing.T, s site, keeper string) *shownTrial {
	t.Helper()
	p := s.run(t, shortTempDir(t), "--peer", keeper, "--evals", "1", "--wait-for-peers", patienceOfTests.String())
	if code := p.wait(t); code != base.ExitDone {
		t.Fatalf("exit code %d: %s", code, p.stderr.String())
	}
	waited := p.of("wait_ended")
	if len(waited) != 1 || waited[0].Authors != 3 {
		t.Errorf("waited: %+v; want one event, with three authors", waited)
	}
	return p.of("trial_finished")[0].Trial
}

// Three sites make their evaluations and end. A fourth, which only knows a
// keeper, begins with what they have learned, and does so too when the keeper was
// killed and has come back.
func TestALaterMachineGetsWhatIsKept(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", demoTask(t)), shortTempDir(t)
	keeper, address := startKeeper(t, file, dir)
	sites := demoSites(file, 1, 5)
	tuneAndEnd(t, sites[:3], address, 8)
	if first := firstTrial(t, sites[3], address); first.Why.Source != "peers" || first.Why.PeerCount != 3 {
		t.Errorf("its first design: %+v", first.Why)
	}
	onDisk(t, dir, file, 3, 8)
	keeper.signal(t, syscall.SIGKILL)
	<-keeper.ended
	_, again := startKeeper(t, file, dir)
	if first := firstTrial(t, sites[4], again); first.Why.Source != "peers" || first.Why.PeerCount != 3 {
		t.Errorf("after the keeper was killed, its first design: %+v", first.Why)
	}
}

// A keeper that finds nobody does not claim to tune.
func TestKeepWithoutPeersReportsThatItOnlyKeeps(t *testing.T) {
	t.Parallel()
	const nobody = "/ip4/127.0.0.1/udp/1/quic-v1/p2p/12D3KooWCtgLB35RpjwhC4Hwgj2ZbSsN7WRMiDdBQg9mExHX659m"
	keeper := start(t, keepLine(writeFile(t, "task.yaml", demoTask(t)), shortTempDir(t), "--peer", nobody)...)
	e := keeper.await(t, "that it is alone", func(e event) bool { return e.Event == "warning" && strings.Contains(e.Message, "no peers") })
	if strings.Contains(e.Message, "tunes") {
		t.Errorf("a keeper says %q", e.Message)
	}
}

// A node that stays is a keeper from then on, one that starts again in the same
// directory uses what it had heard, and its own shares are passed on by a keeper
// that takes over its directory.
func TestStayAndComeBack(t *testing.T) {
	t.Parallel()
	file, dirs := writeFile(t, "task.yaml", demoTask(t)), []string{shortTempDir(t), shortTempDir(t)}
	sites := demoSites(file, 2, 3)
	first := sites[0].run(t, dirs[0], "--evals", "6", "--keep-after")
	address := first.address(t)
	second := sites[1].run(t, dirs[1], "--evals", "6", "--peer", address)
	if code := second.wait(t); code != base.ExitDone {
		t.Fatalf("exit code %d: %s", code, second.stderr.String())
	}
	first.await(t, "that it stays", isEvent("keeping"))
	if s := statusOf(t, dirs[0]); !s.Running || !s.Keeping {
		t.Errorf("status of the one that stays: %+v", s)
	}
	onDisk(t, dirs[0], file, 1, 6)
	first.signal(t, syscall.SIGTERM)
	if code := first.wait(t); code != base.ExitDone {
		t.Errorf("exit code %d: %s", code, first.stderr.String())
	}
	if before := first.of("keeping"); len(before) != 1 || first.all()[len(first.all())-1].Event != "interrupted" {
		t.Errorf("events: %+v", first.all())
	}
	// Alone again, it rests its designs on what it had heard.
	again := sites[0].run(t, dirs[0], "--evals", "12")
	if code := again.wait(t); code != base.ExitDone {
		t.Fatalf("exit code %d: %s", code, again.stderr.String())
	}
	heardOf := 0
	for _, e := range again.of("trial_finished") {
		if e.Trial.Why.FromPeers() {
			heardOf++
		}
	}
	if heardOf == 0 {
		t.Error("no design of six rests on what the node had heard before it was started anew")
	}
	keeper, address := startKeeper(t, file, dirs[0])
	if stored := keeper.await(t, "what it stores", isEvent("shares_stored")); stored.Authors != 1 || stored.OwnShares != 1 {
		t.Errorf("it holds %+v, want the shares of one other and its own", stored)
	}
	p := sites[2].run(t, shortTempDir(t), "--peer", address, "--evals", "1", "--wait-for-peers", patienceOfTests.String())
	if code := p.wait(t); code != base.ExitDone {
		t.Fatalf("exit code %d: %s", code, p.stderr.String())
	}
	if waited := p.of("wait_ended"); len(waited) != 1 || waited[0].Authors != 2 {
		t.Errorf("a later machine heard from %+v, want two nodes", waited)
	}
}

// A hub that keeps a task passes on what nodes shared that have ended, and says
// what cannot be kept.
func TestHubKeepSendsSharesOfEndedNodes(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "task.yaml", demoTask(t))
	hub := start(t, "hub", "--json", "--data-dir", shortTempDir(t), "--listen", "/ip4/127.0.0.1/tcp/0", "--keep", file)
	address := hub.await(t, "its start", isEvent("hub_started")).Addresses[0]
	hub.await(t, "what it keeps", isEvent("keeping"))
	sites := demoSites(file, 3, 2)
	first := sites[0].run(t, shortTempDir(t), "--hub", address, "--evals", "5")
	if code := first.wait(t); code != base.ExitDone {
		t.Fatalf("exit code %d: %s", code, first.stderr.String())
	}
	hub.await(t, "what it holds", func(e event) bool { return e.Event == "shares_stored" && e.Authors == 1 })
	second := sites[1].run(t, shortTempDir(t), "--hub", address, "--evals", "1", "--wait-for-peers", patienceOfTests.String())
	if code := second.wait(t); code != base.ExitDone {
		t.Fatalf("exit code %d: %s", code, second.stderr.String())
	}
	if trial := second.of("trial_finished")[0].Trial; trial.Why.Source != "peers" {
		t.Errorf("the first design of a node that came later: %+v", trial.Why)
	}
}

func TestKeepRefusesWhatIsNeverShared(t *testing.T) {
	t.Parallel()
	alone := writeFile(t, "task.yaml", strings.Replace(bowlTask, "fts", "ts", 1))
	for _, command := range [][]string{keepLine(alone, shortTempDir(t)), {"hub", "--data-dir", shortTempDir(t), "--keep", alone}} {
		if e := call(t, command...); e.code != base.ExitUsage || !strings.Contains(e.stderr, "the strategy is ts, which shares nothing") {
			t.Errorf("%q: exit code %d, %s", command, e.code, e.stderr)
		}
	}
	rounds := writeFile(t, "task.yaml", strings.Replace(bowlTask, "fts", "consensus", 1))
	keeper := start(t, keepLine(rounds, shortTempDir(t))...)
	if e := keeper.await(t, "its start", isEvent("keeper_started")); !strings.Contains(e.UnusableReason, "present nodes") {
		t.Errorf("keep of consensus: %+v", e)
	}
}

// A damaged file of what was heard costs a warning and nothing else.
func TestDamagedFileOfWhatWasHeard(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", demoTask(t)), shortTempDir(t)
	parsed, err := base.ReadTask(file)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "peer-shares", parsed.ID().String()+".jsonl")
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("{\"format\":1}\nnonsense\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := demoSites(file, 1, 1)[0].run(t, dir, "--evals", "1")
	if code := p.wait(t); code != base.ExitDone || len(p.of("trial_finished")) != 1 {
		t.Errorf("exit code %d: %+v", code, p.all())
	}
	if warnings := p.of("warning"); len(warnings) != 1 || !strings.Contains(warnings[0].Message, "is damaged") {
		t.Errorf("warnings: %+v", warnings)
	}
}

// A node that is alone and cannot find anybody does not wait; one whose only peer
// is not there waits no longer than it was told.
func TestFirstDesignDoesNotWaitForNobody(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "task.yaml", bowlTask)
	for name, c := range map[string]struct {
		flags []string
		most  float64 // seconds, by the node's own clock, less than the default of 10
	}{
		"nobody is looked for": {nil, 8},
		"wait is off":          {[]string{"--wait-for-peers", "0", "--mdns"}, 0},
		"nobody answers":       {[]string{"--peer", "/ip4/127.0.0.1/udp/1/quic-v1/p2p/12D3KooWCtgLB35RpjwhC4Hwgj2ZbSsN7WRMiDdBQg9mExHX659m", "--wait-for-peers", "2s"}, 8},
	} {
		p := start(t, join(runLine(file, shortTempDir(t), append(c.flags, "--json", "--evals", "1")...), objective("bowl"))...)
		if code := p.wait(t); code != base.ExitDone {
			t.Fatalf("%s: exit code %d: %s", name, code, p.stderr.String())
		}
		for _, e := range p.of("wait_ended") {
			if e.Seconds > c.most {
				t.Errorf("%s: waited %.1f s", name, e.Seconds)
			}
		}
	}
	if e := call(t, join(runLine(file, shortTempDir(t), "--wait-for-peers", "-1s"), objective("bowl"))...); e.code != base.ExitUsage {
		t.Errorf("a negative wait: exit code %d, %s", e.code, e.stderr)
	}
	if e := call(t, join(runLine(file, shortTempDir(t), "--keep-after"), objective("bowl"))...); e.code != base.ExitUsage || !strings.Contains(e.stderr, "--evals") {
		t.Errorf("--keep-after without --evals: exit code %d, %s", e.code, e.stderr)
	}
}

// TestKeepFromStudy keeps a past study as a member: a newcomer's first design is informed by it, a
// restart has the same identity and share, and the directory's own node is not mixed with it.
func TestKeepFromStudy(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", bundledTask), shortTempDir(t)
	past := shortTempDir(t)
	evaluatedAlone(t, file, past, "12", "--seed", "3")
	study := writeFile(t, "study.csv", must(t, "history", "--format", "csv", "--data-dir", past))
	own := must(t, "peer-id", "--data-dir", dir)
	bundles := []string{filepath.Join(past, "1.shares"), filepath.Join(past, "2.shares")}
	var id, address string
	for i, bundle := range bundles {
		keeper := start(t, keepLine(file, dir, "--from", study)...)
		started := keeper.await(t, "its start", isEvent("keeper_started"))
		keeper.await(t, "its share", func(e event) bool { return e.Event == "shares_stored" && e.OwnShares == 1 })
		address = started.Addresses[0]
		studies, err := filepath.Glob(filepath.Join(dir, "studies", "*"))
		if err != nil || len(studies) != 1 {
			t.Fatalf("data directories of studies: %v, %v", studies, err)
		}
		now := strings.TrimSpace(must(t, "peer-id", "--data-dir", studies[0]))
		if id != "" && now != id || now == strings.TrimSpace(own) {
			t.Errorf("the member's identity is %s, before %s; that of the data directory is %s", now, id, own)
		}
		id = now
		must(t, "share", "export", file, "--data-dir", studies[0], "--out", bundle)
		if i == 1 {
			newcomer := shortTempDir(t)
			if first := evaluatedAlone(t, file, newcomer, "1", "--peer", address)[0]; !strings.Contains(first.Why.String(), "informed by 1 peer") {
				t.Errorf("the newcomer's first design: %s", first.Why)
			}
		}
		keeper.signal(t, os.Kill)
		keeper.wait(t)
	}
	reader := shortTempDir(t)
	must(t, "share", "import", "--task", file, "--data-dir", reader, bundles[0])
	if text := must(t, "share", "import", "--data-dir", reader, bundles[1]); !strings.Contains(text, "1 already known") {
		t.Errorf("after a restart the study has another share: %q", text)
	}
}

func TestKeepFromRefusesStudies(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", bundledTask), shortTempDir(t)
	for text, want := range map[string]string{
		"value,x,y\n1,0.5,7\n": "--import-outside skip",
		"value,x,y\n":          "no ended trials",
	} {
		refused(t, text, want, keepLine(file, dir, "--from", writeFile(t, "study.csv", text))...)
	}
	consensus := writeFile(t, "consensus.yaml", bundledTask+"strategy: {type: consensus}\n")
	refused(t, "a study for consensus", "absent nodes", keepLine(consensus, dir, "--from", writeFile(t, "study.csv", "value,x,y\n1,0.5,0.5\n"))...)
}

// TestKeepFromUsesTheKeptInvitation shares a study of a task that the data directory has joined by
// invitation. The study's own directory has no invitation, and the task must not become open.
func TestKeepFromUsesTheKeptInvitation(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", bundledTask), shortTempDir(t)
	invitation, i := invite(t, file)
	evaluatedAlone(t, file, dir, "3", "--invite", invitation)
	study := writeFile(t, "study.csv", must(t, "history", "--format", "csv", "--data-dir", dir))
	keeper := start(t, keepLine(file, dir, "--from", study)...)
	if started := keeper.await(t, "its start", isEvent("keeper_started")); started.Tag != i.Keys().Tag().String() {
		t.Errorf("the study's member announces the tag %q, expected that of the invitation", started.Tag)
	}
}
