//go:build long

package campaign

import (
	"flag"
	"testing"
	"time"
)

var (
	seeds = flag.Uint64("seeds", 100, "number of seeds of TestLongCampaign")
	first = flag.Uint64("first", 1, "first seed of TestLongCampaign")
)

// reportEvery is the number of seeds after which TestLongCampaign logs a summary.
const reportEvery = 100

// TestLongCampaign runs the seeds of its flags and logs summaries.
func TestLongCampaign(t *testing.T) {
	var sum Summary
	began := time.Now()
	for seed := *first; seed < *first+*seeds; seed += reportEvery {
		sum.Join(check(t, seed, min(reportEvery, *first+*seeds-seed)))
		t.Logf("from seed %d: %v; %.0f s", *first, sum, time.Since(began).Seconds())
	}
}
