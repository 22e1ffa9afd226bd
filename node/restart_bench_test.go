package node

import (
	"fmt"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
)

// BenchmarkRestart measures a start with so many results of six parameters in the journal:
// ready-ms until the session is there, first-ms until it has given a trial. Run:
// go test -run '^$' -bench Restart -benchtime 3x ./node
func BenchmarkRestart(b *testing.B) {
	for _, results := range []int{1000, 10000} {
		b.Run(fmt.Sprintf("results=%d", results), func(b *testing.B) {
			spec, err := all.Strategies().Parse("bench", []byte(`
name: bench
goal: minimize
parameters:
  - {name: a, type: float, low: 0, high: 1}
  - {name: b, type: float, low: 0, high: 1}
  - {name: c, type: float, low: 0, high: 1}
  - {name: d, type: float, low: 0, high: 1}
  - {name: e, type: float, low: 0, high: 1}
  - {name: f, type: float, low: 0, high: 1}
`))
			if err != nil {
				b.Fatal(err)
			}
			dir := b.TempDir()
			begin := func() (*Node, *Session) {
				n := &Node{Strategies: all.Strategies(), Dir: dir, Listen: []string{"/ip4/127.0.0.1/tcp/0"}}
				if err := n.Start(b.Context()); err != nil {
					b.Fatal(err)
				}
				s, err := n.Join(b.Context(), spec, JoinOptions{Wait: -1})
				if err != nil {
					b.Fatal(err)
				}
				return n, s
			}
			n, s := begin()
			rng := random.SeedOf(1).Stream("past", 0)
			var past []agent.Past
			for range results {
				x, value := make([]float64, spec.Space.Dim()), 0.0
				for i := range x {
					x[i] = rng.Float64()
					value += (x[i] - 0.4) * (x[i] - 0.4)
				}
				past = append(past, agent.Past{Design: spec.Space.Decode(x), Outcome: strategy.Outcome{Value: value}})
			}
			if _, err := s.Import(b.Context(), past); err != nil {
				b.Fatal(err)
			}
			if _, err := s.Ask(b.Context()); err != nil {
				b.Fatal(err)
			}
			var ready, first time.Duration
			for b.Loop() {
				if err := n.Close(); err != nil {
					b.Fatal(err)
				}
				started := time.Now()
				n, s = begin()
				ready += time.Since(started)
				if _, err := s.Ask(b.Context()); err != nil {
					b.Fatal(err)
				}
				first += time.Since(started)
			}
			b.ReportMetric(float64(ready.Milliseconds())/float64(b.N), "ready-ms")
			b.ReportMetric(float64(first.Milliseconds())/float64(b.N), "first-ms")
			if err := n.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}
