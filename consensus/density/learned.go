package density

import (
	"crypto/sha256"
	"math"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/exchange/feasibility"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/task"
)

// averaged is the number of designs over which a density is averaged to normalise it. If a
// twentieth of the space is feasible with a sharp boundary, the relative error of the average is a
// quarter. The error scales the whole density, so it prefers no design to another.
const averaged = 256

// learned is the logarithm of an unnormalised density, minus level: the logarithm of the density
// relative to the uniform density on the designs.
type learned struct {
	unnormalised acquisition.Function
	level        float64
}

var _ acquisition.Function = learned{}

// Value implements acquisition.Function.
func (l learned) Value(x []float64) float64 { return l.unnormalised.Value(x) - l.level }

// Gradient implements acquisition.Function.
func (l learned) Gradient(grad, x []float64) float64 {
	return l.unnormalised.Gradient(grad, x) - l.level
}

// learn returns the density of feasible designs by a peer's labels: the probability of feasibility,
// divided by its average over the given designs. It returns an error if the labels are unusable.
func learn(t *task.Task, p feasibility.Peer, designs [][]float64) (learned, error) {
	limit, err := p.Limit(t)
	if err != nil {
		return learned{}, err
	}
	l := learned{unnormalised: acquisition.LogFeasibility(limit)}
	average := 0.0
	for _, x := range designs {
		average += math.Exp(l.unnormalised.Value(x)) / float64(len(designs))
	}
	l.level = math.Log(max(average, math.SmallestNonzeroFloat64))
	return l, nil
}

// uniform returns uniformly distributed designs, encoded, which are the same for all agents of the
// task.
func uniform(t *task.Task) [][]float64 {
	seed := random.Seed(sha256.Sum256(append([]byte("fbo average feasibility 1\x00"), t.ID().Bytes()...)))
	rng := seed.Stream("designs", 0)
	x := make([][]float64, averaged)
	for i := range x {
		x[i] = acquisition.Sample(t.Space, rng)
	}
	return x
}
