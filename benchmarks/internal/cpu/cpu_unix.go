//go:build unix

// Package cpu tells how much processor time this process has used.
package cpu

import "syscall"

// Seconds is what this process has used so far on all processors.
func Seconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err) // it fails on wrong arguments only
	}
	return seconds(usage.Utime) + seconds(usage.Stime)
}

func seconds(t syscall.Timeval) float64 { return float64(t.Nano()) / 1e9 }
