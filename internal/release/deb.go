package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/md5" // the format demands it; dpkg uses it to find damage, not forgery
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/fbo-node/fbo/internal/cli"
)

// debArchitectures has Debian's name of each processor of GOARCH. GOARM=7 and hardware floating
// point are what Debian names armhf.
var debArchitectures = map[string]string{"amd64": "amd64", "arm64": "arm64", "arm": "armhf"}

// deb returns the name of the platform's Debian package, or "" if it has none.
func (p platform) deb(version string) string {
	if p.goos != "linux" || debArchitectures[p.arch] == "" {
		return ""
	}
	return "fbo-node_" + debVersion(version) + "_" + debArchitectures[p.arch] + ".deb"
}

// debVersion returns a version in Debian's form, in which "~" sorts before the end: 0.1.0~rc.1 is
// older than 0.1.0.
func debVersion(version string) string { return strings.ReplaceAll(version, "-", "~") }

// debControl is the description of the package. The program is static, and so depends on nothing.
const debControl = `Package: fbo-node
Version: %s
Architecture: %s
Maintainer: %s
Installed-Size: %d
Section: science
Priority: optional
Homepage: ` + home + `
Description: peer-to-peer federated Bayesian optimisation
 Nodes on one task evaluate each their own objective, and share a little of
 what they learned. The package has the program, its manual pages, completion
 for bash, fish and zsh, and systemd units, none of which starts by itself.
`

// packDeb writes the Debian package with the files of a platform's archive. Its bytes depend only
// on the arguments. It has no scripts: an installation starts no unit and makes no user.
//
// Debian's policy (5.6.2) requires the name and address of a person who answers for the package. The
// project has no address for mail, and so the package has that of the person who made the commit.
func packDeb(to string, s source, arch string, files []file) error {
	installed, err := debFiles(s, files)
	if err != nil {
		return fmt.Errorf("%s: %w", to, err)
	}
	var sums strings.Builder
	size := 0
	for _, f := range installed {
		fmt.Fprintf(&sums, "%x  %s\n", md5.Sum(f.data), f.name)
		size += (len(f.data) + 1023) / 1024
	}
	control := fmt.Sprintf(debControl, debVersion(s.version), debArchitectures[arch], s.committer, size)
	about, err := debTar(s.time, []file{{"control", []byte(control), false}, {"md5sums", []byte(sums.String()), false}})
	if err != nil {
		return fmt.Errorf("%s: %w", to, err)
	}
	data, err := debTar(s.time, installed, "etc/fbo")
	if err != nil {
		return fmt.Errorf("%s: %w", to, err)
	}
	// The outer format is that of ar(1): a line of 60 bytes and the contents, at even offsets.
	b := bytes.NewBufferString("!<arch>\n")
	for _, member := range []file{
		{"debian-binary", []byte("2.0\n"), false}, {"control.tar.gz", about, false}, {"data.tar.gz", data, false},
	} {
		fmt.Fprintf(b, "%-16s%-12d%-6d%-6d%-8s%-10d`\n", member.name, s.time.Unix(), 0, 0, "100644", len(member.data))
		b.Write(member.data)
		if len(member.data)%2 == 1 {
			b.WriteByte('\n')
		}
	}
	return os.WriteFile(to, b.Bytes(), 0o644)
}

// debChangelog is the changelog in the form that Debian's policy (4.4) requires: one entry, which refers to
// that of the project.
const debChangelog = `fbo-node (%s) unstable; urgency=medium

  * This version of fbo-node: CHANGELOG.md.gz has its changes.

 -- %s  %s
`

// debFiles returns the files of an archive where Debian installs them, the Debian changelog and the
// completions, sorted by name.
func debFiles(s source, files []file) (all []file, err error) {
	var own, others string
	for _, f := range files {
		name, data, base := "", f.data, path.Base(f.name)
		switch {
		case f.name == "fbo-node":
			name = "usr/bin/fbo-node"
		case f.name == "LICENSE":
			own = string(f.data)
		case f.name == licencesFile:
			others = string(f.data)
		case f.name == "CHANGELOG.md":
			name = "usr/share/doc/fbo-node/CHANGELOG.md.gz"
		case f.name == "README.md":
			name = "usr/share/doc/fbo-node/README.md"
		case strings.HasPrefix(f.name, "man/man1/"):
			name = "usr/share/man/man1/" + base + ".gz"
		case strings.HasPrefix(f.name, "deploy/") && strings.HasSuffix(base, ".service"):
			name = "usr/lib/systemd/system/" + base
			data = bytes.ReplaceAll(data, []byte("/usr/local/bin/fbo-node"), []byte("/usr/bin/fbo-node"))
		default:
			return nil, fmt.Errorf("%s has no place in the Debian package; expected a program, a licence, a page or a unit", f.name)
		}
		if strings.HasSuffix(name, ".gz") {
			if data, err = zipped(data); err != nil {
				return nil, err
			}
		}
		if name != "" {
			all = append(all, file{name, data, f.executable})
		}
	}
	all = append(all, file{"usr/share/doc/fbo-node/copyright", []byte(home + "\n\n" + own + "\n" + others), false})
	changes, err := zipped(fmt.Appendf(nil, debChangelog, debVersion(s.version), s.committer, s.time.Format(time.RFC1123Z)))
	if err != nil {
		return nil, err
	}
	all = append(all, file{"usr/share/doc/fbo-node/changelog.gz", changes, false})
	root := cli.Command()
	for name, generate := range map[string]func(io.Writer) error{
		"usr/share/bash-completion/completions/fbo-node":    func(w io.Writer) error { return root.GenBashCompletionV2(w, true) },
		"usr/share/fish/vendor_completions.d/fbo-node.fish": func(w io.Writer) error { return root.GenFishCompletion(w, true) },
		"usr/share/zsh/vendor-completions/_fbo-node":        root.GenZshCompletion,
	} {
		var text bytes.Buffer
		if err := generate(&text); err != nil {
			return nil, err
		}
		all = append(all, file{name, text.Bytes(), false})
	}
	slices.SortFunc(all, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return all, nil
}

// debTar returns a tar.gz with the files, their folders and further empty folders, all of root.
func debTar(at time.Time, files []file, empty ...string) ([]byte, error) {
	folders := map[string]bool{}
	add := func(dir string) {
		for ; dir != "."; dir = path.Dir(dir) {
			folders[dir+"/"] = true
		}
	}
	for _, f := range files {
		add(path.Dir(f.name))
	}
	for _, dir := range empty {
		add(dir)
	}
	entries := slices.Clone(files)
	for dir := range folders {
		entries = append(entries, file{name: dir, executable: true})
	}
	slices.SortFunc(entries, func(a, b file) int { return strings.Compare(a.name, b.name) })
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	t := tar.NewWriter(z)
	for _, f := range append([]file{{name: "", executable: true}}, entries...) {
		header := tar.Header{
			Typeflag: tar.TypeReg, Name: "./" + f.name, Size: int64(len(f.data)), Mode: int64(f.mode()), ModTime: at,
			Uname: "root", Gname: "root", Format: tar.FormatGNU,
		}
		if strings.HasSuffix(header.Name, "/") {
			header.Typeflag = tar.TypeDir
		}
		if err := t.WriteHeader(&header); err != nil {
			return nil, err
		}
		if _, err := t.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := t.Close(); err != nil {
		return nil, err
	}
	err = z.Close()
	return b.Bytes(), err
}

// zipped returns data compressed by gzip, without name and time.
func zipped(data []byte) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(data); err != nil {
		return nil, err
	}
	err = z.Close()
	return b.Bytes(), err
}
