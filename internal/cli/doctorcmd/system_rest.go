//go:build !linux && !darwin && !windows

package doctorcmd

import (
	"errors"
	"syscall"
)

func addressInUse(err error) bool { return errors.Is(err, syscall.EADDRINUSE) }

func bufferSize(syscall.RawConn, bool) (int, error) { return 0, errNotHere }
