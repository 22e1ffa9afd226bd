package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

var preparedOn = time.Date(2026, 12, 24, 23, 30, 0, 0, time.FixedZone("west", -8*3600)) // the 25th in UTC

// withPython adds the Python package to a repository, in a commit.
func withPython(t *testing.T, dir string) {
	t.Helper()
	write(t, filepath.Join(dir, wheelScript), "")
	write(t, filepath.Join(dir, versionFile), "\"\"\"A version.\"\"\"\n\n__version__ = \"0.0.9\"\n")
	runGit(t, dir, "add", "--all")
	runGit(t, dir, "commit", "--quiet", "--message", "python")
	runGit(t, dir, "config", "user.name", "a")
	runGit(t, dir, "config", "user.email", "a@example.org")
}

// After the commit and a tag a release of the version has its notes, and a snapshot of another version
// has them too.
func TestPrepareMakesTheCommitOfAVersion(t *testing.T) {
	dir := repository(t)
	withPython(t, dir)
	if err := prepare(t.Context(), filepath.Join(dir, "deploy"), "0.3.0-rc.1", preparedOn); err != nil {
		t.Fatal(err)
	}
	got := string(contentsOf(t, filepath.Join(dir, "CHANGELOG.md")))
	if want := strings.Replace(changelog, "## Unreleased", "## 0.3.0-rc.1 (2026-12-25)", 1); got != want {
		t.Errorf("the changelog is\n%s\nwant\n%s", got, want)
	}
	if got := string(contentsOf(t, filepath.Join(dir, versionFile))); got != "\"\"\"A version.\"\"\"\n\n__version__ = \"0.3.0rc1\"\n" {
		t.Errorf("%s is %q", versionFile, got)
	}
	_, err := look(t.Context(), dir, "0.3.0-rc.1", false)
	mustFail(t, err, "there is no tag v0.3.0-rc.1")
	runGit(t, dir, "tag", "v0.3.0-rc.1")
	s, err := look(t.Context(), dir, "0.3.0-rc.1", false)
	if err != nil || s.notes != "- New.\n" || s.stamped != "v0.3.0-rc.1" {
		t.Errorf("%v, %+v", err, s)
	}
	if s, err := look(t.Context(), dir, "0.0.0", true); err != nil || s.notes != "- New.\n" {
		t.Errorf("a snapshot after the release: %v, %+v", err, s)
	}
	subject, err := git(t.Context(), dir, "log", "-1", "--format=%s")
	// The rule of .ci/run for subjects of commits.
	if err != nil || len(subject) > 72 || !regexp.MustCompile(`^[A-Za-z0-9_./{},* -]+: [a-z][^.]{2,}$`).MatchString(subject) {
		t.Errorf("subject %q, %v; expected area: imperative, at most 72 characters", subject, err)
	}
}

func TestPrepareOfASourceWithoutPython(t *testing.T) {
	dir := repository(t)
	runGit(t, dir, "config", "user.name", "a")
	runGit(t, dir, "config", "user.email", "a@example.org")
	if err := prepare(t.Context(), dir, "0.3.0", preparedOn); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, versionFile)); !os.IsNotExist(err) {
		t.Errorf("%s: %v", versionFile, err)
	}
}

// A refused version changes neither files nor the history.
func TestVersionsThatCannotBePrepared(t *testing.T) {
	for _, c := range []struct {
		name, version, fail string
		change              func(dir string)
	}{
		{"changes", "0.3.0", "the working tree has changes", func(dir string) { write(t, filepath.Join(dir, "LICENSE"), "none\n") }},
		{"a tag", "0.1.0", "the tag v0.1.0 exists", func(string) {}},
		{"a section", "0.2.0-rc.1", `has a section "## 0.2.0-rc.1"`, func(string) {}},
		{"an empty section", "0.0.1", `has a section "## 0.0.1"`, func(string) {}},
		{"no changes since", "0.3.0", `no section "## Unreleased"`, func(dir string) {
			write(t, filepath.Join(dir, "CHANGELOG.md"), strings.Replace(changelog, "## Unreleased\n\n- New.\n\n", "", 1))
			runGit(t, dir, "commit", "--quiet", "--all", "--message", "two")
		}},
		{"no form for Python", "0.3.0-pre", "version 0.3.0-pre has no form for Python packages", func(string) {}},
		{"no version of Python", "0.3.0", `version.py has no line __version__`, func(dir string) {
			write(t, filepath.Join(dir, versionFile), "")
			runGit(t, dir, "commit", "--quiet", "--all", "--message", "two")
		}},
		{"a hook", "0.3.0", "not today", func(dir string) {
			hook := filepath.Join(dir, ".git/hooks/pre-commit")
			write(t, hook, "#!/bin/sh\necho not today >&2\nexit 1\n")
			if err := os.Chmod(hook, 0o755); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := repository(t)
			withPython(t, dir)
			c.change(dir)
			state := func() string {
				head, err := git(t.Context(), dir, "rev-parse", "HEAD")
				if err != nil {
					t.Fatal(err)
				}
				changed, err := git(t.Context(), dir, "status", "--porcelain")
				if err != nil {
					t.Fatal(err)
				}
				return head + changed + string(contentsOf(t, filepath.Join(dir, "CHANGELOG.md"))) + string(contentsOf(t, filepath.Join(dir, versionFile)))
			}
			before := state()
			mustFail(t, prepare(t.Context(), dir, c.version, preparedOn), c.fail)
			if after := state(); after != before {
				t.Errorf("the repository was\n%s\nand is\n%s", before, after)
			}
		})
	}
}

// The changelog and the Python package of this project can be given a version.
func TestThisProjectCanBePrepared(t *testing.T) {
	text := string(contentsOf(t, "../../CHANGELOG.md"))
	if newest(text) != unreleased {
		t.Skipf("nothing is unreleased after %s", newest(text))
	}
	edits, err := versionEdits("../..", "99.0.0-rc.1", preparedOn)
	if err != nil || len(edits) != 2 || newest(edits[0].after) != "99.0.0-rc.1" || !strings.Contains(edits[1].after, `"99.0.0rc1"`) {
		t.Errorf("%v, %d edits", err, len(edits))
	}
}
