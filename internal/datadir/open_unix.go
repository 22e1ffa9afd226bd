//go:build unix

package datadir

import (
	"io/fs"
	"os"
	"syscall"
)

const noFollow = syscall.O_NOFOLLOW

// ownOrRoots reports whether root or the user owns a folder. If the user is root, it accepts any
// owner, since root may maintain the folders of all users.
func ownOrRoots(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	self := os.Geteuid()
	return !ok || self == 0 || stat.Uid == 0 || int(stat.Uid) == self
}

// keptBySticky reports whether root or the user owns a sticky folder. Any other owner could rename
// and remove the entries in it, including those of root.
func keptBySticky(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return !ok || stat.Uid == 0 || int(stat.Uid) == os.Geteuid()
}
