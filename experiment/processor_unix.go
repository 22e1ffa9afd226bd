//go:build unix

package experiment

import (
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
