package evaluator

import "testing"

// unread returns steps whose values nothing reads.
func unread(t testing.TB) *steps {
	s := newSteps(Trial{}, nil)
	t.Cleanup(func() { s.end() })
	return s
}
