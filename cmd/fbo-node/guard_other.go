//go:build !unix

package main

// supervisorLine is nil where a command can have no guard.
func supervisorLine() []string { return nil }
