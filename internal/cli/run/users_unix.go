//go:build unix && !solaris && !aix && !android

package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/fbo-node/fbo/internal/datadir"
)

// untilUnused returns a context that ends when no program holds a shared lock on the file
// usersLock in a data directory. From then until release is called this process holds the
// exclusive lock, so that a program that wants the lock waits for the end of the node.
func untilUnused(ctx context.Context, dir string) (unused context.Context, release func(), err error) {
	if err := datadir.Make(dir); err != nil {
		return nil, nil, err
	}
	file, err := datadir.OpenFile(filepath.Join(dir, usersLock), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("--until-unused: %w", err)
	}
	// The program that reads the output may end before the others that use the node.
	signal.Ignore(syscall.SIGPIPE)
	unused, cancel := context.WithCancelCause(ctx)
	go func() {
		defer cancel(errUnused) // an error ends it as well
		for errors.Is(unix.Flock(int(file.Fd()), unix.LOCK_EX), unix.EINTR) {
		}
	}()
	return unused, func() { file.Close() }, nil
}
