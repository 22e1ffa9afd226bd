//go:build swarm

package node_test

import "testing"

// The same as in the other files with forty nodes; takes minutes.

func TestSwarmStar(t *testing.T)    { testStar(t, 40) }
func TestSwarmLoss(t *testing.T)    { testLoss(t, 40) }
func TestSwarmHostile(t *testing.T) { testHostile(t, 30) }
