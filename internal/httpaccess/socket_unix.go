//go:build unix

package httpaccess

import "syscall"

// closeToOthers sets the mode of a socket before the socket has a name, so that other users can
// never connect to it. On systems that do not support this, the caller must set the mode later.
func closeToOthers(_, _ string, socket syscall.RawConn) error {
	return socket.Control(func(fd uintptr) { _ = syscall.Fchmod(int(fd), 0o600) })
}
