//go:build long && unix

package main_test

import "testing"

// A worker that exceeds the trial timeout fails its trial, and another process takes its place.
func TestLongWorkerThatTakesTooLong(t *testing.T) {
	t.Parallel()
	checkFailedWorker(t, "sleeps-in", "the worker was stopped: no outcome within the trial timeout of 15s")
}
