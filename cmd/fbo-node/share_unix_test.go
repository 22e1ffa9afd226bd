//go:build unix

package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/cli/base"
)

const bundledTask = `name: bundled
goal: maximize
parameters:
  - {name: x, type: float, low: 0, high: 1}
  - {name: y, type: float, low: 0, high: 1}
`

// evaluatedAlone runs a node without peers on the task until it has made the evaluations.
func evaluatedAlone(t *testing.T, file, dir, evals string, flags ...string) []trialJSON {
	t.Helper()
	call(t, join(runLine(file, dir, append(flags, "--evals", evals)...), objective("bowl"))...)
	return historyOf(t, dir)
}

func refused(t *testing.T, what, want string, args ...string) {
	t.Helper()
	e := call(t, args...)
	if e.code == base.ExitDone || e.stdout != "" || !strings.Contains(e.stderr, want) || strings.Count(e.stderr, "\n") != 1 {
		t.Errorf("%s: exit code %d, %q; want one line with %q", what, e.code, e.stdout+e.stderr, want)
	}
}

// TestSitesThatNeverConnectExchangeFiles takes a bundle from a node to another one: its first design is
// informed. Bad files change nothing, and an own bundle that comes back is harmless.
func TestSitesThatNeverConnectExchangeFiles(t *testing.T) {
	t.Parallel()
	file, a, b, media := writeFile(t, "task.yaml", bundledTask), shortTempDir(t), shortTempDir(t), shortTempDir(t)
	evaluatedAlone(t, file, a, "6", "--seed", "1")
	old, bundle := filepath.Join(media, "old.shares"), filepath.Join(media, "a.shares")
	must(t, "share", "export", file, "--data-dir", a, "--out", old)
	evaluatedAlone(t, file, a, "14", "--seed", "2")
	if text := must(t, "share", "export", file, "--data-dir", a, "--out", bundle); !strings.Contains(text, "approximate location") || !strings.Contains(text, "everyone who has the file") {
		t.Errorf("export does not print what it discloses: %q", text)
	}
	data, err := os.ReadFile(bundle)
	if err != nil {
		t.Fatal(err)
	}
	changed := append([]byte{}, data...)
	changed[len(changed)-20] ^= 1
	refused(t, "a changed file", "damaged", "share", "import", "--task", file, "--data-dir", b, writeFile(t, "changed.shares", string(changed)))
	refused(t, "a cut file", "damaged", "share", "import", "--task", file, "--data-dir", b, writeFile(t, "cut.shares", string(data[:len(data)/2])))
	other := writeFile(t, "other.yaml", strings.Replace(bundledTask, "bundled", "another", 1))
	refused(t, "a file of another task", "task", "share", "import", "--task", other, "--data-dir", b, bundle)

	if text := must(t, "share", "import", "--task", file, "--data-dir", b, bundle); !strings.Contains(text, "1 new") {
		t.Fatalf("import: %q", text)
	}
	if text := must(t, "share", "import", "--data-dir", b, bundle); !strings.Contains(text, "1 already known") {
		t.Errorf("a second import: %q", text)
	}
	refused(t, "a replayed file", "older", "share", "import", "--data-dir", b, old)
	if first := evaluatedAlone(t, file, b, "1")[0]; !strings.Contains(first.Why.String(), "informed by 1 peer") {
		t.Errorf("the first design of the second site: %s", first.Why)
	}

	if text := must(t, "share", "import", "--data-dir", a, old); !strings.Contains(text, "1 of this node; nothing has changed") {
		t.Errorf("an own bundle: %q", text)
	}
	evaluatedAlone(t, file, b, "8")
	both := filepath.Join(media, "both.shares")
	must(t, "share", "export", file, "--data-dir", b, "--all", "--out", both)
	if text := must(t, "share", "import", "--data-dir", a, both); !strings.Contains(text, "1 new, 1 of this node; used from the next start") {
		t.Errorf("a bundle of both sites: %q", text)
	}
	again := filepath.Join(media, "again.shares")
	must(t, "share", "export", file, "--data-dir", a, "--out", again)
	if text := must(t, "share", "import", "--data-dir", b, again); !strings.Contains(text, "1 already known") {
		t.Errorf("after an own bundle came back the node has another share: %q", text)
	}
}

// TestRunningNodesExchangeFiles exports from a running keeper, and imports into a running one.
func TestRunningNodesExchangeFiles(t *testing.T) {
	t.Parallel()
	file, a, b := writeFile(t, "task.yaml", bundledTask), shortTempDir(t), shortTempDir(t)
	bundle := filepath.Join(shortTempDir(t), "a.shares")
	evaluatedAlone(t, file, a, "8")
	for _, dir := range []string{a, b} {
		keeper, _ := startKeeper(t, file, dir)
		if dir == a {
			must(t, "share", "export", file, "--data-dir", a, "--out", bundle)
		} else if text := must(t, "share", "import", "--data-dir", b, bundle); !strings.Contains(text, "1 new; used for the next design") {
			t.Errorf("import: %q", text)
		}
		keeper.signal(t, os.Kill) // what is acknowledged is on disk
		keeper.wait(t)
	}
	if first := evaluatedAlone(t, file, b, "1")[0]; !strings.Contains(first.Why.String(), "informed by 1 peer") {
		t.Errorf("the first design: %s", first.Why)
	}
}

func TestExportRefusesUselessShares(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{"alone": "shares nothing", "consensus": "not connected"} {
		file := writeFile(t, kind+".yaml", bundledTask+"strategy: {type: "+kind+"}\n")
		refused(t, kind, want, "share", "export", file, "--data-dir", shortTempDir(t))
	}
}

// TestBundleByInvitationIsSealed needs the invitation on both sides.
func TestBundleByInvitationIsSealed(t *testing.T) {
	t.Parallel()
	file, a, b := writeFile(t, "task.yaml", bundledTask), shortTempDir(t), shortTempDir(t)
	invite := writeFile(t, "invite", must(t, "task", "invite", file))
	bundle := filepath.Join(shortTempDir(t), "a.shares")
	evaluatedAlone(t, file, a, "8", "--invite", invite)
	must(t, "share", "export", file, "--data-dir", a, "--out", bundle)
	refused(t, "without the invitation", "sealed", "share", "import", "--task", file, "--data-dir", b, bundle)
	for _, flags := range [][]string{{"--task", file, "--invite", invite}, {}} {
		must(t, join([]string{"share", "import", "--data-dir", b, bundle}, flags)...)
	}
}
