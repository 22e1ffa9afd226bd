//go:build long

package sim

import "testing"

// With 1,000 members it takes minutes.
func TestLongTrafficInCrowds(t *testing.T) { testCrowds(t, 32, 4, 6, 200, 400, 1000) }
