//go:build !unix && !windows

package experiment

import "time"

var begun = time.Now()

// processorTime returns elapsed time, because this system does not report processor time.
func processorTime() time.Duration { return time.Since(begun) }

// processMemory returns 0, because this system does not report memory.
func processMemory() int64 { return 0 }
