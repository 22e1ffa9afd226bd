// Package recoverpanic calls code of other packages and converts a panic into an error.
//
// It recovers panics only in the goroutine that makes the call. If the called code starts goroutines,
// it must recover their panics itself and repeat them in the calling goroutine. Errors for which the
// runtime ends the process, such as concurrent writes to a map, cannot be recovered.
package recoverpanic

import (
	"fmt"
	"runtime/debug"
)

// Panic is the error of a call that panicked.
type Panic struct {
	Who   string // name of the called code, such as "the strategy"
	Value any    // argument of panic
	Stack []byte // stack of the goroutine that panicked, for the log
}

func (p *Panic) Error() string { return fmt.Sprintf("%s panicked: %v", p.Who, p.Value) }

// Call returns the results of f. If f panics, it returns a [*Panic] and the zero value. The
// argument who names the called code.
func Call[T any](who string, f func() (T, error)) (result T, err error) {
	defer func() {
		if value := recover(); value != nil {
			var zero T
			result, err = zero, panicOf(who, value)
		}
	}()
	return f()
}

// panicOf returns the Panic of a recovered value. If the value is itself a *Panic, for example one
// that f repeats from another goroutine, it keeps the original value and stack.
func panicOf(who string, value any) *Panic {
	if before, ok := value.(*Panic); ok {
		return &Panic{who, before.Value, before.Stack}
	}
	return &Panic{who, value, debug.Stack()}
}
