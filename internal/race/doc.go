// Package race tells tests whether the race detector watches them. What only counts or
// measures, in one goroutine, shows it nothing and takes it minutes.
package race

import "testing"

// Skip leaves out a test of much computation in one goroutine.
func Skip(t testing.TB) {
	t.Helper()
	if Enabled {
		t.Skip("of one goroutine, in which the race detector has nothing to see")
	}
}
