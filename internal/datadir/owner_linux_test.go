package datadir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Whoever owns a directory can write it, whatever its mode says: it is refused but for the
// user's own and root's. Root may look after the directories of all.
func TestADirectoryOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to give directories away")
	}
	const user, other = 12345, 12346
	dirs := map[int]string{}
	for _, owner := range []int{0, user, other} {
		dir, err := os.MkdirTemp("", "datadir") // others can come to it, unlike those of testing
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		if err := errors.Join(os.Chmod(dir, 0o755), os.Chown(dir, owner, owner)); err != nil {
			t.Fatal(err)
		}
		if err := Check(dir); err != nil {
			t.Errorf("root, directory of %d: %v", owner, err)
		}
		dirs[owner] = dir
	}
	if err := syscall.Seteuid(user); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Seteuid(0); err != nil {
			t.Fatal(err)
		}
	}()
	for owner, dir := range dirs {
		if err := Check(dir); errors.Is(err, ErrOpen) != (owner == other) {
			t.Errorf("user %d, directory of %d: %v", user, owner, err)
		}
	}
}

// The owner of a sticky directory can rename what others have in it, also what root has.
func TestStickyDirectoryOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to give directories away")
	}
	dir := t.TempDir()
	shared := filepath.Join(dir, "shared")
	for owner, refused := range map[int]bool{0: false, 12345: true} {
		if _, err := Folder(dir, "shared"); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.Chown(shared, owner, owner), os.Chmod(shared, 0o777|fs.ModeSticky)); err != nil {
			t.Fatal(err)
		}
		if _, err := Folder(dir, "shared", "own"); errors.Is(err, ErrOpen) != refused {
			t.Errorf("sticky directory of %d: %v", owner, err)
		}
		if err := os.RemoveAll(shared); err != nil {
			t.Fatal(err)
		}
	}
}
