package trained

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/fbo-node/fbo/examples/synthetic"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/lab/family"
	"github.com/fbo-node/fbo/task"
)

// Settings of the training that members do not tune.
const (
	momentum = 0.8
	epochs   = 20
)

// worst is the largest loss that counts, also for trainings that diverge. It is twice the loss of
// guessing among ten classes. Without this bound a few designs would determine the scale of the
// objective.
var worst = 2 * math.Log(10)

func syntheticKind() family.Kind {
	return family.Kind{
		Info: family.Info{
			Name:  "synthetic",
			About: "validation loss of logistic regression on each member's share of Synthetic(alpha, beta), to be minimised",
			Keys: []family.Key{
				{Name: "alpha", Type: family.Number, Default: "1", Low: 0, High: 100, Meaning: "variance of the mean of a member's true weights"},
				{Name: "beta", Type: family.Number, Default: "1", Low: 0, High: 100, Meaning: "variance of the mean of a member's inputs"},
				{Name: "samples", Type: family.Whole, Default: "400", Low: 20, High: 100000, Meaning: "of a member"},
				{Name: "majority", Type: family.Number, Default: "0.8", Low: 0.2, High: 1,
					Meaning: "largest share of one class in a member's training data; 1 for the data as published"},
				{Name: "trainings", Type: family.Whole, Default: "1", Low: 1, High: 100,
					Meaning: "whose losses are averaged; they differ in the order of the samples"},
				{Name: "search", Type: family.Whole, Default: "256", Low: 1, High: 1000000,
					Meaning: "trained designs of which the best is a member's optimum; others may be better by a few hundredths"},
				noiseKey(), newcomerKey(),
			},
		},
		Build:  buildSynthetic,
		Costly: true,
	}
}

func syntheticSpace() (*task.Space, error) {
	return task.NewSpace([]task.Parameter{
		{Name: "learning_rate", Kind: task.Float, Low: 1e-4, High: 1, Scale: task.Log},
		{Name: "l2", Kind: task.Float, Low: 1e-6, High: 1, Scale: task.Log},
		{Name: "batch_size", Kind: task.Int, Low: 4, High: 128, Scale: task.Log},
		{Name: "optimizer", Kind: task.Categorical, Choices: []string{"sgd", "adam"}},
	})
}

func buildSynthetic(v family.Values) (*task.Space, family.DrawFunc, error) {
	space, err := syntheticSpace()
	if err != nil {
		return nil, nil, err
	}
	return space, func(seed random.Seed, agents int) (family.Federation, error) {
		config := synthetic.Config{
			Seed:  seed.Stream("data", 0).Uint64(),
			Alpha: v.Number("alpha"), Beta: v.Number("beta"), Samples: v.Whole("samples"),
		}
		all, err := generate(config, agents, v.Number("majority"))
		if err != nil {
			return family.Federation{}, err
		}
		objectives := make([]objective, agents)
		for k, data := range all {
			l := &loss{data: data, orders: config.Seed, trainings: v.Whole("trainings")}
			objectives[k] = objective{l.at, func() float64 {
				return l.least(space, v.Whole("search"), seed.Derive("search", uint64(k)))
			}}
		}
		return assemble(space, task.Minimize, v, objectives), nil
	}, nil
}

// generate returns the data of the first nodes whose most frequent class has at most the share
// majority of the training data.
func generate(c synthetic.Config, agents int, majority float64) ([]*synthetic.Data, error) {
	const patience = 100 // largest number of nodes to try per agent
	var all []*synthetic.Data
	for len(all) < agents {
		if c.Node == patience*agents {
			return nil, fmt.Errorf("synthetic: only %d of %d nodes have classes of at most %g of their data; wanted: %d", len(all), c.Node, majority, agents)
		}
		data, err := synthetic.Generate(c)
		if err != nil {
			return nil, err
		}
		if largestClass(data) <= majority {
			all = append(all, data)
		}
		c.Node++
	}
	return all, nil
}

func largestClass(data *synthetic.Data) float64 {
	counts := make([]int, data.Classes)
	for _, class := range data.TrainY {
		counts[class]++
	}
	return float64(slices.Max(counts)) / float64(len(data.TrainY))
}

// loss is the objective of one member. It caches its values.
type loss struct {
	data      *synthetic.Data
	orders    uint64 // seed for the order of the samples
	trainings int
	known     cache
}

func (l *loss) at(d task.Design) float64 {
	return l.known.at(d, l.compute)
}

func (l *loss) compute(d task.Design) float64 {
	h := synthetic.Hyperparameters{
		LearningRate: d.Float("learning_rate"),
		L2:           d.Float("l2"),
		Momentum:     momentum,
		BatchSize:    int(d.Int("batch_size")),
		Epochs:       epochs,
		Optimizer:    d.Choice("optimizer"),
	}
	score, err := synthetic.Average(context.Background(), l.data, h, l.orders, l.trainings)
	switch {
	case errors.Is(err, synthetic.ErrDiverged):
		return worst
	case err != nil:
		panic(err) // the space has only what is accepted
	}
	return min(score.Loss, worst)
}

// least returns the smallest loss found by a search.
//
// The loss is not smooth, because each batch size has other batches. Over 12 members with 100
// samples, a search with 2048 designs finds losses that are lower than with 256 designs by 0.016 on
// average, and by at most 0.07.
func (l *loss) least(space *task.Space, count int, seed random.Seed) float64 {
	lowest := math.Inf(1)
	search(space, count, seed, func(d task.Design) bool {
		value := l.at(d)
		better := value < lowest
		lowest = min(value, lowest)
		return better
	})
	return lowest
}
