//go:build long && unix

package main_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/fbo-node/fbo/internal/cli/base"
)

// What docs/privacy.md says of time: a peer that notes when a node's private shares
// arrive knows how long its evaluations took, to a few hundredths of a second, and with
// that all that they depend on. Here that is the only parameter.
func TestLongArrivalsTellHowLongEvaluationsTake(t *testing.T) {
	file := writeFile(t, "task.yaml", strings.NewReplacer(
		"  - {name: x, type: float, low: -5, high: 5}\n  - {name: y, type: float, low: -5, high: 5}", "  - {name: x, type: float, low: 0.2, high: 1.2}",
		"releases: 3", "releases: 25").Replace(privateTask))
	peer := start(t, join(runLine(file, shortTempDir(t), "--json"), objective("sleep"))...)
	dir := shortTempDir(t)
	p := start(t, join(runLine(file, dir, "--json", "--peer", peer.address(t), "--evals", "25"), []string{"--", "sh", "-c", "sleep {x}; echo {x}"})...)
	self := p.await(t, "its start", isEvent("node_started")).PeerID
	var arrivals []time.Time
	for running := true; running; {
		select {
		case <-p.ended:
			running = false
		case <-time.After(time.Millisecond):
		}
		count := 0
		for _, e := range peer.of("share_received") {
			if e.Kind == "weights" && e.Peer == self {
				count++
			}
		}
		for len(arrivals) < count {
			arrivals = append(arrivals, time.Now())
		}
	}
	if p.wait(t) != base.ExitDone || len(arrivals) < 20 {
		t.Fatalf("exit code %d, %d shares have arrived", p.command.ProcessState.ExitCode(), len(arrivals))
	}
	var truth []float64
	for _, trial := range historyOf(t, dir) {
		truth = append(truth, trial.Outcome.Value)
	}
	var intervals []float64
	for i, at := range arrivals[1:] {
		intervals = append(intervals, at.Sub(arrivals[i]).Seconds())
	}
	// Which evaluation was the first between two shares follows from the task; where
	// peers told late it is a later one, and the best fit tells.
	best, correlation := 0, math.Inf(-1)
	for skip := 0; skip+len(intervals) <= len(truth); skip++ {
		if c := stat.Correlation(intervals, truth[skip:skip+len(intervals)], nil); c > correlation {
			best, correlation = skip, c
		}
	}
	var excess []float64
	for i, v := range intervals {
		excess = append(excess, v-truth[best+i])
	}
	mean, deviation := stat.MeanStdDev(excess, nil)
	t.Logf("%d intervals are longer than the evaluations by %.3f s, with a deviation of %.3f s; correlation %.4f", len(intervals), mean, deviation, correlation)
	if correlation < 0.9 {
		t.Errorf("the correlation is %.3f: arrivals tell less than docs/privacy.md says", correlation)
	}
}
