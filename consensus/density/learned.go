package density

import (
	"crypto/sha256"
	"math"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/exchange/feasibility"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/task"
)

// averaged is over how many designs a probability is averaged. Where a twentieth of the
// space is feasible and sharply bounded, that errs by a quarter, which moves the whole
// density and so prefers no design to another.
const averaged = 256

// learned is a density by its logarithm, relative to the uniform one on the designs once
// the level is taken off.
type learned struct {
	acquisition.Function
	level float64
}

// learn returns the density of the designs that a peer's labels tell to be feasible: the
// probability of being so, over its average at these designs. Its error says that the
// labels are of no use.
func learn(t *task.Task, p feasibility.Peer, designs [][]float64) (learned, error) {
	limit, err := p.Limit(t)
	if err != nil {
		return learned{}, err
	}
	l := learned{Function: acquisition.LogFeasibility(limit)}
	average := 0.0
	for _, x := range designs {
		average += math.Exp(l.Value(x)) / float64(len(designs))
	}
	l.level = math.Log(max(average, math.SmallestNonzeroFloat64))
	return l, nil
}

// uniform returns designs drawn uniformly, the same for all agents of the task.
func uniform(t *task.Task) [][]float64 {
	seed := random.Seed(sha256.Sum256(append([]byte("fbo average feasibility 1\x00"), t.ID().Bytes()...)))
	rng := seed.Stream("designs", 0)
	x := make([][]float64, averaged)
	for i := range x {
		x[i] = acquisition.Sample(t.Space, rng)
	}
	return x
}
