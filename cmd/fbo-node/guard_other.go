//go:build !unix

package main

// guardLine is nil where a command can have no guard.
func guardLine() []string { return nil }
