//go:build unix

package datadir

import (
	"io/fs"
	"os"
	"syscall"
)

const noFollow = syscall.O_NOFOLLOW

// ownOrRoots tells whether nobody else owns a folder. Root may look after the folders of
// all.
func ownOrRoots(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	self := os.Geteuid()
	return !ok || self == 0 || stat.Uid == 0 || int(stat.Uid) == self
}

// keptBySticky reports whether root or the user owns a sticky folder. Another owner could
// rename and remove what lies in it, also what belongs to root.
func keptBySticky(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return !ok || stat.Uid == 0 || int(stat.Uid) == os.Geteuid()
}
