//go:build unix

package httpaccess

import "syscall"

// closeToOthers sets the mode of the socket before it has a name, so that others can never connect
// to it. Systems that cannot do so leave it to the caller.
func closeToOthers(_, _ string, socket syscall.RawConn) error {
	return socket.Control(func(fd uintptr) { _ = syscall.Fchmod(int(fd), 0o600) })
}
