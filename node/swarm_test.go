//go:build swarm

package node_test

import (
	"testing"
	"time"
)

// The same as in the other files with forty nodes; takes minutes.

func TestSwarmStar(t *testing.T)    { testStar(t, 40) }
func TestSwarmLoss(t *testing.T)    { testLoss(t, 40) }
func TestSwarmHostile(t *testing.T) { testHostile(t, 30) }
func TestSwarmChurn(t *testing.T)   { testChurn(t, 40, 5*time.Minute) }

// Each half has enough company without the other.
func TestSwarmCut(t *testing.T) { testCut(t, 24) }

func TestSwarmKill(t *testing.T) { testKill(t, 100) }
