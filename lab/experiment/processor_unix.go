//go:build unix

package experiment

import (
	"runtime"
	"syscall"
	"time"
)

// processorTime is what this process has used so far on all processors.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err) // it fails on wrong arguments only
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// processMemory is the most memory that this process has held, in bytes.
func processMemory() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err) // it fails on wrong arguments only
	}
	if runtime.GOOS == "darwin" {
		return int64(usage.Maxrss)
	}
	return int64(usage.Maxrss) << 10
}
