//go:build statistical

package agent

import (
	"math"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/rff"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

const (
	fileSeeds      = 10
	fileTrials     = 20
	fileEvery      = 3 // trials between two exchanges of files
	studySize      = 100
	newcomerTrials = 8
	unlikeness     = 0.2 // of the sites' functions
)

func sitesTask(t *testing.T) *task.Task {
	t.Helper()
	spec, err := all.Strategies().Parse("sites", []byte(`
name: sites
goal: maximize
parameters: [{name: x, type: float, low: 0, high: 1}, {name: y, type: float, low: 0, high: 1}]`))
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

func sitesOf(t *testing.T, seed uint64, spec *task.Task, count int) (sites []*driver) {
	t.Helper()
	for i := range count {
		cfg := configOf(t, spec, byte(i+1))
		cfg.Seed = random.SeedOf(seed).Derive("agent", uint64(i))
		sites = append(sites, newDriver(t, cfg))
	}
	return sites
}

// exchangeFiles gives each site a file of each other one.
func exchangeFiles(t *testing.T, sites []*driver) {
	t.Helper()
	for _, from := range sites {
		exported, _ := from.agent.ExportedShares(from.now, false, 64)
		for _, to := range sites {
			if to == from {
				continue
			}
			var shares []ImportedShare
			for _, e := range exported {
				share, err := protocol.Open(e.Envelope)
				if err != nil {
					t.Fatal(err)
				}
				shares = append(shares, ImportedShare{Share: share, Age: max(0, from.now.Sub(e.Sent))})
			}
			if _, err := to.agent.ImportShares(to.now, shares); err != nil {
				t.Fatal(err)
			}
			to.carryOut()
		}
	}
}

func optimumOf(f *rff.Function) float64 {
	best := math.Inf(-1)
	for x := range 101 {
		for y := range 101 {
			best = max(best, f.Value([]float64{float64(x) / 100, float64(y) / 100}))
		}
	}
	return best
}

// meanRegret returns the mean, over the first evaluations of a site, of its simple regret.
func meanRegret(d *driver, f *rff.Function, evals int) float64 {
	optimum, best, sum, count := optimumOf(f), math.Inf(-1), 0.0, 0
	for _, trial := range d.agent.Trials() {
		if trial.State == strategy.Done && count < evals {
			best = max(best, trial.Outcome.Value)
			sum += max(0, optimum-best)
			count++
		}
	}
	return sum / float64(count)
}

// compare logs the mean of two arms, and returns their ratio and the standard error of the paired
// difference as a part of the second.
func compare(t *testing.T, names string, first, second []float64) (ratio, se float64) {
	t.Helper()
	var differences []float64
	one, two := 0.0, 0.0
	for i := range first {
		differences = append(differences, first[i]-second[i])
		one, two = one+first[i]/float64(len(first)), two+second[i]/float64(len(first))
	}
	ratio, se = one/two, standardError(differences)/two
	t.Logf("%s: %.4f / %.4f = %.2f, standard error %.2f", names, one, two, ratio, se)
	return ratio, se
}

// TestStatisticalFilesReplaceConnection compares two sites that exchange files after every third trial
// with the same sites connected, and with each alone. Two sites that start together hardly gain by
// sharing. In the last setting the first site has made 20 trials when the second starts, and only the
// second counts.
func TestStatisticalFilesReplaceConnection(t *testing.T) {
	spec := sitesTask(t)
	for _, setting := range []struct {
		unlike float64
		trials int
		ahead  int // trials of the first site before the second starts
	}{{0.2, 20, 0}, {0.05, 10, 0}, {0.2, 10, 20}} {
		arms := map[string][]float64{}
		for seed := range uint64(fileSeeds) {
			functions := likeFunctions(t, random.SeedOf(500+seed), setting.unlike)[:2]
			for _, arm := range []string{"files", "connected", "alone"} {
				sites := sitesOf(t, seed, spec, 2)
				for range setting.ahead {
					evaluateOnce(t, sites[0], functions[0])
				}
				switch {
				case setting.ahead == 0: // there is nothing to share yet
				case arm == "connected":
					gossip(sites)
				case arm == "files":
					exchangeFiles(t, sites)
				}
				for round := range setting.trials {
					for i, site := range sites {
						evaluateOnce(t, site, functions[i])
					}
					switch {
					case arm == "connected":
						gossip(sites)
					case arm == "files" && round%fileEvery == fileEvery-1:
						exchangeFiles(t, sites)
					}
				}
				mean := meanRegret(sites[1], functions[1], setting.trials)
				if setting.ahead == 0 {
					mean = (mean + meanRegret(sites[0], functions[0], setting.trials)) / 2
				}
				arms[arm] = append(arms[arm], mean)
			}
		}
		t.Logf("e = %g, %d trials, the first site %d ahead", setting.unlike, setting.trials, setting.ahead)
		compare(t, "connected / alone", arms["connected"], arms["alone"])
		compare(t, "files / alone", arms["files"], arms["alone"])
		if ratio, se := compare(t, "files / connected", arms["files"], arms["connected"]); ratio-2*se > 1.2 {
			t.Errorf("files have %.2f (standard error %.2f) of the regret of a connection, want at most 1.2 within two errors", ratio, se)
		}
	}
}

// TestStatisticalStudyReplacesPeer compares newcomers that get the share of a live peer with those that
// get the share of a past study, which a keeper has imported, and with those alone.
func TestStatisticalStudyReplacesPeer(t *testing.T) {
	spec := sitesTask(t)
	arms := map[string][]float64{}
	for seed := range uint64(fileSeeds) {
		functions := likeFunctions(t, random.SeedOf(700+seed), unlikeness)[:2]
		sites := sitesOf(t, seed, spec, 1)
		live := sites[0]
		for range studySize {
			evaluateOnce(t, live, functions[0])
		}
		cfg := configOf(t, spec, 9)
		cfg.Seed = random.SeedOf(seed).Derive("study", 0)
		study := newDriver(t, cfg)
		var past []Past
		for _, trial := range live.agent.Trials() {
			past = append(past, Past{Design: trial.Design, Outcome: *trial.Outcome})
		}
		if added, err := study.agent.Import(study.now, past); err != nil || added != studySize {
			t.Fatal(added, err)
		}
		study.carryOut()
		study.agent.Keep(study.now)
		study.carryOut()
		for arm, source := range map[string]*driver{"live": live, "study": study, "alone": nil} {
			newcomer := sitesOf(t, 1000+seed, spec, 2)[1]
			if source != nil {
				if source.agent.OwnShares(source.now) == 0 {
					t.Fatalf("%s has no share", arm)
				}
				exchangeFiles(t, []*driver{source, newcomer})
			}
			for range newcomerTrials {
				evaluateOnce(t, newcomer, functions[1])
			}
			arms[arm] = append(arms[arm], meanRegret(newcomer, functions[1], newcomerTrials))
		}
	}
	compare(t, "live / alone", arms["live"], arms["alone"])
	if ratio, se := compare(t, "study / alone", arms["study"], arms["alone"]); ratio > 1-2*se {
		t.Errorf("a past study leaves %.2f (standard error %.2f) of the regret of newcomers alone, want less than 1 by two errors", ratio, se)
	}
	if ratio, se := compare(t, "study / live", arms["study"], arms["live"]); math.Abs(ratio-1) > max(2*se, 0.05) {
		t.Errorf("newcomers with a past study have %.2f (standard error %.2f) of the regret of those with a live peer, want 1 within two errors", ratio, se)
	}
}
