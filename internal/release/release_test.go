package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const changelog = `# Changelog

## Unreleased

- New.

## 0.2.0-rc.1

- Tried ([tables](docs/tables.md)).

## 0.1.0 (2026-12-01)

- First.
  More of it.

## 0.0.1
`

func TestNotesAreTheSectionOfTheVersion(t *testing.T) {
	for _, c := range []struct {
		titles      []string
		notes, fail string
	}{
		{[]string{"0.1.0"}, "- First.\n  More of it.\n", ""},
		{[]string{"0.2.0-rc.1"}, "- Tried ([tables](docs/tables.md)).\n", ""},
		{[]string{"0.2.0"}, "", `has no section "## 0.2.0"`},
		{[]string{"0.1"}, "", `has no section "## 0.1"`},
		{[]string{"0x1x0"}, "", `has no section`},
		{[]string{"0.0.1"}, "", `"## 0.0.1" of CHANGELOG.md is empty`},
		{[]string{"0.3.0", unreleased}, "- New.\n", ""},
		{[]string{"0.1.0", unreleased}, "- First.\n  More of it.\n", ""},
	} {
		notes, err := cutNotes(changelog, c.titles...)
		if notes != c.notes {
			t.Errorf("%q: notes %q, want %q", c.titles, notes, c.notes)
		}
		mustFail(t, err, c.fail)
	}
	crossed := strings.ReplaceAll(changelog, "0.1.0 (", "0.1.0(")
	_, err := cutNotes(crossed, "0.1.0")
	mustFail(t, err, "has no section")
}

// The changelog of this project has notes, now and after it has been given a version.
func TestThisChangelogHasNotes(t *testing.T) {
	text, err := os.ReadFile("../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	first := strings.Fields(strings.SplitN(string(text), "\n## ", 2)[1])[0]
	notes, err := cutNotes(string(text), first)
	if err != nil || !strings.HasPrefix(notes, "- ") || strings.Contains(notes, "\n## ") {
		t.Errorf("section %q: %v, %.80q", first, err, notes)
	}
}

func TestLinksLeadOutOfAnArchive(t *testing.T) {
	const base = "](https://github.com/fbo-node/fbo/blob/v1.2.3/"
	for text, want := range map[string]string{
		"[a](docs/a.md) [b](LICENSE)":            "[a" + base + "docs/a.md) [b" + base + "LICENSE)",
		"[a](docs/a.md#some-part)":               "[a" + base + "docs/a.md#some-part)",
		"[a](https://libp2p.io), [b](#here)":     "[a](https://libp2p.io), [b](#here)",
		"f(x), [a], (docs/a.md), `g](` and [c](": "f(x), [a], (docs/a.md), `g](` and [c](",
	} {
		if got := absoluteLinks(text, "v1.2.3"); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

func TestNamesOfArchives(t *testing.T) {
	all, err := platformsOf(nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range all {
		names = append(names, p.archive("0.1.0"))
	}
	want := []string{
		"fbo-node-0.1.0-linux-amd64.tar.gz", "fbo-node-0.1.0-linux-arm64.tar.gz", "fbo-node-0.1.0-linux-armv7.tar.gz",
		"fbo-node-0.1.0-macos-amd64.tar.gz", "fbo-node-0.1.0-macos-arm64.tar.gz", "fbo-node-0.1.0-windows-amd64.zip",
	}
	if !slices.Equal(names, want) {
		t.Errorf("archives are %q, want %q", names, want)
	}
	some, err := platformsOf([]string{"windows-amd64", "linux-arm64"})
	if err != nil || len(some) != 2 || some[0].name != "linux-arm64" || some[1].program() != "fbo-node.exe" {
		t.Errorf("some platforms are %+v, %v", some, err)
	}
	_, err = platformsOf([]string{"linux-arm64", "plan9-mips"})
	mustFail(t, err, `"plan9-mips": expected linux-amd64, linux-arm64,`)
}

func TestArchivesHaveTheSameBytes(t *testing.T) {
	at := time.Date(2026, 12, 1, 12, 30, 58, 0, time.UTC)
	files := []file{{"fbo-node", []byte("program"), true}, {"deploy/a.service", []byte("unit"), false}, {"LICENSE", nil, false}}
	turned := slices.Clone(files)
	slices.Reverse(turned)
	for _, name := range []string{"a.tar.gz", "a.zip"} {
		one, other := filepath.Join(t.TempDir(), name), filepath.Join(t.TempDir(), name)
		for path, files := range map[string][]file{one: files, other: turned} {
			if err := pack(path, "fbo-1", at, files); err != nil {
				t.Fatal(err)
			}
		}
		a, b := contentsOf(t, one), contentsOf(t, other)
		if !bytes.Equal(a, b) {
			t.Errorf("%s: the order of files changes the bytes", name)
		}
		if err := pack(other, "fbo-1", at.Add(2*time.Second), files); err != nil {
			t.Fatal(err)
		}
		if bytes.Equal(a, contentsOf(t, other)) {
			t.Errorf("%s does not hold the time", name)
		}
		want := map[string]string{
			"fbo-1/LICENSE": "644 ", "fbo-1/deploy/a.service": "644 unit", "fbo-1/fbo-node": "755 program",
		}
		if got := unpack(t, one, at); !maps.Equal(got, want) {
			t.Errorf("%s holds %q, want %q", name, got, want)
		}
	}
	if files[0].name != "fbo-node" {
		t.Error("the caller's list was sorted")
	}
}

func TestVersionsAndFoldersThatAreRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, args := range [][]string{{}, {"v0.1.0"}, {"0.1"}, {"0.1.0+x"}, {"01.1.0"}, {"0.1.0", "0.2.0"}, {"0.1.0-"}, {"0.1.0/.."}} {
		mustFail(t, run(t.Context(), args), "one VERSION is needed")
	}
	mustFail(t, run(t.Context(), []string{"0.1.0", "--platform", "linux-mips"}), "expected")
	mustFail(t, run(t.Context(), []string{"0.1.0", "--fast"}), "--fast")
	mustFail(t, run(t.Context(), []string{"0.1.0", "--prepare", "--twice", "--out=x"}), "--prepare with --out, --twice")
	if err := os.Mkdir("dist", 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, "dist/old", "x")
	mustFail(t, run(t.Context(), []string{"0.1.0"}), "dist is not empty")
	if string(contentsOf(t, "dist/old")) != "x" {
		t.Error("a refused release changed the folder")
	}
}

// repository makes one with a program that has no dependencies, tagged v0.1.0.
func repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module github.com/fbo-node/fbo\n\ngo 1.26\n")
	write(t, filepath.Join(dir, "cmd/fbo-node/main.go"), "package main\n\nfunc main() {}\n")
	write(t, filepath.Join(dir, "CHANGELOG.md"), changelog)
	write(t, filepath.Join(dir, "README.md"), "[how](docs/a.md)\n")
	write(t, filepath.Join(dir, "LICENSE"), "all\n")
	write(t, filepath.Join(dir, ".gitignore"), "/dist/\n")
	write(t, filepath.Join(dir, "deploy/a.service"), "unit\n")
	runGit(t, dir, "init", "--quiet")
	runGit(t, dir, "add", "--all")
	runGit(t, dir, "commit", "--quiet", "--message", "one")
	runGit(t, dir, "tag", "v0.1.0")
	return dir
}

func TestATreeThatIsNotTheTagIsRefused(t *testing.T) {
	for _, c := range []struct {
		name, version, fail string
		change              func(dir string)
	}{
		{"the tag", "0.1.0", "", func(string) {}},
		{"ignored files", "0.1.0", "", func(dir string) { write(t, filepath.Join(dir, "dist/x"), "x") }},
		{"a changed file", "0.1.0", "has changes", func(dir string) { write(t, filepath.Join(dir, "LICENSE"), "none\n") }},
		{"a staged file", "0.1.0", "has changes", func(dir string) {
			write(t, filepath.Join(dir, "LICENSE"), "none\n")
			runGit(t, dir, "add", "LICENSE")
		}},
		{"a new file", "0.1.0", "?? new.go", func(dir string) { write(t, filepath.Join(dir, "new.go"), "package x\n") }},
		{"a deleted file", "0.1.0", "has changes", func(dir string) {
			if err := os.Remove(filepath.Join(dir, "LICENSE")); err != nil {
				t.Fatal(err)
			}
		}},
		{"no section", "0.3.0", "has no section", func(string) {}},
		{"no tag", "0.2.0-rc.1", "no tag v0.2.0-rc.1", func(string) {}},
		{"a later commit", "0.1.0", "the tag v0.1.0 is at commit", func(dir string) {
			runGit(t, dir, "commit", "--quiet", "--allow-empty", "--message", "two")
		}},
		{"another version of the wheels", "0.1.0", "version.py has version 0.0.9, not that of 0.1.0", func(dir string) {
			write(t, filepath.Join(dir, wheelScript), "")
			write(t, filepath.Join(dir, versionFile), "__version__ = \"0.0.9\"\n")
			runGit(t, dir, "add", "--all")
			runGit(t, dir, "commit", "--quiet", "--message", "two")
			runGit(t, dir, "tag", "--force", "v0.1.0")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := repository(t)
			c.change(dir)
			s, err := look(t.Context(), filepath.Join(dir, "deploy"), c.version, false)
			mustFail(t, err, c.fail)
			if c.fail == "" && (s.stamped != "v0.1.0" || s.version != "0.1.0" || s.at() != "v0.1.0" || s.committer != "a <a@example.org>" || !strings.HasPrefix(s.notes, "- First")) {
				t.Errorf("found %+v", s)
			}
			if s, err = look(t.Context(), dir, c.version, true); err != nil || s.version != c.version+"-snapshot" || s.at() != s.commit {
				t.Errorf("a snapshot: %v, %+v", err, s)
			}
		})
	}
}

// A snapshot holds the files as they are, not as they were committed.
func TestASnapshotIsTheWorkingTree(t *testing.T) {
	dir, stage := repository(t), filepath.Join(t.TempDir(), "stage")
	write(t, filepath.Join(dir, "LICENSE"), "none\n")
	write(t, filepath.Join(dir, "docs/new.md"), "new\n")
	write(t, filepath.Join(dir, "dist/x"), "x")
	if err := os.Remove(filepath.Join(dir, "README.md")); err != nil {
		t.Fatal(err)
	}
	s, err := look(t.Context(), dir, "0.3.0", true)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.stage(t.Context(), stage); err != nil {
		t.Fatal(err)
	}
	names, err := filesOf(t.Context(), stage)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	want := []string{".gitignore", "CHANGELOG.md", "LICENSE", "cmd/fbo-node/main.go", "deploy/a.service", "docs/new.md", "go.mod"}
	if !slices.Equal(names, want) {
		t.Errorf("the snapshot has %q, want %q", names, want)
	}
	if got := string(contentsOf(t, filepath.Join(stage, "LICENSE"))); got != "none\n" {
		t.Errorf("LICENSE is %q", got)
	}
}

func TestLicencesOfOthers(t *testing.T) {
	a, b, none := t.TempDir(), t.TempDir(), t.TempDir()
	write(t, filepath.Join(a, "LICENSE"), "free\n")
	write(t, filepath.Join(a, "NOTICE.txt"), "by a\n")
	write(t, filepath.Join(b, "License.md"), "free\r\n\n")
	write(t, filepath.Join(b, "LICENSES/MIT.txt"), "mit\n")
	write(t, filepath.Join(b, "copyright/main.go"), "package copyright\n")
	write(t, filepath.Join(none, "licensed.go"), "package none\n")
	line := "\n" + strings.Repeat("-", 80) + "\n\n"
	want := "a@v1: LICENSE\nb@v2: License.md\n\nfree\n" + line + "a@v1: NOTICE.txt\n\nby a\n" + line + "b@v2: LICENSES/MIT.txt\n\nmit\n"
	for _, modules := range [][]module{{{"a@v1", a}, {"b@v2", b}}, {{"b@v2", b}, {"a@v1", a}}} {
		got, err := licencesOf(modules)
		if err != nil || got != want {
			t.Errorf("%v:\n%s\nwant\n%s", err, got, want)
		}
	}
	_, err := licencesOf([]module{{"a@v1", a}, {"none@v3", none}})
	mustFail(t, err, "none@v3 has no licence")
}

// TestVendoredLicences: of this source, what the page is made of is found.
func TestVendoredLicences(t *testing.T) {
	modules, err := vendoredIn("../webpage")
	if err != nil {
		t.Fatal(err)
	}
	var beside []module
	for _, m := range modules {
		if !strings.Contains(m.name, "node_modules") { // what checks the page is in no program
			beside = append(beside, m)
		}
	}
	if len(beside) != 1 || beside[0].name != "page/vendor" {
		t.Fatalf("found %v", beside)
	}
	text, err := licencesOf(beside)
	if err != nil || !strings.Contains(text, "page/vendor: licenses/preact-") || !strings.Contains(text, "page/vendor: licenses/uplot-") {
		t.Errorf("%v:\n%.300s", err, text)
	}
}

// mustFail checks that an error says something; an empty part stands for no error.
func mustFail(t *testing.T, err error, part string) {
	t.Helper()
	if part == "" && err != nil || part != "" && (err == nil || !strings.Contains(err.Error(), part)) {
		t.Errorf("error %v, want %q in it", err, part)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func contentsOf(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func runGit(t *testing.T, dir string, args ...string) {
	t.Helper()
	command := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "tag.gpgSign=false", "-c", "commit.gpgSign=false"}, args...)...)
	command.Dir = dir
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

// unpack reads an archive whose files all have one time: mode, space, contents.
func unpack(t *testing.T, path string, at time.Time) map[string]string {
	t.Helper()
	found := map[string]string{}
	add := func(name string, info os.FileInfo, r io.Reader) {
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if !info.ModTime().Equal(at) {
			t.Errorf("%s has the time %v, want %v", name, info.ModTime(), at)
		}
		found[name] = fmt.Sprintf("%o %s", info.Mode().Perm(), data)
	}
	if strings.HasSuffix(path, ".zip") {
		z, err := zip.OpenReader(path)
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		for _, f := range z.File {
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			add(f.Name, f.FileInfo(), r)
		}
		return found
	}
	zipped, err := gzip.NewReader(bytes.NewReader(contentsOf(t, path)))
	if err != nil {
		t.Fatal(err)
	}
	r := tar.NewReader(zipped)
	for {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		add(header.Name, header.FileInfo(), r)
	}
}
