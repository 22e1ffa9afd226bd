//go:build !unix

package httpaccess

import "syscall"

func closeToOthers(_, _ string, _ syscall.RawConn) error { return nil }
