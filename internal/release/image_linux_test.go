//go:build linux && long

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// The program starts in the image's layer as its user, with nothing else on the file system, and may
// write to the volume only.
func TestLongImageRuns(t *testing.T) {
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
