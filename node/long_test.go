//go:build long

package node_test

import (
	"fmt"
	"testing"
	"time"
)

// The same as in the other files with forty nodes; takes minutes.

func TestLongStar(t *testing.T)    { testStar(t, 40) }
func TestLongLoss(t *testing.T)    { testLoss(t, 40) }
func TestLongHostile(t *testing.T) { testHostile(t, 30) }
func TestLongChurn(t *testing.T)   { testChurn(t, 40, 5*time.Minute) }

// Each half has enough company without the other.
func TestLongCut(t *testing.T) { testCut(t, 24) }

func TestLongKill(t *testing.T) { testKill(t, 100) }

func oneRange(i int) string { return fmt.Sprintf("/ip4/12.0.0.%d/udp/8000/quic-v1", i+1) }

// Newcomers among many identities of one attacker: silent or not, in one range of
// addresses or each in another.
func TestLongSurrounded(t *testing.T) {
	for name, b := range map[string]besieged{
		// Long enough for connections to be closed that are too many.
		"60 in one range":          {attackers: 60, address: oneRange, stay: 75 * time.Second},
		"60 in 60 ranges, talking": {attackers: 60, address: manyRanges, speak: true},
		"60 at a hub":              {attackers: 60, address: manyRanges, hub: true},
		"200":                      {attackers: 200, address: manyRanges, missing: 0.05},
	} {
		b.within = 2 * time.Minute
		t.Run(name, b.test)
	}
}
