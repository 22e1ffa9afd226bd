package agent

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"syscall"
	"testing"

	"github.com/fbo-node/fbo/random"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/surrogate"
	"github.com/fbo-node/fbo/task"
)

// BenchmarkSuggestion measures one suggestion of the default strategy, with the outcome before
// it, among twenty peers at so many own results of six parameters. core-ms is processor time;
// "all" is the model of all results. Run:
// go test -run '^$' -bench Suggestion -benchtime 3x ./agent
func BenchmarkSuggestion(b *testing.B) {
	for _, share := range []string{"guarded", "exact"} {
		for _, results := range []int{300, 500, 1000, 2000, 4000, 10000} {
			for _, most := range []int{strategy.DefaultModelled, results} {
				if most == results && results > 1000 && share == "exact" || most == results && results > 2000 {
					continue // minutes
				}
				name := fmt.Sprint(most)
				if most == results {
					name = "all"
				}
				b.Run(fmt.Sprintf("%s/results=%d/modelled=%s", share, results, name), func(b *testing.B) {
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

func bowlTask(t testing.TB, share string) *task.Task {
	t.Helper()
	spec, err := all.Strategies().Parse("bowls", fmt.Appendf(nil, `
name: bowls
goal: minimize
parameters:
  - {name: a, type: float, low: 0, high: 1}
  - {name: b, type: float, low: 0, high: 1}
  - {name: c, type: float, low: 0, high: 1}
  - {name: d, type: float, low: 0, high: 1}
  - {name: e, type: float, low: 0, high: 1}
  - {name: f, type: float, low: 0, high: 1}
strategy: {type: peer-prior, share: %s}`, share))
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

func bowlModel(t testing.TB, spec *task.Task) surrogate.Model {
	t.Helper()
	model, err := surrogate.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	return model
}

// bowlDrivers are agents with so many results each, a tenth of them near the optimum, that
// have received what the others share.
func bowlDrivers(t testing.TB, spec *task.Task, model surrogate.Model, results []int, most int) (drivers []*driver) {
	t.Helper()
	for i, count := range results {
		cfg := configOf(t, spec, byte(i+1))
		cfg.Modelled, cfg.Model = most, model
		d := newDriver(t, cfg)
		if _, err := d.agent.Import(d.now, pastBowls(spec, random.SeedOf(uint64(i)), count)); err != nil {
			t.Fatal(err)
		}
		d.carryOut()
		drivers = append(drivers, d)
	}
	exchange(drivers...)
	return drivers
}

func pastBowls(spec *task.Task, seed random.Seed, count int) (past []Past) {
	rng := seed.Stream("past", 0)
	for i := range count {
		x := make([]float64, spec.Space.Dim())
		for k := range x {
			x[k] = rng.Float64()
			if i%10 == 0 {
				x[k] = 0.3 + 0.1*x[k]
			}
		}
		design := spec.Space.Decode(x)
		past = append(past, Past{Design: design, Outcome: strategy.Outcome{Value: smoothBowl(design)}})
	}
	return past
}

func smoothBowl(d task.Design) (value float64) {
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		x := d.Float(name) - 0.35
		value += x*x + 0.05*math.Sin(20*x)*math.Sin(20*x)
	}
	return value
}

func suggestOnce(t testing.TB, d *driver) {
	trial := d.ask()
	if err := d.agent.Tell(d.now, trial.ID, strategy.Outcome{Value: smoothBowl(trial.Design)}); err != nil {
		t.Fatal(err)
	}
	d.carryOut()
}
