package wire

import "time"

// timerGrain is the interval between the times at which timers of a clock can end.
const timerGrain = 100 * time.Millisecond

// clock lets the timers of all tasks end at common times, a multiple of timerGrain after its begin.
// A process that is idle then wakes up ten times a second, whatever the number of tasks.
type clock struct{ begin time.Time }

// after is time.After with a pause that is up to timerGrain longer.
func (c clock) after(pause time.Duration) <-chan time.Time {
	return time.After(aligned(time.Since(c.begin), pause))
}

// aligned returns the smallest pause, at least as long as the given one, that ends at a multiple of
// timerGrain. now is the time since the clock's begin.
func aligned(now, pause time.Duration) time.Duration {
	end := now + pause
	if rest := end % timerGrain; rest > 0 {
		end += timerGrain - rest
	}
	return end - now
}
