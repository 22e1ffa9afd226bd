//go:build !unix

package base

// SupervisorLine returns nil: on this system a command can have no supervisor.
func SupervisorLine() []string { return nil }
