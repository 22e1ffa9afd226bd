package datadir

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// codesOf returns the system's error codes for a kind of refusal.
func codesOf(what refused) []syscall.Errno {
	switch what {
	case diskFull:
		return []syscall.Errno{windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL}
	case overQuota:
		return []syscall.Errno{windows.ERROR_DISK_QUOTA_EXCEEDED}
	case tooLarge:
		return []syscall.Errno{windows.ERROR_FILE_TOO_LARGE}
	case readOnly:
		return []syscall.Errno{windows.ERROR_WRITE_PROTECT}
	}
	return nil
}
