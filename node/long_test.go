//go:build long

package node_test

import (
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
