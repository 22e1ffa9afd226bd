//go:build unix

// Package cpu measures the processor time of this process.
package cpu

import "syscall"

// Seconds returns the time that this process has used so far on all processors.
func Seconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err) // it fails on wrong arguments only
	}
	return seconds(usage.Utime) + seconds(usage.Stime)
}

func seconds(t syscall.Timeval) float64 { return float64(t.Nano()) / 1e9 }
