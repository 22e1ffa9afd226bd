//go:build long

package node_test

import "testing"

func TestLongRepairOfDamagedJournals(t *testing.T) { repairDamaged(t, 1000) }
