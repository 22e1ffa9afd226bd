package family

import (
	"fmt"
	"math"
	"testing"

	"github.com/fbo-node/fbo/acquisition"
	"github.com/fbo-node/fbo/random"
	"github.com/fbo-node/fbo/task"
)

// keeps tells whether a design keeps a member's constraints without noise.
func keeps(f Federation, m Member, d task.Design) bool {
	for i, c := range f.Constraints {
		if !c.Keeps(m.Constraints[i].Value(d)) {
			return false
		}
	}
	return true
}

// feasibleShare is that of dense points at which member k keeps all.
func feasibleShare(f Federation, k int) float64 {
	count := 0
	for u := range chunks(dense(densePoints, f.Space.Dim()), f.Space.Dim()) {
		if keeps(f, f.Members[k], f.Space.Decode(u)) {
			count++
		}
	}
	return float64(count) / densePoints
}

// bestOf is the best feasible value of random designs, half of them around the best
// so far, and the value that it is compared with: larger is better.
func bestOf(f Federation, m Member, n int, seed uint64) (found, stated float64) {
	rng := random.SeedOf(seed).Stream("random search", 0)
	found = math.Inf(-1)
	var top []float64
	for i := range n {
		u := acquisition.Sample(f.Space, rng)
		if top != nil && i%2 == 1 {
			width := math.Pow(10, -4*rng.Float64())
			for k := range u {
				u[k] = min(1, max(0, top[k]+width*rng.NormFloat64()))
			}
		}
		d := f.Space.Decode(u)
		if v := f.Goal.Sign() * m.Objective.Value(d); v > found && keeps(f, m, d) {
			found, top = v, u
		}
	}
	return found, f.Goal.Sign() * m.Objective.Optimum
}

// A random search finds no better feasible design than the stated optimum, and with
// two floats one nearly as good.
func TestFeasibleOptimaAreOptimal(t *testing.T) {
	for _, spec := range []string{"limits", "limits:c=2,e=1", "limits:c=3,feasible=0.05", "limits:d=6,c=2", "limits:d=3,border=yes,kernel=matern52", "limits:border=no,feasible=0.1", "gramacy", "gramacy:shift=0.25,clusters=3"} {
		f := mustDraw(t, spec, 3, 3)
		for k, m := range f.Members {
			found, stated := bestOf(f, m, 20_000, uint64(k))
			if !(found <= stated+1e-8) {
				t.Errorf("%s: member %d: random search finds %.9g, the stated optimum is %.9g", spec, k, found, stated)
			}
			if f.Space.Len() == 2 && found < stated-1e-3 {
				t.Errorf("%s: member %d: random search finds no more than %.9g, the stated optimum is %.9g", spec, k, found, stated)
			}
			fmt.Println(spec, k, found, stated, stated-found, feasibleShare(f, k))
		}
	}
}

func BenchmarkLimits(b *testing.B) {
	for _, spec := range []string{"limits", "limits:c=2", "limits:d=6", "limits:d=6,c=2", "limits:d=6,c=2,border=yes", "gramacy", "gp:d=6"} {
		b.Run(spec, func(b *testing.B) {
			seed := uint64(0)
			for b.Loop() {
				mustDraw(b, spec, seed, 4)
				seed++
			}
		})
	}
}
