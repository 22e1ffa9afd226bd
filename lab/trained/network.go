package trained

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/fbo-node/fbo/examples/synthetic"
	"github.com/fbo-node/fbo/internal/pareto"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/lab/family"
	"github.com/fbo-node/fbo/task"
)

// The worst values of interest: the error of guessing among ten classes is 0.9, and the largest
// network takes 10^3.65 multiplications.
const (
	errorReference = 0.8
	costReference  = 4
)

func networkKind() family.Kind {
	return family.Kind{
		Info: family.Info{
			Name: "network",
			About: "two objectives of a neural network on each member's share of Synthetic(1, 1), to be minimised: validation error, and common logarithm of " +
				"the multiplications of one prediction; the regret is the missing part of the largest hypervolume found",
			Keys: []family.Key{
				{Name: "common", Type: family.Number, Default: "0", Low: 0, High: 1,
					Meaning: "fraction of the variance of the true weights that members share; 1: members differ by their samples only"},
				{Name: "samples", Type: family.Whole, Default: "1000", Low: 20, High: 100000,
					Meaning: "of a member, a fifth for training; the others make the error a smooth function"},
				{Name: "trainings", Type: family.Whole, Default: "3", Low: 1, High: 100,
					Meaning: "whose errors are averaged; they differ in the first weights and the order of the samples"},
				{Name: "search", Type: family.Whole, Default: "512", Low: 1, High: 1000000,
					Meaning: "trained designs whose front has a member's largest hypervolume; other fronts may have more by a few hundredths"},
				noiseKey(), newcomerKey(),
			},
		},
		Build:      buildNetwork,
		Objectives: func(family.Values) []task.ObjectiveGoal { return networkGoals() },
		Costly:     true,
	}
}

func networkGoals() []task.ObjectiveGoal {
	return []task.ObjectiveGoal{
		{Name: "error", Goal: task.Minimize, Reference: new(float64(errorReference))},
		{Name: "log_multiplications", Goal: task.Minimize, Reference: new(float64(costReference))},
	}
}

func networkSpace() (*task.Space, error) {
	return task.NewSpace([]task.Parameter{
		{Name: "inputs", Kind: task.Int, Low: 1, High: 60, Scale: task.Log},
		{Name: "hidden", Kind: task.Int, Low: 1, High: 64, Scale: task.Log},
		{Name: "learning_rate", Kind: task.Float, Low: 1e-4, High: 1, Scale: task.Log},
		{Name: "l2", Kind: task.Float, Low: 1e-6, High: 1, Scale: task.Log},
		{Name: "batch_size", Kind: task.Int, Low: 4, High: 128, Scale: task.Log},
	})
}

func buildNetwork(v family.Values) (*task.Space, family.DrawFunc, error) {
	space, err := networkSpace()
	if err != nil {
		return nil, nil, err
	}
	return space, func(seed random.Seed, agents int) (family.Federation, error) {
		config := synthetic.Config{
			Seed:  seed.Stream("data", 0).Uint64(),
			Alpha: 1, Beta: 1, Common: v.Number("common"), Samples: v.Whole("samples"),
		}
		all, err := generate(config, agents, 0.8)
		if err != nil {
			return family.Federation{}, err
		}
		members, objectives := make([]*network, agents), make([]objective, agents)
		for k, data := range all {
			members[k] = &network{data: forValidation(data), seed: config.Seed, trainings: v.Whole("trainings")}
			objectives[k] = objective{members[k].error, func() float64 {
				return members[k].hypervolume(space, v.Whole("search"), seed.Derive("search", uint64(k)))
			}}
		}
		f := assemble(space, task.Minimize, v, objectives)
		f.Objectives = networkGoals()
		for k, n := range members {
			m := &f.Members[k]
			m.Further = []family.Measure{{Value: n.cost, Noise: v.Number("noise")}}
			m.Hypervolume, m.Objective.Optimum, m.Objective.Deviation = m.Objective.Optimum, 0, m.Objective.Optimum
		}
		return f, nil
	}, nil
}

// forValidation returns data with a fifth of the samples for training.
func forValidation(d *synthetic.Data) *synthetic.Data {
	moved := *d
	n := max((len(d.TrainX)+len(d.ValidX))/5, 1)
	moved.TrainX, moved.TrainY = d.TrainX[:n], d.TrainY[:n]
	moved.ValidX, moved.ValidY = slices.Concat(d.ValidX, d.TrainX[n:]), slices.Concat(d.ValidY, d.TrainY[n:])
	return &moved
}

// network holds the objectives of one member. It caches errors.
type network struct {
	data      *synthetic.Data
	seed      uint64 // of the first training, for its first weights and the order of the samples
	trainings int
	known     cache
}

func sizeOf(d task.Design) synthetic.Network {
	return synthetic.Network{Inputs: int(d.Int("inputs")), Hidden: int(d.Int("hidden"))}
}

// cost returns the common logarithm of the multiplications of one prediction.
func (n *network) cost(d task.Design) float64 {
	return math.Log10(float64(sizeOf(d).Multiplications(n.data.Classes)))
}

// error returns the part of the validation samples with a wrong prediction, 1 if a
// training diverged.
func (n *network) error(d task.Design) float64 {
	return n.known.at(d, n.compute)
}

func (n *network) compute(d task.Design) float64 {
	h := synthetic.Hyperparameters{
		LearningRate: d.Float("learning_rate"), L2: d.Float("l2"), Momentum: momentum,
		BatchSize: int(d.Int("batch_size")), Epochs: epochs,
	}
	mean := 0.0
	for i := range n.trainings {
		score, err := synthetic.TrainNetwork(context.Background(), n.data, sizeOf(d), h, n.seed+uint64(i))
		switch {
		case errors.Is(err, synthetic.ErrDiverged):
			return 1
		case err != nil:
			panic(err) // the space has only what is accepted
		}
		mean += (1 - score.Accuracy) / float64(n.trainings)
	}
	return mean
}

// hypervolume returns that of the front of a search. Its second half is near random designs of the
// front so far.
func (n *network) hypervolume(space *task.Space, count int, seed random.Seed) float64 {
	var designs, front [][]float64 // the front's designs, and its negated objectives
	add := func(u []float64) {
		d := space.Decode(u)
		p := []float64{-n.error(d), -n.cost(d)}
		if slices.ContainsFunc(front, func(q []float64) bool { return slices.Equal(p, q) || pareto.Dominates(q, p) }) {
			return
		}
		designs, front = append(designs, u), append(front, p)
		var kept, values [][]float64
		for _, i := range pareto.Front(front) {
			kept, values = append(kept, designs[i]), append(values, front[i])
		}
		designs, front = kept, values
	}
	rng, wide := seed.Stream("designs", 0), spread(count)
	for _, u := range latin(space, wide, rng) {
		add(u)
	}
	for i := range count - wide {
		add(neighbour(space, designs[rng.IntN(len(designs))], width(i, count-wide), rng))
	}
	return pareto.Hypervolume(front, []float64{-errorReference, -costReference})
}
