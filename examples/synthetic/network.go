package synthetic

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/fbo-node/fbo/internal/random"
)

// Network is the size of a network with one hidden layer of rectified linear units.
type Network struct {
	Inputs int // it reads so many of the first inputs, 1 to Data.Dim
	Hidden int // units of the hidden layer, at least 1
}

// Multiplications returns the number of multiplications that one prediction among so many classes
// takes.
func (n Network) Multiplications(classes int) int { return n.Hidden * (n.Inputs + classes) }

// TrainNetwork fits a network as Train fits the logistic regression. Its first weights are random,
// by the seed, as those of He et al., ICCV 2015.
func TrainNetwork(ctx context.Context, d *Data, n Network, h Hyperparameters, seed uint64) (Score, error) {
	if n.Inputs < 1 || n.Inputs > d.Dim {
		return Score{}, fmt.Errorf("%d inputs are not in [1, %d]", n.Inputs, d.Dim)
	}
	if n.Hidden < 1 {
		return Score{}, fmt.Errorf("%d hidden units are below 1", n.Hidden)
	}
	return fit(ctx, d, newNetwork(n, d.Classes, random.SeedOf(seed).Stream("weights", 0)), h, seed)
}

// network holds the weights of both layers, each a model with a bias.
type network struct {
	weights       []float64 // those of both layers
	hidden, last  *model
	units, deltas []float64 // outputs of the hidden layer, and gradients there
}

func newNetwork(n Network, classes int, rng *rand.Rand) *network {
	first := n.Hidden * (n.Inputs + 1)
	w := &network{weights: make([]float64, first+classes*(n.Hidden+1)), units: make([]float64, n.Hidden), deltas: make([]float64, n.Hidden)}
	w.hidden = &model{classes: n.Hidden, dim: n.Inputs, parameters: w.weights[:first]}
	w.last = &model{classes: classes, dim: n.Hidden, parameters: w.weights[first:]}
	for _, layer := range []*model{w.hidden, w.last} {
		for c := range layer.classes {
			for j := range layer.dim {
				layer.row(c)[j] = rng.NormFloat64() * math.Sqrt(2/float64(layer.dim))
			}
		}
	}
	return w
}

func (w *network) flat() []float64 { return w.weights }

// scores fills dst with the outputs at x, and units with those of the hidden layer.
func (w *network) scores(dst, x []float64) {
	w.hidden.scores(w.units, x[:w.hidden.dim])
	for k, v := range w.units {
		w.units[k] = max(v, 0)
	}
	w.last.scores(dst, w.units)
}

// gradient is model.gradient for both layers.
func (w *network) gradient(grad []float64, rows []int, x [][]float64, y []int, l2 float64, scores []float64) float64 {
	clear(grad)
	first := len(w.hidden.parameters)
	ofHidden, ofLast := *w.hidden, *w.last
	ofHidden.parameters, ofLast.parameters = grad[:first], grad[first:]
	loss, scale := 0.0, 1/float64(len(rows))
	for _, r := range rows {
		w.scores(scores, x[r])
		loss -= scale * logProbability(scores, y[r])
		scores[y[r]]--
		clear(w.deltas)
		for c, s := range scores {
			s *= scale
			g, row := ofLast.row(c), w.last.row(c)
			for k, v := range w.units {
				g[k] += s * v
				w.deltas[k] += s * row[k]
			}
			g[w.last.dim] += s
		}
		for k, delta := range w.deltas {
			if w.units[k] <= 0 {
				continue
			}
			g := ofHidden.row(k)
			for j, v := range x[r][:w.hidden.dim] {
				g[j] += delta * v
			}
			g[w.hidden.dim] += delta
		}
	}
	return loss + w.hidden.decay(grad[:first], l2) + w.last.decay(grad[first:], l2)
}
