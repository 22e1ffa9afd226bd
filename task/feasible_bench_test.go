package task_test

import (
	"fmt"
	"testing"

	"github.com/fbo-node/fbo/task"
)

// BenchmarkNewSpace measures the search for feasible designs: constraint sets that leave none, which
// NewSpace refuses after its last trial, and one that leaves few.
func BenchmarkNewSpace(b *testing.B) {
	var floats, mixed []task.Parameter
	for i := range 10 {
		floats = append(floats, task.Parameter{Name: fmt.Sprintf("x%d", i), Kind: task.Float, Low: 0, High: 1})
	}
	mixed = append(mixed, floats[:4]...)
	mixed = append(mixed,
		task.Parameter{Name: "n", Kind: task.Int, Low: 1, High: 1000, Scale: task.Log},
		task.Parameter{Name: "k", Kind: task.Int, Low: 0, High: 100},
		task.Parameter{Name: "c", Kind: task.Categorical, Choices: []string{"p", "q", "r"}},
		task.Parameter{Name: "t", Kind: task.Bool},
		task.Parameter{Name: "y", Kind: task.Float, Low: 1e-4, High: 1, Scale: task.Log, When: []task.Condition{task.Equals("c", task.ChoiceValue("p"))}})
	var held []string // constraints that all random designs satisfy
	for i := range 31 {
		held = append(held, fmt.Sprintf("x%d + x%d <= %d", i%10, (i+1)%10, 3+i))
	}
	var halves []string
	for i := range 10 {
		halves = append(halves, fmt.Sprintf("x%d <= 0.5", i), fmt.Sprintf("x%d * 2 <= x%d + 1", i, (i+1)%10))
	}
	for _, c := range []struct {
		name        string
		parameters  []task.Parameter
		constraints []string
		refused     bool
	}{
		{"one", floats, []string{"x0 + x1 > 3"}, true},
		{"last of 32", floats, append(held[:31:31], "x0 + x1 > 3"), true},
		{"halves", floats, append(halves[:20:20], "x0 + x1 > 3"), true},
		{"sum", floats, []string{"x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8 + x9 > 11"}, true},
		{"mixed", mixed, []string{"c in ['p', 'q'] or n > 10", "t ? x0 > 0.5 : n * k <= 1000", "max(x1, x2) < 1.5", "y <= 0.1", "x3 > 2 or x0 > x1 and x1 > x0"}, true},
		{"few", floats, []string{"x0 + x1 + x2 <= 0.3"}, false},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := task.NewSpace(c.parameters, c.constraints...); (err != nil) != c.refused {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkSettle measures what strategies pay for a point of a space with constraints.
func BenchmarkSettle(b *testing.B) {
	var parameters []task.Parameter
	var constraints []string
	for i := range 6 {
		parameters = append(parameters, task.Parameter{Name: fmt.Sprintf("x%d", i), Kind: task.Float, Low: 0, High: 1})
		constraints = append(constraints, fmt.Sprintf("x%d + x%d <= 1.9", i, (i+1)%6))
	}
	space, err := task.NewSpace(parameters, constraints...)
	if err != nil {
		b.Fatal(err)
	}
	u := []float64{0.1, 0.9, 0.3, 0.5, 0.2, 0.7}
	b.ReportAllocs()
	for b.Loop() {
		if !space.Settle(u) {
			b.Fatal("a feasible design is refused")
		}
	}
}
