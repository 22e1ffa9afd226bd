package experiment

import (
	"syscall"
	"time"
)

// processorTime returns the time that this process has used on all processors so far.
func processorTime() time.Duration {
	self, err := syscall.GetCurrentProcess()
	if err != nil {
		panic(err) // unexpected: the pseudo handle always exists
	}
	var creation, exit, kernel, user syscall.Filetime
	if err := syscall.GetProcessTimes(self, &creation, &exit, &kernel, &user); err != nil {
		panic(err) // unexpected: a process may read its own times
	}
	return span(kernel) + span(user)
}

// span converts a length of time in units of 100 ns. Filetime.Nanoseconds would treat it as a date.
func span(t syscall.Filetime) time.Duration {
	return time.Duration(int64(t.HighDateTime)<<32|int64(t.LowDateTime)) * 100
}

// processMemory returns 0; it is not implemented on this system.
func processMemory() int64 { return 0 }
