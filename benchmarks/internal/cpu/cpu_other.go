//go:build !unix

// Package cpu measures the processor time of this process.
package cpu

import "time"

var begin = time.Now()

// Seconds returns wall time, since processor time is not available on this system.
func Seconds() float64 { return time.Since(begin).Seconds() }
