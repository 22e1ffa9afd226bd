//go:build long

package vizier

import "testing"

// TestLongTwoMetricsOverAKill is TestTwoClientsOverAKill with two metrics, of which the result is a front.
func TestLongTwoMetricsOverAKill(t *testing.T) { checkTwoClients(t, "2") }
