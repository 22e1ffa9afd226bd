//go:build !linux

package doctorcmd

import "syscall"

func forceBuffer(syscall.RawConn, bool, int) error { return errNotHere }

func availableMemory() (uint64, error) { return 0, errNotHere }
