//go:build unix

package agent

import (
	"fmt"
	"runtime"
	"slices"
	"syscall"
	"testing"

	"github.com/fbo-node/fbo/strategy"
)

// BenchmarkSuggestion measures one suggestion of the default strategy, with the outcome before
// it, among twenty peers at so many own results of six parameters. core-ms is processor time;
// "all" is the model of all results. Run:
// go test -run '^$' -bench Suggestion -benchtime 3x ./internal/agent
func BenchmarkSuggestion(b *testing.B) {
	for _, share := range []string{"coarse", "exact"} {
		for _, results := range []int{300, 500, 1000, 2000, 4000, 10000} {
			for _, most := range []int{strategy.DefaultMaxObservations, results} {
				if most == results && results > 1000 && share == "exact" || most == results && results > 2000 {
					continue // minutes
				}
				name := fmt.Sprint(most)
				if most == results {
					name = "all"
				}
				b.Run(fmt.Sprintf("%s/results=%d/max_observations=%s", share, results, name), func(b *testing.B) {
					d := amongPeers(b, share, results, most)
					suggestOnce(b, d)
					b.ReportAllocs()
					before := processorTime(b)
					for b.Loop() {
						suggestOnce(b, d)
					}
					b.ReportMetric((processorTime(b)-before)*1000/float64(b.N), "core-ms/op")
					b.ReportMetric(float64(most), "modelled")
					runtime.KeepAlive(d)
				})
			}
		}
	}
}

func processorTime(b *testing.B) float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	seconds := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return seconds(usage.Utime) + seconds(usage.Stime)
}

// amongPeers is an agent with so many results of its own that has received what twenty peers
// share.
func amongPeers(t testing.TB, share string, results, most int) *driver {
	spec := bowlTask(t, share)
	return bowlDrivers(t, spec, bowlModel(t, spec), append([]int{results}, slices.Repeat([]int{20}, 20)...), most)[0]
}
