package acquisition_test

import (
	"context"
	"fmt"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/task"
)

// network is best with three layers, and better with the second solver than the first.
type network struct{}

func (network) Value(x []float64) float64 { return x[2] - (x[0]-0.3)*(x[0]-0.3) }

func (network) Gradient(grad, x []float64) float64 {
	grad[0], grad[1], grad[2] = -2*(x[0]-0.3), 0, 1
	return network{}.Value(x)
}

// A function of encoded designs is maximised over those that exist: with whole numbers and
// one choice each.
func Example() {
	space, err := task.NewSpace([]task.Parameter{
		{Name: "layers", Kind: task.Int, Low: 1, High: 10},
		{Name: "solver", Kind: task.Categorical, Choices: []string{"sgd", "adam"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	x, _, err := acquisition.Maximizer{Space: space}.Maximize(context.Background(), network{}, nil, random.SeedOf(1).Stream("maximise", 0))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(space.Decode(x))
	// Output:
	// layers=3 solver=adam
}
