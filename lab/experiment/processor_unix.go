//go:build unix

package experiment

import (
	"runtime"
	"syscall"
	"time"
)

// processorTime returns the time that this process has used on all processors so far.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err) // unexpected: it fails only on wrong arguments
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// processMemory returns the largest memory that this process has held, in bytes.
func processMemory() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err) // unexpected: it fails only on wrong arguments
	}
	if runtime.GOOS == "darwin" {
		return int64(usage.Maxrss)
	}
	return int64(usage.Maxrss) << 10
}
