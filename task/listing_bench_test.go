package task_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/task"
)

// BenchmarkDecodeListed compares what Decode does for any point, by a tree up to 8
// coordinates, with a search of all designs; listed is what maximisers decode.
func BenchmarkDecodeListed(b *testing.B) {
	for _, size := range []struct{ designs, dim int }{{2_500, 2}, {100_000, 2}, {100_000, 8}, {50_000, 40}} {
		var parameters []task.Parameter
		for i := range size.dim {
			parameters = append(parameters, task.Parameter{Name: fmt.Sprintf("x%d", i), Kind: task.Float, Low: 0, High: 1})
		}
		rng := random.SeedOf(1).Stream("list", 0)
		rows := make([][]task.Value, size.designs)
		at := make([]float64, 0, size.designs*size.dim)
		for i := range rows {
			for range parameters {
				x := rng.Float64()
				rows[i], at = append(rows[i], task.FloatValue(x)), append(at, x)
			}
		}
		space, err := task.NewListed(parameters, rows, nil)
		if err != nil {
			b.Fatal(err)
		}
		points := make([][]float64, 64)
		for i := range points {
			points[i] = make([]float64, size.dim)
			for k := range points[i] {
				points[i][k] = rng.Float64()
			}
		}
		name := fmt.Sprintf("%d/%d/", size.designs, size.dim)
		b.Run(name+"listed", func(b *testing.B) {
			for n := range b.N {
				space.Decode(at[n%size.designs*size.dim:][:size.dim])
			}
		})
		space.Decode(points[0]) // makes the tree
		b.Run(name+"point", func(b *testing.B) {
			for n := range b.N {
				space.Decode(points[n%len(points)])
			}
		})
		b.Run(name+"all", func(b *testing.B) {
			for n := range b.N {
				u, least := points[n%len(points)], math.Inf(1)
				for i := range size.designs {
					sum := 0.0
					for k, x := range at[i*size.dim:][:size.dim] {
						sum += (u[k] - x) * (u[k] - x)
					}
					least = min(least, sum)
				}
			}
		})
	}
}
