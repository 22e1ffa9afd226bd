//go:build long && unix

package campaign

import (
	"flag"
	"syscall"
	"testing"
	"time"
)

// sliceSeeds is the number of seeds of each test below. There are eight tests, so that each part of the
// long tests has one.
const sliceSeeds = 125

var (
	seeds = flag.Uint64("seeds", sliceSeeds, "number of seeds of TestLongCampaign")
	first = flag.Uint64("first", 1, "first seed of TestLongCampaign")
)

// TestLongCampaign runs the seeds of its flags.
func TestLongCampaign(t *testing.T) { campaign(t, *first, *seeds) }

func TestLongCampaignFrom126(t *testing.T) { campaign(t, 126, sliceSeeds) }
func TestLongCampaignFrom251(t *testing.T) { campaign(t, 251, sliceSeeds) }
func TestLongCampaignFrom376(t *testing.T) { campaign(t, 376, sliceSeeds) }
func TestLongCampaignFrom501(t *testing.T) { campaign(t, 501, sliceSeeds) }
func TestLongCampaignFrom626(t *testing.T) { campaign(t, 626, sliceSeeds) }
func TestLongCampaignFrom751(t *testing.T) { campaign(t, 751, sliceSeeds) }
func TestLongCampaignFrom876(t *testing.T) { campaign(t, 876, sliceSeeds) }

// reportEvery is the number of seeds after which a campaign logs a summary.
const reportEvery = 125

// campaign runs seeds and logs summaries.
func campaign(t *testing.T, first, seeds uint64) {
	var sum Summary
	began := computed(t)
	for seed := first; seed < first+seeds; seed += reportEvery {
		sum.Join(check(t, seed, min(reportEvery, first+seeds-seed)))
		t.Logf("from seed %d: %v; %.0f core-seconds", first, sum, (computed(t) - began).Seconds())
	}
}

// computed returns the time for which the process has used a processor.
func computed(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
