//go:build linux || darwin

package datadir

import "golang.org/x/sys/unix"

// Free returns the disk space, in bytes, that is available to an unprivileged user in a directory.
// If the system cannot report it, the error wraps errors.ErrUnsupported.
func Free(dir string) (uint64, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		return 0, err
	}
	return stat.Bavail * uint64(stat.Bsize), nil
}
