//go:build !unix

package evaluator

import "errors"

// Supervise is for systems with process groups.
func Supervise([]string) error { return errors.New("supervise: this system has none") }
