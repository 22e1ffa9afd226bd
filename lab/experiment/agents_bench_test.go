package experiment

import (
	"flag"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/sim"
	"github.com/fbo-node/fbo/lab/family"
)

var (
	benchAgents = flag.Int("agents", 100, "agents of BenchmarkAgents")
	benchDegree = flag.Int("degree", 32, "authors from which each agent of BenchmarkAgents receives shares")
)

// BenchmarkAgents plays one federation of -agents agents of the default strategy with 20 evaluations each, on
// branin. Each receives the shares of -degree others. cpu-ms/eval is the processor time per evaluation, and
// peak-MB the largest memory of the process.
func BenchmarkAgents(b *testing.B) {
	drawn, err := family.Kinds().Parse("branin")
	if err != nil {
		b.Fatal(err)
	}
	s, err := ParseSpec("peer-prior")
	if err != nil {
		b.Fatal(err)
	}
	p, err := Plan{Family: drawn, Agents: *benchAgents, Evaluations: 20, Repeats: 1, Strategies: []Spec{s}, Seed: 1,
		Network: sim.Network{Delay: 50 * time.Millisecond, Degree: *benchDegree}}.Complete()
	if err != nil {
		b.Fatal(err)
	}
	f, err := p.draw(0)
	if err != nil {
		b.Fatal(err)
	}
	start := processorTime()
	for b.Loop() {
		if _, err := p.play(b.Context(), 0, s, f, 2, func() {}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(1e3*(processorTime()-start).Seconds()/float64(b.N**benchAgents*p.Evaluations), "cpu-ms/eval")
	b.ReportMetric(float64(processMemory())/1e6, "peak-MB")
}
