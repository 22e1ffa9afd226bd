//go:build !unix

package main

import "time"

var begin = time.Now()

// processorSeconds is wall time where processor time is not to be had.
func processorSeconds() float64 { return time.Since(begin).Seconds() }
