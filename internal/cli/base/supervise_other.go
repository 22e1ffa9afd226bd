//go:build !unix

package base

// SupervisorLine returns nil: this system supports no supervisor.
func SupervisorLine() []string { return nil }
