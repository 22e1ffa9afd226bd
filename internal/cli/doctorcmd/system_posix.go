//go:build linux || darwin

package doctorcmd

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

func addressInUse(err error) bool { return errors.Is(err, unix.EADDRINUSE) }

// bufferSize is the kernel's value, which on Linux is twice the size that it accepts of packet
// contents; quic-go compares the same number.
func bufferSize(raw syscall.RawConn, send bool) (size int, err error) {
	option := unix.SO_RCVBUF
	if send {
		option = unix.SO_SNDBUF
	}
	controlErr := raw.Control(func(fd uintptr) {
		size, err = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, option)
	})
	return size, errors.Join(controlErr, err)
}
