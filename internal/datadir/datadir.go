// Package datadir opens the files and folders of a node's data directory, which no other user can
// have planted there.
//
// A data directory that others can write is refused, and so is every symbolic link below it. The
// directory itself may be reached by one. A folder that holds only other folders may be sticky,
// like the temporary directory. [Create] makes new files and opens no existing one, so that neither
// a symbolic nor a hard link redirects a write. Files have mode 0600 and folders 0700.
//
// On Windows the package does not check who may write, because modes do not show it. Links are
// refused there too.
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
	// ErrOpen: users other than the owner can write a directory.
	ErrOpen = errors.New("others can write it")
	// ErrLink: a symbolic link lies in the place of a file or folder.
	ErrLink = errors.New("is a symbolic link")
)

const (
	filePerm   fs.FileMode = 0o600
	folderPerm fs.FileMode = 0o700
	byOthers   fs.FileMode = 0o022 // write, of group and others
)

// Make creates a data directory if it is missing, and checks it.
func Make(dir string) error {
	if err := os.MkdirAll(dir, folderPerm); err != nil {
		return fmt.Errorf("data directory: %w", Explain(err))
	}
	return Check(dir)
}

// Check returns an error if the path is not a directory or if others can write it. The error wraps
// fs.ErrNotExist if there is nothing.
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
		return fmt.Errorf("%s: %s: %w (mode %04o); accepted is 0755 or stricter: run chmod go-w %s, or name another directory", what, path, ErrOpen, info.Mode().Perm(), path)
	case !ownOrRoots(info):
		return fmt.Errorf("%s: %s: %w, since it belongs to another user; name a directory of your own", what, path, ErrOpen)
	}
	return nil
}

// Folder creates a folder below a data directory, one name after the other, and checks each. A
// folder above the last may be sticky if root or the user owns it: others can create folders in it,
// but can neither rename nor remove the user's.
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

// Open opens a file to read it. It refuses a link and anything but a regular file. The caller must
// check the folders above it.
func Open(path string) (*os.File, error) {
	return openAs(path, os.O_RDONLY, 0)
}

// OpenFile is os.OpenFile with the refusals of Open.
func OpenFile(path string, flag int, perm fs.FileMode) (*os.File, error) {
	return openAs(path, flag, perm)
}

func openAs(path string, flag int, perm fs.FileMode) (*os.File, error) {
	if err := Plain(path); err != nil && !(errors.Is(err, fs.ErrNotExist) && flag&os.O_CREATE != 0) {
		return nil, err
	}
	return os.OpenFile(path, flag|noFollow, perm)
}

// Plain returns an error if the path is a link or no regular file. The error wraps fs.ErrNotExist
// if there is nothing.
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

// NoLink returns an error if the path is a link. If there is nothing, it returns nil.
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

// noLink also refuses the junctions of Windows.
func noLink(path string, info fs.FileInfo) error {
	if info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) != 0 {
		return fmt.Errorf("%s %w, which is not followed in a data directory; remove it", path, ErrLink)
	}
	return nil
}

// Create makes a new file. It removes an existing file of that name and does not open it.
func Create(path string) (*os.File, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, Explain(err)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, filePerm)
	return file, Explain(err)
}

// Replace replaces the content of a file as a whole or not at all. It writes the file under its
// name with .new, syncs it, renames it, and syncs the folder. It overwrites the remains of a
// process that was killed. Callers must not replace one file from two processes at once.
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

// CreateOnce creates a file with a content, as a whole or not at all. If several processes do so at
// once, one creates the file; the others get fs.ErrExist, and can read it.
func CreateOnce(path string, content []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".new-*") // mode 0600
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
	} else if err != nil { // the file system may have no hard links
		return createHere(path, content)
	}
	return Sync(filepath.Dir(path))
}

// createHere is CreateOnce without a second name: another process may read an incomplete file.
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

// Sync makes the names in a folder as durable as the contents. Windows cannot sync folders and does
// not need it.
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
