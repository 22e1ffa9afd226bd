//go:build !unix

// Package cpu tells how much processor time this process has used.
package cpu

import "time"

var begin = time.Now()

// Seconds is wall time where processor time is not to be had.
func Seconds() float64 { return time.Since(begin).Seconds() }
