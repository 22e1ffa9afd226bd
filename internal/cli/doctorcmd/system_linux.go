package doctorcmd

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// forceBuffer goes beyond the limit of the system, which needs CAP_NET_ADMIN.
func forceBuffer(raw syscall.RawConn, send bool, size int) (err error) {
	option := unix.SO_RCVBUFFORCE
	if send {
		option = unix.SO_SNDBUFFORCE
	}
	controlErr := raw.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, option, size)
	})
	return errors.Join(controlErr, err)
}

// availableMemory returns the memory, in bytes, that programs can still use without swapping. It
// ignores the limit of a container.
func availableMemory() (uint64, error) {
	file, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if text, found := strings.CutPrefix(lines.Text(), "MemAvailable:"); found {
			kib, err := strconv.ParseUint(strings.TrimSpace(strings.TrimSuffix(text, "kB")), 10, 64)
			if err != nil {
				return 0, fmt.Errorf("/proc/meminfo: %w", err)
			}
			return kib << 10, nil
		}
	}
	return 0, errors.Join(errNotHere, lines.Err())
}
