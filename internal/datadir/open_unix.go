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
