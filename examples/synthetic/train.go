package synthetic

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/fbo-node/fbo/internal/random"
)

// Hyperparameters say how Train fits the model.
type Hyperparameters struct {
	LearningRate float64 // length of the first step, above 0; falls linearly to 0
	L2           float64 // weight of half the squared norm of the weights, 0 or more
	Momentum     float64 // in [0, 1); the decay of the mean gradient with "adam"
	BatchSize    int     // samples per step, at least 1
	Epochs       int     // passes over the training data, at least 1
	// Optimizer is "sgd" (heavy ball: the default), "nesterov" or "adam".
	Optimizer string
}

func (h Hyperparameters) validate() (Hyperparameters, error) {
	if h.Optimizer == "" {
		h.Optimizer = "sgd"
	}
	// The negations reject NaN as well.
	switch {
	case !(h.LearningRate > 0 && !math.IsInf(h.LearningRate, 1)):
		return h, fmt.Errorf("learning rate %g is not above 0", h.LearningRate)
	case !(h.L2 >= 0 && !math.IsInf(h.L2, 1)):
		return h, fmt.Errorf("l2 %g is below 0", h.L2)
	case !(h.Momentum >= 0 && h.Momentum < 1):
		return h, fmt.Errorf("momentum %g is not in [0, 1)", h.Momentum)
	case h.BatchSize < 1:
		return h, fmt.Errorf("batch size %d is below 1", h.BatchSize)
	case h.Epochs < 1:
		return h, fmt.Errorf("%d epochs are below 1", h.Epochs)
	case h.Optimizer != "sgd" && h.Optimizer != "nesterov" && h.Optimizer != "adam":
		return h, fmt.Errorf("optimizer %q is none of sgd, nesterov, adam", h.Optimizer)
	}
	return h, nil
}

// Score is how well a trained model does on the validation data.
type Score struct {
	Loss     float64 // mean cross-entropy, natural logarithm; 0 is perfect
	Accuracy float64 // share of samples whose class is the most probable one
}

// ErrDiverged is returned by Train when the loss is no longer finite.
var ErrDiverged = errors.New("training diverged")

// Train fits the model to the training data, from zero, and scores it on the
// validation data. The seed orders the samples, which moves the loss; Average
// evens that out. Train ends early, with the
// context's cause, when ctx is done.
func Train(ctx context.Context, d *Data, h Hyperparameters, seed uint64) (Score, error) {
	return fit(ctx, d, newModel(d.Classes, d.Dim), h, seed)
}

func fit(ctx context.Context, d *Data, m learner, h Hyperparameters, seed uint64) (Score, error) {
	h, err := h.validate()
	if err != nil {
		return Score{}, err
	}
	rng := random.SeedOf(seed).Stream("batches", 0)
	step := newStepper(h, len(m.flat()))
	grad := make([]float64, len(m.flat()))
	scores := make([]float64, d.Classes)
	total := h.Epochs * ((len(d.TrainX) + h.BatchSize - 1) / h.BatchSize)
	for range h.Epochs {
		if err := context.Cause(ctx); err != nil {
			return Score{}, err
		}
		order := rng.Perm(len(d.TrainX))
		for start := 0; start < len(order); start += h.BatchSize {
			batch := order[start:min(start+h.BatchSize, len(order))]
			if loss := m.gradient(grad, batch, d.TrainX, d.TrainY, h.L2, scores); !finite(loss) {
				return Score{}, ErrDiverged
			}
			step.apply(m.flat(), grad, h.LearningRate*(1-float64(step.done)/float64(total)))
		}
	}
	score := scoreOf(m, d.Classes, d.ValidX, d.ValidY)
	if !finite(score.Loss) {
		return Score{}, ErrDiverged
	}
	return score, nil
}

// Average returns the mean score of several trainings that differ in the order of the
// samples; times is at least 1. If one of them diverges, the error is ErrDiverged.
func Average(ctx context.Context, d *Data, h Hyperparameters, seed uint64, times int) (Score, error) {
	if times < 1 {
		return Score{}, fmt.Errorf("%d trainings are below 1", times)
	}
	var mean Score
	for i := range times {
		score, err := Train(ctx, d, h, seed+uint64(i))
		if err != nil {
			return Score{}, err
		}
		mean.Loss += score.Loss / float64(times)
		mean.Accuracy += score.Accuracy / float64(times)
	}
	return mean, nil
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// stepper turns gradients into steps.
type stepper struct {
	h        Hyperparameters
	velocity []float64 // sum or mean of past gradients
	square   []float64 // mean of past squared gradients, for adam
	done     int       // steps
}

func newStepper(h Hyperparameters, parameters int) *stepper {
	return &stepper{h: h, velocity: make([]float64, parameters), square: make([]float64, parameters)}
}

// apply moves the parameters one step of length rate against the gradient.
func (s *stepper) apply(parameters, grad []float64, rate float64) {
	s.done++
	momentum := s.h.Momentum
	switch s.h.Optimizer {
	case "sgd": // Polyak's heavy ball
		for i, g := range grad {
			s.velocity[i] = momentum*s.velocity[i] + g
			parameters[i] -= rate * s.velocity[i]
		}
	case "nesterov": // in the form of Sutskever et al., ICML 2013, with the gradient at the look-ahead point
		for i, g := range grad {
			s.velocity[i] = momentum*s.velocity[i] + g
			parameters[i] -= rate * (g + momentum*s.velocity[i])
		}
	case "adam": // Kingma and Ba, ICLR 2015, algorithm 1, with beta1 = momentum
		const beta2, epsilon = 0.999, 1e-8
		meanScale := 1 / (1 - math.Pow(momentum, float64(s.done)))
		squareScale := 1 / (1 - math.Pow(beta2, float64(s.done)))
		for i, g := range grad {
			s.velocity[i] = momentum*s.velocity[i] + (1-momentum)*g
			s.square[i] = beta2*s.square[i] + (1-beta2)*g*g
			parameters[i] -= rate * s.velocity[i] * meanScale / (math.Sqrt(s.square[i]*squareScale) + epsilon)
		}
	}
}
