//go:build unix && !solaris && !aix && !android

package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fbo-node/fbo/internal/datadir"
)

const lockPause = 20 * time.Millisecond

// Lock prevents other processes from opening the file at path, damaged or not, until unlock is
// called. It waits for other processes as Open does.
func Lock(path string, timeout time.Duration) (unlock func(), err error) {
	file, err := datadir.Open(path)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	for begun := time.Now(); ; time.Sleep(lockPause) {
		err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			unlock := unlocker(file)
			return func() { file.Close(); unlock() }, nil
		case errors.Is(err, unix.EWOULDBLOCK) && time.Since(begun) < timeout:
			continue
		}
		file.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = ErrBusy
		}
		return nil, fmt.Errorf("journal: directory %s: %w; stop that process first", filepath.Dir(path), err)
	}
}

// unlocker returns a function that ends the lock of an open file, even after the file was closed.
// Closing it is not sufficient: a child process that is being started may have inherited the file,
// and then holds the lock until it executes its program.
func unlocker(file *os.File) (unlock func()) {
	duplicate, err := unix.FcntlInt(file.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil { // no file descriptor is available
		return func() {}
	}
	return func() {
		_ = unix.Flock(duplicate, unix.LOCK_UN)
		_ = unix.Close(duplicate)
	}
}
