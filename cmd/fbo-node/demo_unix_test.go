//go:build unix

package main_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/democmd"
)

// demoCommand makes the demo keep its temporary directory in dir.
func demoCommand(dir string, args ...string) *exec.Cmd {
	command := nodeCommand(append([]string{"demo"}, args...)...)
	command.Env = append(command.Env, "TMPDIR="+dir)
	return command
}

func checkEmpty(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// demoReport returns the report of a demo, which leaves no files behind.
func demoReport(t *testing.T, args ...string) (r democmd.Report) {
	t.Helper()
	dir := shortTempDir(t)
	e := finish(t, demoCommand(dir, append([]string{"--json"}, args...)...))
	if e.code != base.ExitDone || strings.Contains(e.stderr, "warning") {
		t.Fatalf("exit code %d: %s", e.code, e.stderr)
	}
	checkEmpty(t, dir)
	decode(t, e.stdout, &r) // exactly one object, or this fails
	return r
}

// Two runs of a seed differ only in times and bytes.
func TestDemoRepeatsASeed(t *testing.T) {
	t.Parallel()
	first, again := demoReport(t, "--evals", "5", "--seed", "7", "--seeds", "2"), demoReport(t, "--evals", "5", "--seed", "7", "--seeds", "2")
	for _, r := range []*democmd.Report{&first, &again} {
		if r.Seconds <= 0 {
			t.Errorf("%g seconds", r.Seconds)
		}
		r.Seconds = 0
		for _, seed := range r.Seeds {
			for i := range seed.Sites {
				for _, run := range []*int64{&seed.Sites[i].WithPeers.BytesSent, &seed.Sites[i].Alone.BytesSent} {
					*run = 0
				}
			}
		}
	}
	if !reflect.DeepEqual(first, again) {
		t.Errorf("%+v\nthen\n%+v", first, again)
	}
	checkDemoReport(t, first)
}

// checkDemoReport checks the report of seeds 7 and 8 with five evaluations.
func checkDemoReport(t *testing.T, r democmd.Report) {
	t.Helper()
	if len(r.Seeds) != 2 || r.Seeds[0].Seed != 7 || r.Seeds[1].Seed != 8 || len(r.Scenes) != 2 || !r.Similar {
		t.Fatalf("%+v", r)
	}
	ids := map[string]bool{}
	for _, seed := range r.Seeds {
		for i, site := range seed.Sites {
			want := 5
			if i == 3 {
				want = 3
			}
			if len(site.WithPeers.Curve) != want || len(site.Alone.Curve) != want || site.Alone.UsedShares != 0 {
				t.Errorf("site %d: %+v", i+1, site)
			}
			starts := 3 // designs that do not depend on the strategy
			if i == 3 {
				starts = 0
			}
			if site.WithPeers.UsedShares != want-starts || !slices.Equal(site.WithPeers.Designs[:starts], site.Alone.Designs[:starts]) {
				t.Errorf("site %d: %+v", i+1, site)
			}
			ids[site.WithPeers.PeerID], ids[site.Alone.PeerID] = true, true
		}
	}
	if len(ids) != 16 || ids[""] {
		t.Errorf("%d identities of 16 nodes: %v", len(ids), ids)
	}
}

func TestDemoForPeople(t *testing.T) {
	t.Parallel()
	dir := shortTempDir(t)
	e := finish(t, demoCommand(dir, "--evals", "2", "--seeds", "2"))
	if e.code != base.ExitDone || e.stderr != "" {
		t.Fatalf("exit code %d: %s", e.code, e.stderr)
	}
	checkEmpty(t, dir)
	if strings.Contains(e.stdout, "Dissimilar sites") {
		t.Errorf("figures of ten evaluations after two:\n%s", e.stdout)
	}
	for _, want := range []string{"Seeds: 1 2.", "mean of 2 seeds", "scene two, site 4, 1 evaluation ", "Scene one: ", "Scene two: ", "This took "} {
		if !strings.Contains(e.stdout, want) {
			t.Errorf("%q is missing in\n%s", want, e.stdout)
		}
	}
	lines := strings.Split(e.stdout, "\n")
	if len(lines) > 24 || strings.Contains(e.stdout, "\x1b") {
		t.Errorf("%d lines, or escape codes:\n%s", len(lines), e.stdout)
	}
	for _, line := range lines {
		if len([]rune(line)) > 80 {
			t.Errorf("%d characters: %s", len([]rune(line)), line)
		}
	}
}

// A long search finds a loss that is at most that of the runs, and the text has the errors.
func TestDemoRegret(t *testing.T) {
	t.Parallel()
	if slowness > 1 {
		t.Skip("1,600 trainings in one goroutine take minutes with the race detector")
	}
	r := demoReport(t, "--evals", "1", "--seeds", "1", "--regret", "--dissimilar")
	for i, site := range r.Seeds[0].Sites {
		if site.Lowest == nil || *site.Lowest > min(site.WithPeers.Curve[0], site.Alone.Curve[0]) {
			t.Errorf("site %d: %+v", i+1, site)
		}
	}
	if r.Similar || r.Scenes[1].Ratio == nil {
		t.Errorf("%+v", r)
	}
}

func TestDemoInterrupted(t *testing.T) {
	t.Parallel()
	dir := shortTempDir(t)
	command := demoCommand(dir, "--evals", "1000")
	e := finishAnd(t, command, func() {
		deadline := time.Now().Add(patienceOfTests)
		for time.Now().Before(deadline) {
			if journals, _ := filepath.Glob(filepath.Join(dir, "*", "*", "journal.db")); len(journals) >= 6 {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if err := command.Process.Signal(syscall.SIGINT); err != nil {
			t.Error(err)
		}
	})
	if e.code != base.ExitFailed || !strings.Contains(e.stderr, "fbo-node: interrupt") || strings.Count(e.stderr, "\n") != 1 {
		t.Errorf("exit code %d, %q", e.code, e.stderr)
	}
	checkEmpty(t, dir)
}

func TestDemoFlags(t *testing.T) {
	t.Parallel()
	taken := shortTempDir(t)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--evals", "0"}, "fbo-node: --evals 0: expected 1 or more\n"},
		{[]string{"--seeds", "0"}, "fbo-node: --seeds 0: expected 1 or more\n"},
		{[]string{"--seeds", "2", "--data-dir", taken + "/new"}, "fbo-node: --data-dir keeps one run: expected --seeds 1, not 2\n"},
		{[]string{"--seeds", "2", "--web"}, "fbo-node: --web shows one run: expected --seeds 1, not 2\n"},
		{[]string{"--data-dir", taken}, "fbo-node: --data-dir must be a new directory: mkdir " + taken + ": file exists\n"},
	} {
		e := call(t, append([]string{"demo"}, c.args...)...)
		if e.code != base.ExitUsage || e.stderr != c.want || e.stdout != "" {
			t.Errorf("%q: exit code %d, %q", c.args, e.code, e.stderr)
		}
	}
}

// The overview lists all nodes and forwards requests about each, until Ctrl-C.
func TestDemoOverview(t *testing.T) {
	t.Parallel()
	dir := shortTempDir(t)
	command := demoCommand(dir, "--evals", "2", "--web")
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	slow := time.AfterFunc(patienceOfTests, func() { _ = command.Process.Kill() })
	defer slow.Stop()
	link, stays := "", false
	for lines := bufio.NewScanner(stdout); !stays && lines.Scan(); {
		if _, found, ok := strings.Cut(lines.Text(), "overview: "); ok {
			link = found
		}
		stays = lines.Text() == "The overview stays until Ctrl-C."
	}
	url, key, _ := strings.Cut(link, "/#key=")
	status, text := pageAsk(t, "GET", url+"/v1/tasks", key)
	if !stays || status != 200 {
		t.Fatalf("stays: %v, link %q: %d %s", stays, link, status, text)
	}
	var list struct {
		Tasks []struct {
			ID, Name string
			Trials   map[string]int
		}
	}
	decode(t, text, &list)
	if len(list.Tasks) != 8 || list.Tasks[6].Name != "site 4 alone" || list.Tasks[7].Name != "site 4 with peers" || list.Tasks[0].Trials["done"] != 2 {
		t.Errorf("%+v", list.Tasks)
	}
	for path, want := range map[string]string{
		"/v1/node":                                   "8 nodes",
		"/v1/log":                                    "lines",
		"/v1/tasks/site-4-with-peers":                `"name":"site 4 with peers"`,
		"/v1/tasks/site-4-with-peers/trials":         `"state":"done"`,
		"/v1/tasks/site-1-with-peers/contributions":  "peers known",
		"/v1/tasks/site-1-with-peers/trials?limit=1": `"next":1`,
		"/v1/tasks/site-1-alone/model":               "mean",
	} {
		if status, text := pageAsk(t, "GET", url+path, key); status != 200 || !strings.Contains(text, want) {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	if status, _ := pageAsk(t, "GET", url+"/v1/tasks/site-5", key); status != 404 {
		t.Errorf("an unknown node: %d", status)
	}
	if err := command.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := command.Wait(); err != nil {
		t.Errorf("ended with %v", err)
	}
	checkEmpty(t, dir)
}
