//go:build !unix

package httpguard

import "syscall"

func closeToOthers(_, _ string, _ syscall.RawConn) error { return nil }
