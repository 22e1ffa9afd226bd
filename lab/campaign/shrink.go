package campaign

import (
	"context"
	"slices"
	"time"
)

// maxAttempts is the maximum number of schedules that Shrink tries.
const maxAttempts = 60

// Shrink returns the smallest schedule that it finds for which fails returns true. It removes faults,
// then members, and then makes the remaining faults shorter. fails must be true for s.
func Shrink(ctx context.Context, s Schedule, fails func(Schedule) bool) Schedule {
	attempts := 0
	try := func(changed Schedule) bool {
		if attempts++; attempts > maxAttempts || ctx.Err() != nil || changed.validate() != nil || !fails(changed) {
			return false
		}
		s = changed
		return true
	}
	for again := true; again; {
		again = false
		for size := max(1, len(s.Faults)/2); size > 0; size /= 2 {
			for i := 0; i < len(s.Faults); {
				changed := s
				changed.Faults = slices.Delete(slices.Clone(s.Faults), i, min(i+size, len(s.Faults)))
				if try(changed) {
					again = true
				} else {
					i += size
				}
			}
		}
		for i := len(s.Members) - 1; i >= 0 && len(s.Members) > 1; i-- {
			changed := s
			changed.Members = slices.Delete(slices.Clone(s.Members), i, i+1)
			again = try(changed) || again
		}
		for i := range s.Faults {
			for _, simpler := range simplerThan(s.Faults[i]) {
				changed := s
				changed.Faults = slices.Clone(s.Faults)
				changed.Faults[i] = simpler
				try(changed)
			}
		}
	}
	return s
}

// simplerThan returns faults of the same kind with rounder or smaller numbers.
func simplerThan(f Fault) (list []Fault) {
	add := func(change func(*Fault)) {
		simpler := f
		if change(&simpler); simpler != f {
			list = append(list, simpler)
		}
	}
	add(func(f *Fault) { f.For = f.For.Round(10 * time.Second) })
	add(func(f *Fault) { f.At = f.At.Round(10 * time.Second) })
	if f.Kind == Crash {
		add(func(f *Fault) { f.For = 10 * time.Second })
		add(func(f *Fault) { f.Part = 0 })
	}
	return list
}
