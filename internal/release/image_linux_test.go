//go:build linux && long

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// The program of an archive, a Debian package and an image starts. In the image it is the only program,
// runs as the image's user, and may write to the volume.
func TestLongDownloadsRun(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("a change of the root directory needs root")
	}
	p := platform{"here", "linux", runtime.GOARCH, false}
	if !p.inImage() {
		t.Skipf("the image has no program for %s", p.arch)
	}
	built, image := filepath.Join(t.TempDir(), "fbo-node"), filepath.Join(t.TempDir(), "image.tar")
	if err := (builder{}).compile(t.Context(), p, "../..", built, ""); err != nil {
		t.Fatal(err)
	}
	if err := packImage(image, imageSource(), []variant{{p.arch, imageFiles(string(contentsOf(t, built)))}}); err != nil {
		t.Fatal(err)
	}
	root, err := os.MkdirTemp("", "image")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	installed(t, p, imageFiles(string(contentsOf(t, built))))
	config, layer := openImage(t, image, p.arch)
	unpackLayer(t, root, layer)
	start := func(args ...string) string {
		c := exec.Command(config.Config.Entrypoint[0], args...)
		c.Dir, c.Env = "/", config.Config.Env
		c.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: imageUser, Gid: imageUser}}
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	if out := start("version"); !strings.Contains(out, runtime.Version()) {
		t.Errorf("version prints %q, want %s in it", out, runtime.Version())
	}
	start("peer-id") // makes the identity in the volume
	if made, err := os.ReadDir(filepath.Join(root, "data")); err != nil || len(made) == 0 {
		t.Errorf("the volume has %v, %v; want the identity", made, err)
	}
}

// installed unpacks the archive and the Debian package of these files, and starts the program of each.
func installed(t *testing.T, p platform, files []file) {
	t.Helper()
	dir, s := t.TempDir(), imageSource()
	archive, deb := filepath.Join(dir, p.archive(s.version)), filepath.Join(dir, p.deb(s.version))
	if err := errors.Join(pack(archive, p.folder(s.version), s.time, files), packDeb(deb, s, p.arch, files)); err != nil {
		t.Fatal(err)
	}
	programs := map[string][]string{
		filepath.Join(dir, p.folder(s.version), "fbo-node"): {"tar", "-xzf", archive, "-C", dir},
	}
	if _, err := exec.LookPath("dpkg-deb"); err == nil {
		programs[filepath.Join(dir, "root/usr/bin/fbo-node")] = []string{"dpkg-deb", "--extract", deb, filepath.Join(dir, "root")}
	}
	for program, install := range programs {
		if out, err := exec.Command(install[0], install[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", install, err, out)
		}
		if out, err := exec.Command(program, "version").CombinedOutput(); err != nil || !strings.Contains(string(out), runtime.Version()) {
			t.Errorf("%s version: %v, %q", program, err, out)
		}
	}
}
