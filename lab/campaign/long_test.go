//go:build long

package campaign

import (
	"flag"
	"testing"
	"time"
)

var (
	seeds = flag.Uint64("seeds", 125, "number of seeds of TestLongCampaign")
	first = flag.Uint64("first", 1, "first seed of TestLongCampaign")
)

// TestLongCampaign runs the seeds of its flags and logs a summary.
func TestLongCampaign(t *testing.T) {
	began := time.Now()
	sum := check(t, *first, *seeds)
	t.Logf("seeds %d to %d: %v; %.0f s", *first, *first+*seeds-1, sum, time.Since(began).Seconds())
}
