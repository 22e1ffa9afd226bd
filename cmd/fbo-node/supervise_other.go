//go:build !unix

package main

// supervisorLine is nil where a command can have no supervisor.
func supervisorLine() []string { return nil }
