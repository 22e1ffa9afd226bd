package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestDebNames(t *testing.T) {
	var names []string
	for _, p := range platforms {
		names = append(names, p.deb("0.1.0-rc.1"))
	}
	want := []string{"fbo-node_0.1.0~rc.1_amd64.deb", "fbo-node_0.1.0~rc.1_arm64.deb", "fbo-node_0.1.0~rc.1_armhf.deb", "", "", ""}
	if !slices.Equal(names, want) {
		t.Errorf("packages are %q, want %q", names, want)
	}
}

// dpkg installs the package into a root of its own, where the program runs, and removes it.
func TestDpkgInstallsThePackage(t *testing.T) {
	s := imageSource()
	s.version = "0.1.0-rc.1"
	program := "#!/bin/sh\necho fbo-node \"$@\"\n"
	files := []file{
		{"fbo-node", []byte(program), true}, {"LICENSE", []byte("own"), false}, {licencesFile, []byte("others"), false},
		{"README.md", []byte("first"), false}, {"CHANGELOG.md", []byte("new"), false},
		{"man/man1/fbo-node.1", []byte(".TH fbo-node"), false},
		{"deploy/fbo-hub.service", []byte("ExecStart=/usr/local/bin/fbo-node hub"), false},
	}
	dir := t.TempDir()
	one, other := filepath.Join(dir, "one.deb"), filepath.Join(dir, "other.deb")
	if err := packDeb(one, s, "arm", files); err != nil {
		t.Fatal(err)
	}
	slices.Reverse(files)
	if err := packDeb(other, s, "arm", files); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(contentsOf(t, one), contentsOf(t, other)) {
		t.Error("the order of files changes the bytes")
	}
	mustFail(t, packDeb(other, s, "arm", []file{{"more", nil, false}}), "more has no place")

	if _, err := exec.LookPath("dpkg"); err != nil || os.Getuid() != 0 {
		t.Skip("an installation needs dpkg and root")
	}
	dpkg := func(args ...string) string {
		out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	about := dpkg("dpkg-deb", "--info", one)
	for _, line := range []string{" Version: 0.1.0~rc.1\n", " Architecture: armhf\n", " Package: fbo-node\n", " Maintainer: A Person <a@example.org>\n"} {
		if !strings.Contains(about, line) {
			t.Errorf("no line %q in\n%s", line, about)
		}
	}
	if list := dpkg("dpkg-deb", "--contents", one); !strings.Contains(list, "drwxr-xr-x root/root         0 2026-12-01 12:30 ./etc/fbo/\n") {
		t.Errorf("contents:\n%s", list)
	}
	root := filepath.Join(dir, "root")
	for _, folder := range []string{"info", "updates"} {
		if err := os.MkdirAll(filepath.Join(root, "var/lib/dpkg", folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(root, "var/lib/dpkg/status"), "")
	install := []string{"dpkg", "--root=" + root, "--log=" + filepath.Join(dir, "log"), "--force-architecture"}
	dpkg(append(install, "--install", one)...)
	if out := dpkg(filepath.Join(root, "usr/bin/fbo-node"), "version"); out != "fbo-node version\n" {
		t.Errorf("the program prints %q", out)
	}
	for name, part := range map[string]string{
		"usr/lib/systemd/system/fbo-hub.service":            "ExecStart=/usr/bin/fbo-node hub",
		"usr/share/doc/fbo-node/copyright":                  "own\nothers",
		"usr/share/bash-completion/completions/fbo-node":    "fbo-node",
		"usr/share/zsh/vendor-completions/_fbo-node":        "#compdef fbo-node",
		"usr/share/fish/vendor_completions.d/fbo-node.fish": "fbo-node",
		"usr/share/man/man1/fbo-node.1.gz":                  "\x1f\x8b",
		"usr/share/doc/fbo-node/changelog.gz":               "\x1f\x8b",
		"usr/share/doc/fbo-node/CHANGELOG.md.gz":            "\x1f\x8b",
	} {
		if got := string(contentsOf(t, filepath.Join(root, name))); !strings.Contains(got, part) {
			t.Errorf("%s holds %.200q, want %q in it", name, got, part)
		}
	}
	if _, err := exec.LookPath("dpkg-parsechangelog"); err == nil { // of dpkg-dev
		parsed := dpkg("dpkg-parsechangelog", "--all", "--file", filepath.Join(root, "usr/share/doc/fbo-node/changelog.gz"))
		for _, line := range []string{"Version: 0.1.0~rc.1\n", "Maintainer: A Person <a@example.org>\n", "Date: Tue, 01 Dec 2026 12:30:58 +0000\n"} {
			if !strings.Contains(parsed, line) || strings.Contains(parsed, "warning") {
				t.Errorf("no line %q in, or a warning about, the changelog:\n%s", line, parsed)
			}
		}
	}
	if out := dpkg(append(install, "--verify", "fbo-node")...); out != "" {
		t.Errorf("sums of the installed files differ:\n%s", out)
	}
	dpkg(append(install, "--purge", "fbo-node")...)
	if _, err := os.Stat(filepath.Join(root, "usr/bin/fbo-node")); !os.IsNotExist(err) {
		t.Errorf("the program is left after a removal: %v", err)
	}
}
