package main

import (
	"errors"
	"syscall"

	"golang.org/x/sys/windows"
)

// freeSpace is what this user may still write, bytes.
func freeSpace(dir string) (uint64, error) {
	path, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var free uint64
	err = windows.GetDiskFreeSpaceEx(path, &free, nil, nil)
	return free, err
}

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
