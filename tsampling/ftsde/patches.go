package ftsde

import (
	"github.com/fbo-node/fbo/rff"
	"github.com/fbo-node/fbo/strategy/search"
)

// Function returns the function that has its own weights over the features in each cell. weights[i]
// belongs to cell i. The function is discontinuous at the borders of cells.
func (c Cells) Function(features *rff.Map, weights [][]float64) search.Function {
	p := patches{cells: c}
	for _, w := range weights {
		p.functions = append(p.functions, features.Function(w))
	}
	return p
}

type patches struct {
	cells     Cells
	functions []*rff.Function
}

func (p patches) Value(x []float64) float64 { return p.functions[p.cells.Of(x)].Value(x) }

func (p patches) Gradient(grad, x []float64) float64 {
	return p.functions[p.cells.Of(x)].Gradient(grad, x)
}
