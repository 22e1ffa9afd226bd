package datadir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// modes skips where permissions are no bits of files.
func modes(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("no permission bits")
	}
}

// symlink skips where the user may not make any, as often on Windows.
func symlink(t *testing.T, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Skip("no symbolic links here:", err)
	}
}

func chmod(t *testing.T, path string, mode fs.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, path, content string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func expectContent(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s holds %q, %v; want %q", path, got, err, want)
	}
}

func expectMode(t *testing.T, path string, want fs.FileMode) {
	t.Helper()
	if info, err := os.Lstat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != want {
		t.Errorf("%s has mode %v, %v; want %v", path, info.Mode(), err, want)
	}
}

func TestADirectoryThatOthersCanWrite(t *testing.T) {
	modes(t)
	dir := filepath.Join(t.TempDir(), "above", "data")
	if err := Make(dir); err != nil {
		t.Fatal(err)
	}
	expectMode(t, dir, 0o700)
	for mode, open := range map[fs.FileMode]bool{0o700: false, 0o755: false, 0o750: false, 0o770: true, 0o720: true, 0o702: true, 0o777: true} {
		chmod(t, dir, mode)
		for what, check := range map[string]func(string) error{"Check": Check, "Make": Make} {
			err := check(dir)
			if errors.Is(err, ErrOpen) != open || (err != nil) != open {
				t.Errorf("%s of mode %04o: %v", what, mode, err)
			}
			if open && (!strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "chmod go-w")) {
				t.Errorf("mode %04o: unclear: %v", mode, err)
			}
		}
	}
}

// A sticky directory may hold the user's folders, and is no data directory itself.
func TestStickyDirectoryHoldsFolders(t *testing.T) {
	modes(t)
	dir := t.TempDir()
	shared := filepath.Join(dir, "shared")
	if _, err := Folder(dir, "shared"); err != nil {
		t.Fatal(err)
	}
	chmod(t, shared, 0o777|fs.ModeSticky)
	for range 2 { // made, then there
		path, err := Folder(dir, "shared", "own")
		if err != nil {
			t.Fatal(err)
		}
		expectMode(t, path, 0o700)
	}
	_, folder := Folder(dir, "shared")
	for what, err := range map[string]error{"Check": Check(shared), "Make": Make(shared), "Folder": folder} {
		if !errors.Is(err, ErrOpen) || strings.Contains(err.Error(), "chmod") || !strings.Contains(err.Error(), "a directory of your own") {
			t.Errorf("%s of a sticky directory: %v", what, err)
		}
	}
	chmod(t, filepath.Join(shared, "own"), 0o777)
	if _, err := Folder(dir, "shared", "own"); !errors.Is(err, ErrOpen) {
		t.Errorf("a folder that others can write, in a sticky directory: %v", err)
	}
	chmod(t, shared, 0o777)
	if _, err := Folder(dir, "shared", "other"); !errors.Is(err, ErrOpen) {
		t.Errorf("in a directory that others can write and that is not sticky: %v", err)
	}
}

func TestWhatIsNoDataDirectory(t *testing.T) {
	dir := t.TempDir()
	if err := Check(filepath.Join(dir, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	file := put(t, filepath.Join(dir, "file"), "")
	for what, check := range map[string]func(string) error{"Check": Check, "Make": Make} {
		if err := check(file); err == nil {
			t.Errorf("%s takes a file for a directory", what)
		}
	}
}

// The data directory itself may be reached by a link: whoever names it has chosen so.
func TestALinkToTheDataDirectory(t *testing.T) {
	dir := t.TempDir()
	at := filepath.Join(dir, "link")
	real := filepath.Join(dir, "real")
	if err := Make(real); err != nil {
		t.Fatal(err)
	}
	symlink(t, real, at)
	if err := Make(at); err != nil {
		t.Error(err)
	}
	modes(t)
	chmod(t, real, 0o777)
	if err := Check(at); !errors.Is(err, ErrOpen) {
		t.Errorf("a link to a directory that others can write: %v", err)
	}
}

func TestFolderIsMadeOnce(t *testing.T) {
	dir := t.TempDir()
	for range 2 { // made, then there
		path, err := Folder(dir, "trials", "task")
		if err != nil || path != filepath.Join(dir, "trials", "task") {
			t.Fatalf("%s, %v", path, err)
		}
		expectMode(t, path, 0o700)
		expectMode(t, filepath.Dir(path), 0o700)
	}
	put(t, filepath.Join(dir, "file"), "")
	if _, err := Folder(dir, "file", "task"); err == nil {
		t.Error("a folder below a file")
	}
	if runtime.GOOS != "windows" {
		chmod(t, filepath.Join(dir, "trials"), 0o777)
		if _, err := Folder(dir, "trials", "task"); !errors.Is(err, ErrOpen) {
			t.Errorf("below a folder that others can write: %v", err)
		}
	}
}

// No name below a data directory leads out of it by a link, whether that leads to
// something or nowhere, and what it leads to stays as it is.
func TestLinksAreNotFollowed(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	victim := put(t, filepath.Join(outside, "victim"), "precious")
	toFile, nowhere, toFolder := filepath.Join(dir, "file"), filepath.Join(dir, "nowhere"), filepath.Join(dir, "folder")
	symlink(t, victim, toFile)
	symlink(t, filepath.Join(outside, "new"), nowhere)
	symlink(t, outside, toFolder)
	refused := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, ErrLink) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, path := range []string{toFile, nowhere, toFolder} {
		refused("NoLink", NoLink(path))
		refused("Plain", Plain(path))
		_, err := Open(path)
		refused("Open", err)
		for _, flag := range []int{os.O_RDWR, os.O_WRONLY | os.O_CREATE, os.O_WRONLY | os.O_TRUNC} {
			_, err = OpenFile(path, flag, 0o600)
			refused("OpenFile", err)
		}
		_, err = Folder(dir, filepath.Base(path), "below")
		refused("Folder", err)
	}
	// Who writes anew gets a file in the place of the link.
	for _, path := range []string{toFile, nowhere} {
		file, err := Create(path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = file.WriteString("mine")
		if err = errors.Join(err, file.Close()); err != nil {
			t.Fatal(err)
		}
		expectContent(t, path, "mine")
		expectMode(t, path, 0o600)
	}
	expectContent(t, victim, "precious")
	entries, err := os.ReadDir(outside)
	if err != nil || len(entries) != 1 {
		t.Errorf("outside there are %v, %v", entries, err)
	}
}

// Nor by a hard link, through which a write would reach a file of others.
func TestCreateLeavesHardLinks(t *testing.T) {
	dir := t.TempDir()
	victim, at := put(t, filepath.Join(dir, "victim"), "precious"), filepath.Join(dir, "at")
	if err := os.Link(victim, at); err != nil {
		t.Skip("no hard links here:", err)
	}
	file, err := Create(at)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteString("mine"); err != nil {
		t.Fatal(err)
	}
	expectContent(t, victim, "precious")
}

func TestPlainRefusesFoldersAndLinks(t *testing.T) {
	dir := t.TempDir()
	if err := Plain(put(t, filepath.Join(dir, "file"), "")); err != nil {
		t.Error(err)
	}
	if err := Plain(dir); err == nil || errors.Is(err, ErrLink) {
		t.Errorf("a folder: %v", err)
	}
	missing := filepath.Join(dir, "missing")
	if err := Plain(missing); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing: %v", err)
	}
	if err := NoLink(missing); err != nil {
		t.Errorf("nothing is no link: %v", err)
	}
	file, err := OpenFile(missing, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Error(err)
	}
}

func TestReplaceKeepsOldFileOnError(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "file")
	victim := put(t, filepath.Join(outside, "victim"), "precious")
	write := func(text string, err error) func(io.Writer) error {
		return func(w io.Writer) error { _, _ = io.WriteString(w, text); return err }
	}
	for _, text := range []string{"first", "second"} {
		if err := Replace(path, write(text, nil)); err != nil {
			t.Fatal(err)
		}
		expectContent(t, path, text)
		expectMode(t, path, 0o600)
	}
	if err := Replace(path, write("half", errors.New("no more"))); err == nil {
		t.Error("an error of the writer is lost")
	}
	expectContent(t, path, "second")
	symlink(t, victim, path+".new") // what a process that was killed has left, or somebody planted
	if err := Replace(path, write("third", nil)); err != nil {
		t.Error(err)
	}
	expectContent(t, path, "third")
	expectContent(t, victim, "precious")
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("beside the file there are %v, %v", entries, err)
	}
}

// Of many at once one creates the file, and the others get fs.ErrExist.
func TestCreateOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "once")
	var creating sync.WaitGroup
	var mu sync.Mutex
	var created []string
	for i := range 50 {
		creating.Go(func() {
			content := fmt.Sprintf("content %d", i)
			err := CreateOnce(path, []byte(content))
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				created = append(created, content)
			} else if !errors.Is(err, fs.ErrExist) {
				t.Error(err)
			}
		})
	}
	creating.Wait()
	if len(created) != 1 {
		t.Fatalf("created by %q, expected one", created)
	}
	expectContent(t, path, created[0])
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("%d files, expected 1 (%v)", len(entries), err)
	}
	if err := createHere(path, []byte("again")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("without links: %v", err)
	}
	expectContent(t, path, created[0])
}
