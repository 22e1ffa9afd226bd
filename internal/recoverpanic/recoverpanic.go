// Package recoverpanic calls code of other packages and turns its panic into an error.
//
// It recovers panics of the goroutine that makes the call. A goroutine that the called code starts
// must pass on its own panics. Errors for which the runtime ends the process, such as two
// goroutines writing to one map, cannot be recovered.
package recoverpanic

import (
	"fmt"
	"runtime/debug"
)

// Panic is the error of a call that panicked.
type Panic struct {
	Who   string // in plain words: whose code it is, such as "the strategy"
	Value any    // what the code panicked with
	Stack []byte // of the goroutine that panicked, for the log
}

func (p *Panic) Error() string { return fmt.Sprintf("%s panicked: %v", p.Who, p.Value) }

// Call returns what f returns, or a [*Panic] and the zero value when f panics.
func Call[T any](who string, f func() (T, error)) (result T, err error) {
	defer func() {
		if value := recover(); value != nil {
			var zero T
			result, err = zero, panicOf(who, value)
		}
	}()
	return f()
}

// panicOf keeps the stack of a panic that was contained before and passed on, as from
// another goroutine.
func panicOf(who string, value any) *Panic {
	if before, ok := value.(*Panic); ok {
		return &Panic{who, before.Value, before.Stack}
	}
	return &Panic{who, value, debug.Stack()}
}
