//go:build statistical

package agent

import "testing"

// Over 20 seeds failures of 40 % of the space are found out in 20 attempts nearly always, and
// failures by chance hardly ever taken for a matter of the design. Where the chances are .95 and .05,
// the limits of 16 and 4 are missed with a probability below .003 each.
func TestStatisticalFailuresLearned(t *testing.T) {
	clustered, scattered := 0, 0
	for seed := range uint64(20) {
		if _, learned := learnFailures(t, "", 100+seed, 20, func(x, _ float64) bool { return x < 0.4 }); learned {
			clustered++
		}
		if _, learned := learnFailures(t, "", 100+seed, 40, func(_, chance float64) bool { return chance < 0.3 }); learned {
			scattered++
		}
	}
	t.Logf("learned in %d of 20 clustered and %d of 20 scattered runs", clustered, scattered)
	if clustered < 16 || scattered > 4 {
		t.Errorf("learned in %d of 20 clustered and %d of 20 scattered runs, expected at least 16 and at most 4", clustered, scattered)
	}
}
