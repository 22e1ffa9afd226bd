package democmd

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fbo-node/fbo/examples/synthetic"
	"github.com/fbo-node/fbo/internal/cli/base"
)

// repeats is the number of trainings whose losses are averaged.
const repeats = 3

// Settings of the demo's trainings that the task does not tune.
const (
	momentum = 0.8
	epochs   = 20
)

// hyperparameters returns those of a design of the demo's task.
func hyperparameters(design []byte) (synthetic.Hyperparameters, error) {
	var p struct {
		LearningRate float64 `json:"learning_rate"`
		L2           float64 `json:"l2"`
		BatchSize    int     `json:"batch_size"`
		Optimizer    string  `json:"optimizer"`
	}
	p.BatchSize = 20
	err := json.Unmarshal(design, &p)
	return synthetic.Hyperparameters{LearningRate: p.LearningRate, L2: p.L2, BatchSize: p.BatchSize, Optimizer: p.Optimizer, Momentum: momentum, Epochs: epochs}, err
}

// NewTrain returns the command `train`, which is the objective of the demo. `fbo-node run` can
// evaluate it like any other command.
func NewTrain() *cobra.Command {
	var c synthetic.Config
	var h synthetic.Hyperparameters
	var times int
	var majority float64
	var standardize bool
	command := &cobra.Command{
		Use:   "train",
		Short: "Train the demo's classifier on one node's own data and print its validation loss",
		Long: `Train a logistic regression by stochastic gradient descent on the data of one node
of the synthetic(α, β) family, and print the cross-entropy on its validation part.
The demo evaluates this command; it is as good an example for run.`,
		Args: base.Exactly(0),
		RunE: func(command *cobra.Command, _ []string) error {
			data, err := synthetic.GenerateMixed(c, majority)
			if err != nil {
				return base.BadUsage(err)
			}
			if standardize {
				data.Standardize()
			}
			score, err := synthetic.Average(command.Context(), data, h, c.Seed, times)
			if err != nil {
				return err
			}
			fmt.Fprintln(command.OutOrStdout(), score.Loss)
			return nil
		},
	}
	flags := command.Flags()
	flags.Uint64Var(&c.Seed, "seed", 1, "seed of the data and of the order of samples")
	flags.IntVar(&c.Node, "node", 0, "whose data: 0, 1, …")
	flags.Float64Var(&c.Alpha, "alpha", 1, "variance of the nodes' model offsets")
	flags.Float64Var(&c.Beta, "beta", 1, "how much the nodes' inputs differ")
	flags.Float64Var(&c.Common, "common", 0, "how much of the data's distribution all nodes have in common, 0 to 1")
	flags.IntVar(&c.Samples, "samples", 400, "samples of the node, 30 % of them for validation")
	flags.Float64Var(&majority, "majority", 1, "count only nodes with at most this share of one class")
	flags.BoolVar(&standardize, "standardize", false, "shift and scale each input to mean 0 and variance 1")
	flags.IntVar(&times, "repeats", repeats, "trainings whose losses are averaged")
	flags.Float64Var(&h.LearningRate, "learning-rate", 0.1, "step length")
	flags.Float64Var(&h.L2, "l2", 0, "weight of the squared norm")
	flags.Float64Var(&h.Momentum, "momentum", 0, "in [0, 1)")
	flags.IntVar(&h.BatchSize, "batch-size", 20, "samples per step")
	flags.IntVar(&h.Epochs, "epochs", epochs, "passes over the training data")
	flags.StringVar(&h.Optimizer, "optimizer", "sgd", "sgd, nesterov or adam")
	return command
}
