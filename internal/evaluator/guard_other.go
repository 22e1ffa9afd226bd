//go:build !unix

package evaluator

import "errors"

// Guard is for systems with process groups.
func Guard([]string) error { return errors.New("evaluator: guard: this system has none") }
