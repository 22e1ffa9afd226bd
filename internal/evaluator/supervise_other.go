//go:build !unix

package evaluator

import "errors"

// Supervise returns an error, because the system has no process groups.
func Supervise([]string) error { return errors.New("supervise: this system has none") }
