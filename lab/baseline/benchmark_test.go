package baseline

import (
	"fmt"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate/gp"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/alone"
)

// BenchmarkSuggest is a whole suggestion in six dimensions to the first of N
// members with t observations each, whose functions are the same. Each time the
// pool has just changed: what one suggestion leaves for others at the same
// moment does not count. Hyperparameters are at hand.
func BenchmarkSuggest(b *testing.B) {
	const dim = 6
	for _, name := range []string{"ts", "rgpe", "taf", "pooled", "multitask"} {
		for _, members := range []int{10, 100} {
			for _, observed := range []int{10, 50} {
				b.Run(fmt.Sprintf("%s/N=%d/t=%d", name, members, observed), func(b *testing.B) {
					f := benchFederation(b, dim, members, observed)
					s := strategy.Strategy(alone.NewTS(f.task))
					if make, ok := methods[name]; ok {
						s = make(f.task, f.pool, 0)
					}
					f.suggest(b, s, 0, random.SeedOf(0)) // learns hyperparameters
					b.ReportAllocs()
					informed := 0
					for b.Loop() {
						f.pool.Watch(1, f.views[1])
						informed = f.suggest(b, s, 0, random.SeedOf(uint64(b.N))).Why.PeerCount
					}
					b.ReportMetric(float64(informed), "listened")
				})
			}
		}
	}
}

// BenchmarkLearn is one learning of a pool's hyperparameters in six dimensions,
// from 300 of its observations or all when there are fewer.
func BenchmarkLearn(b *testing.B) {
	for _, name := range []string{"pooled", "multitask"} {
		for _, members := range []int{10, 100} {
			b.Run(fmt.Sprintf("%s/N=%d/t=50", name, members), func(b *testing.B) {
				f := benchFederation(b, 6, members, 50)
				for b.Loop() {
					if _, err := f.pool.latest.learn(f.pool.spec, kind{related: name == "multitask"}, nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func benchFederation(b *testing.B, dim, members, observed int) *federation {
	f := newFederation(b, gp.Matern52, dim, members)
	for i := range members {
		f.observe(b, i, hill(0.5), observed, smooth(dim))
	}
	return f
}
