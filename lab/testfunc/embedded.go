package testfunc

import (
	"fmt"

	"github.com/fbo-node/fbo/task"
)

// Embedded returns f as a function of d parameters: those of f come first, floats in [0, 1] without effect
// follow. It panics if f has more than d parameters. Such functions test whether a model finds the few
// parameters that matter (Wang et al., "Bayesian optimization in a billion dimensions via random embeddings", 2016).
func Embedded(f Function, d int) Function {
	n := f.Space.Len()
	if n > d {
		panic(fmt.Sprintf("testfunc: %s has %d parameters, expected at most %d", f.Name, n, d))
	}
	parameters := f.Space.Parameters()
	for i := n; i < d; i++ {
		parameters = append(parameters, task.Parameter{Name: fmt.Sprintf("free%d", i+1), Kind: task.Float, High: 1})
	}
	g := f
	g.Name = fmt.Sprintf("%sin%d", f.Name, d)
	g.Space = mustSpace(parameters)
	g.Value = func(x []float64) float64 { return f.Value(x[:n]) }
	g.Minimizers = nil
	for _, m := range f.Minimizers {
		g.Minimizers = append(g.Minimizers, append(m[:n:n], filled(d-n, 0.5)...))
	}
	return g
}
