//go:build !linux && !darwin && !windows

package main

import (
	"errors"
	"syscall"
)

func freeSpace(string) (uint64, error) { return 0, errNotHere }

func addressInUse(err error) bool { return errors.Is(err, syscall.EADDRINUSE) }

func bufferSize(syscall.RawConn, bool) (int, error) { return 0, errNotHere }
