//go:build linux || darwin

package datadir

import "golang.org/x/sys/unix"

// Free returns the space that an unprivileged user may still fill on the disk of a directory,
// in bytes. Its error wraps errors.ErrUnsupported where the system has no way to find out.
func Free(dir string) (uint64, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		return 0, err
	}
	return stat.Bavail * uint64(stat.Bsize), nil
}
