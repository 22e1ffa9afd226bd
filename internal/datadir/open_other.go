//go:build !unix

package datadir

import "io/fs"

const noFollow = 0

func ownOrRoots(fs.FileInfo) bool { return true }

func keptBySticky(fs.FileInfo) bool { return true }
