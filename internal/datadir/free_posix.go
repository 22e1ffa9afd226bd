//go:build linux || darwin

package datadir

import "golang.org/x/sys/unix"

// Free returns the disk space, in bytes, that an unprivileged user may still use in a directory.
// The error wraps errors.ErrUnsupported if the system cannot report it.
func Free(dir string) (uint64, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		return 0, err
	}
	return stat.Bavail * uint64(stat.Bsize), nil
}
