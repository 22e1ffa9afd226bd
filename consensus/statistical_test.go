//go:build statistical

package consensus_test

import "testing"

func TestStatisticalNoFaultHangsARound(t *testing.T) { checkFaults(t, modes()) }
