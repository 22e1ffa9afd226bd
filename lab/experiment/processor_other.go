//go:build !unix && !windows

package experiment

import "time"

var begun = time.Now()

// processorTime is real time where processor time is not to be had.
func processorTime() time.Duration { return time.Since(begun) }

// processMemory is not to be had here.
func processMemory() int64 { return 0 }
