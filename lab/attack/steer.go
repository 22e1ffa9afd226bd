package attack

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/task"
)

// steerAttacks returns attacks that lead the node: all its peers send shares that make one location
// after another look best, and the attacker guesses these locations as the node's designs. Exact
// means are also attacked without steering, with better results.
func steerAttacks() []Attack {
	kinds := []string{protocol.MeanKind, protocol.WeightsKind, protocol.DensityKind, protocol.NearOptimalKind, protocol.CandidateKind}
	return []Attack{{Name: "peers that lead the node to places of their choice", Kinds: kinds, Scene: Steer, Guess: led}}
}

func led(_ context.Context, seen *Seen, _ *rand.Rand) (Guess, error) {
	var g Guess
	// Each location stays while the node chooses about two designs, after its starting designs.
	chosen := max(seen.Observations-seen.Task.Strategy.InitialDesigns, 0)
	for i := range seen.Planted {
		if len(g.X) < (chosen+sharesPerLocation-1)/sharesPerLocation {
			g.X = append(g.X, seen.Planted[i])
		}
	}
	if len(g.X) > 0 {
		g.Note = sanitize.Count(len(g.X), "place") + " planted"
		if places := disclosedIn(seen.Disclosures[0]); len(places) > 0 {
			g.Best = places[len(places)-1]
		}
	}
	return g, nil
}

const (
	plantedScale = 3.0 // how much better a location is made to look than everything else, in standard deviations
)

// plant returns a share of this kind that makes location x look best.
func plant(t *task.Task, kind string, payload []byte, x []float64) ([]byte, error) {
	point := protocol.PointOf(t.Space, t.Space.Decode(slices.Clone(x)))
	towards := func() ([]float64, error) {
		features, err := surrogate.SharedMap(t)
		if err != nil {
			return nil, err
		}
		w := features.Phi(make([]float64, t.Surrogate.Features), x)
		for i := range w {
			w[i] *= plantedScale
		}
		return w, nil
	}
	value, _, err := decode(t, kind, payload)
	if err != nil {
		return nil, err
	}
	switch v := value.(type) {
	case protocol.Mean:
		if v.Values, err = towards(); err != nil {
			return nil, err
		}
		clear(v.ExplainedWeights)
		v.Explained = 0.95
		return v.Encode()
	case protocol.Weights:
		if v.Values, err = towards(); err != nil {
			return nil, err
		}
		return v.Encode()
	case protocol.Density:
		v.Components = []protocol.Component{{Weight: 1, Std: v.Components[0].Std, Center: point}}
		return v.Encode(t.Space)
	case protocol.NearOptimal:
		v.Point = point
		return v.Encode(t.Space)
	case protocol.Candidate:
		v.Point = point
		return v.Encode(t.Space, candidateRounds)
	}
	return payload, nil
}
