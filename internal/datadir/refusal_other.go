//go:build !windows

package datadir

import "syscall"

// codesOf returns the system's error codes for a kind of refusal.
func codesOf(what refused) []syscall.Errno {
	switch what {
	case diskFull:
		return []syscall.Errno{syscall.ENOSPC}
	case overQuota:
		return []syscall.Errno{syscall.EDQUOT}
	case tooLarge:
		return []syscall.Errno{syscall.EFBIG}
	case readOnly:
		return []syscall.Errno{syscall.EROFS}
	}
	return nil
}
