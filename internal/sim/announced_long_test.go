//go:build long

package sim_test

import "testing"

func TestLongTrafficInCrowds(t *testing.T) { testCrowds(t, 32, 4, 6, 200, 400) }
