package recoverpanic

import (
	"errors"
	"strings"
	"testing"
)

func fail() (int, error) { panic("boom") }

func TestCallReturnsPanicAsError(t *testing.T) {
	known := errors.New("known")
	if got, err := Call("it", func() (int, error) { return 3, known }); got != 3 || err != known {
		t.Errorf("without a panic: %d, %v", got, err)
	}
	got, err := Call("the code", fail)
	var p *Panic
	if !errors.As(err, &p) || got != 0 || err.Error() != "the code panicked: boom" {
		t.Fatalf("%d, %v", got, err)
	}
	if !strings.Contains(string(p.Stack), "recoverpanic.fail") {
		t.Errorf("the stack does not show the culprit:\n%s", p.Stack)
	}
}

// A panic passed on from another goroutine keeps that one's stack.
func TestCallKeepsStackOfPassedPanic(t *testing.T) {
	passed := make(chan error)
	go func() {
		_, err := Call("a helper", fail)
		passed <- err
	}()
	_, err := Call("the code", func() (int, error) { panic(<-passed) })
	var p *Panic
	if !errors.As(err, &p) || err.Error() != "the code panicked: boom" {
		t.Fatal(err)
	}
	if !strings.Contains(string(p.Stack), "recoverpanic.fail") {
		t.Errorf("the stack does not show the culprit:\n%s", p.Stack)
	}
}

// A panic is never taken for one of the errors that have a meaning.
func TestPanicHidesItsError(t *testing.T) {
	known := errors.New("known")
	if _, err := Call("it", func() (int, error) { panic(known) }); errors.Is(err, known) {
		t.Error("the error is known")
	}
}
