package doctorcmd

import (
	"errors"
	"syscall"

	"golang.org/x/sys/windows"
)

func addressInUse(err error) bool { return errors.Is(err, windows.WSAEADDRINUSE) }

func bufferSize(raw syscall.RawConn, send bool) (size int, err error) {
	option := windows.SO_RCVBUF
	if send {
		option = windows.SO_SNDBUF
	}
	controlErr := raw.Control(func(fd uintptr) {
		size, err = windows.GetsockoptInt(windows.Handle(fd), windows.SOL_SOCKET, option)
	})
	return size, errors.Join(controlErr, err)
}
