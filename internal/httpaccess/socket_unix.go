//go:build unix

package httpaccess

import "syscall"

// closeToOthers gives the socket its mode before it has a name, so that there is no
// moment when others can reach it. Systems that cannot leave it to the caller.
func closeToOthers(_, _ string, socket syscall.RawConn) error {
	return socket.Control(func(fd uintptr) { _ = syscall.Fchmod(int(fd), 0o600) })
}
