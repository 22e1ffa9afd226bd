// Package datadir opens the files and folders of a node's data directory, and ensures that no other
// user can have placed them there.
//
// It refuses a data directory that other users can write, and every symbolic link below it. The
// directory itself may be reached through a link. A folder that contains only other folders may be
// sticky, like the temporary directory. [Create] creates new files and never opens an existing one, so
// that neither symbolic nor hard links can redirect a write. Files have mode 0600 and folders 0700.
//
// On Windows the package does not check who can write, because file modes do not show it. It refuses
// links there too.
package datadir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Errors that a caller can distinguish with errors.Is.
var (
	// ErrOpen means that users other than the owner can write a directory.
	ErrOpen = errors.New("others can write it")
	// ErrLink means that there is a symbolic link in place of a file or folder.
	ErrLink = errors.New("is a symbolic link")
)

const (
	filePerm   fs.FileMode = 0o600
	folderPerm fs.FileMode = 0o700
	byOthers   fs.FileMode = 0o022 // write permission of group and others
)

// Make creates a data directory if it is missing, and checks it.
func Make(dir string) error {
	if err := os.MkdirAll(dir, folderPerm); err != nil {
		return fmt.Errorf("data directory: %w", Explain(err))
	}
	return Check(dir)
}

// Check returns an error if the path is not a directory, or if other users can write it. If nothing
// exists there, the error wraps fs.ErrNotExist.
func Check(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	return checkFolder("data directory", dir, info)
}

func checkFolder(what, path string, info fs.FileInfo) error {
	switch {
	case !info.IsDir():
		return fmt.Errorf("%s: %s is not a directory", what, path)
	case runtime.GOOS == "windows":
		return nil
	case info.Mode().Perm()&byOthers != 0 && info.Mode()&fs.ModeSticky != 0:
		return fmt.Errorf("%s: %s: %w (mode 1%03o); expected a directory of your own, which may lie in it", what, path, ErrOpen, info.Mode().Perm())
	case info.Mode().Perm()&byOthers != 0:
		return fmt.Errorf("%s: %s: %w (mode %04o); expected 0755 or stricter: run chmod go-w %s, or name another directory", what, path, ErrOpen, info.Mode().Perm(), path)
	case !ownOrRoots(info):
		return fmt.Errorf("%s: %s: %w, since it belongs to another user; name a directory of your own", what, path, ErrOpen)
	}
	return nil
}

// Folder creates a folder below a data directory, with all folders in between, and checks each. The
// names are those of the path, from the top. All folders but the last may be sticky if root or the
// user owns them. In a sticky folder, other users can create entries but can neither rename nor
// remove the user's.
func Folder(dir string, names ...string) (path string, err error) {
	path = dir
	for i, name := range names {
		path = filepath.Join(path, name)
		if err := os.Mkdir(path, folderPerm); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", Explain(err)
		}
		info, err := os.Lstat(path)
		if err != nil {
			return "", err
		}
		if err := noLink(path, info); err != nil {
			return "", err
		}
		if i < len(names)-1 && info.IsDir() && info.Mode()&fs.ModeSticky != 0 && keptBySticky(info) {
			continue
		}
		if err := checkFolder("folder", path, info); err != nil {
			return "", err
		}
	}
	return path, nil
}

// Open opens a file for reading. It refuses links and everything except regular files. The caller
// must have checked the folders above the file.
func Open(path string) (*os.File, error) {
	return openAs(path, os.O_RDONLY, 0)
}

// OpenFile is os.OpenFile, and refuses the same files as Open.
func OpenFile(path string, flag int, perm fs.FileMode) (*os.File, error) {
	return openAs(path, flag, perm)
}

func openAs(path string, flag int, perm fs.FileMode) (*os.File, error) {
	if err := Plain(path); err != nil && !(errors.Is(err, fs.ErrNotExist) && flag&os.O_CREATE != 0) {
		return nil, err
	}
	return os.OpenFile(path, flag|noFollow, perm)
}

// Plain returns an error if the path is a link or not a regular file. If nothing exists there, the
// error wraps fs.ErrNotExist.
func Plain(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if err := noLink(path, info); err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", path)
	}
	return nil
}

// NoLink returns an error if the path is a link. If nothing exists there, it returns nil.
func NoLink(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return noLink(path, info)
}

// noLink returns an error for a symbolic link, and for a junction on Windows.
func noLink(path string, info fs.FileInfo) error {
	if info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) != 0 {
		return fmt.Errorf("%s %w, which is not followed in a data directory; remove it", path, ErrLink)
	}
	return nil
}

// Create creates a new file. It removes an existing file with that name and never opens it.
func Create(path string) (*os.File, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, Explain(err)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, filePerm)
	return file, Explain(err)
}

// Replace replaces the content of a file completely or not at all. It writes a file with the ending
// .new, syncs it, renames it, and syncs the folder. A .new file that a killed process left is
// overwritten. Two processes must not replace the same file at the same time.
func Replace(path string, write func(io.Writer) error) error {
	file, err := Create(path + ".new")
	if err != nil {
		return err
	}
	err = errors.Join(write(file), file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(Explain(err), os.Remove(file.Name()))
	}
	return Sync(filepath.Dir(path))
}

// CreateOnce creates a file with the given content, completely or not at all. If several processes
// call it at the same time, one of them creates the file. The others get fs.ErrExist and can read
// the file.
func CreateOnce(path string, content []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".new-*") // CreateTemp sets mode 0600
	if err != nil {
		return Explain(err)
	}
	defer os.Remove(file.Name())
	_, err = file.Write(content)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return Explain(err)
	}
	if err := os.Link(file.Name(), path); errors.Is(err, fs.ErrExist) {
		return err
	} else if err != nil { // the file system may not support hard links
		return createHere(path, content)
	}
	return Sync(filepath.Dir(path))
}

// createHere is CreateOnce for file systems without hard links. Another process may then see an
// incomplete file.
func createHere(path string, content []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, filePerm)
	if err != nil {
		return Explain(err)
	}
	_, err = file.Write(content)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return errors.Join(Explain(err), os.Remove(path))
	}
	return Sync(filepath.Dir(path))
}

// Sync syncs a folder to the disk, so that the names in it are as durable as the content of its
// files. Windows cannot sync folders and does not need it.
func Sync(folder string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("cannot sync directory %s: %w", folder, err)
	}
	return nil
}
