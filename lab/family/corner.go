package family

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/task"
)

const (
	cornerInts    = 8 // number of values of an int
	cornerChoices = 4 // number of choices of a categorical
	cornerPoints  = 4096
)

func cornerKind() Kind {
	keys := []Key{
		{Name: "d", Type: Whole, Default: "2", Low: 1, High: 20, Meaning: "number of floats"},
		{Name: "ints", Type: Whole, Default: "0", Low: 0, High: 10, Meaning: fmt.Sprintf("number of ints of %d values", cornerInts)},
		{Name: "choices", Type: Whole, Default: "0", Low: 0, High: 10, Meaning: fmt.Sprintf("number of categoricals of %d choices", cornerChoices)},
		{Name: "inside", Type: Whole, Default: "0", Low: 0, High: 20,
			Meaning: "number of floats whose best value lies within their range, so that the optimum is on an edge or a face"},
		{Name: "decoy", Type: Number, Default: "0", Low: 0, High: 10,
			Meaning: "by how much the opposite corner, a minimum too, is worse, where the effect of one parameter is 0.25 to 1.25; 0 for one corner only"},
		{Name: "shift", Type: Number, Default: "0.05", Low: 0, High: 0.5,
			Meaning: "each member's effects differ by up to this part, and its best values inside by up to this part of the range"},
		noiseKey("that of the objective over its space"),
	}
	return Kind{
		Info: Info{
			Name:  "corner",
			About: "functions that fall along every parameter to a corner of the space, to be minimised",
			Keys:  append(keys, compositionKeys()...),
		},
		Build: buildCorner,
	}
}

func buildCorner(v Values) (*task.Space, DrawFunc, error) {
	c := corner{inside: v.Whole("inside"), decoy: v.Number("decoy"), shift: v.Number("shift")}
	if c.inside > v.Whole("d") {
		return nil, nil, errors.New("key inside is larger than d; accepted: 0 to d")
	}
	var err error
	if c.space, err = cornerSpace(v.Whole("d"), v.Whole("ints"), v.Whole("choices")); err != nil {
		return nil, nil, err
	}
	return build(v, c.space, func(seed random.Seed) (source, error) {
		return source{space: c.space, goal: task.Minimize, noise: v.Number("noise"), member: c.members(seed)}, nil
	})
}

func cornerSpace(floats, ints, choices int) (*task.Space, error) {
	var parameters []task.Parameter
	for i := range floats {
		parameters = append(parameters, task.Parameter{Name: fmt.Sprintf("x%d", i+1), Kind: task.Float, Low: 0, High: 1})
	}
	for i := range ints {
		parameters = append(parameters, task.Parameter{Name: fmt.Sprintf("n%d", i+1), Kind: task.Int, Low: 1, High: cornerInts})
	}
	for i := range choices {
		p := task.Parameter{Name: fmt.Sprintf("c%d", i+1), Kind: task.Categorical}
		for choice := range cornerChoices {
			p.Choices = append(p.Choices, string(rune('a'+choice)))
		}
		parameters = append(parameters, p)
	}
	return task.NewSpace(parameters)
}

// corner holds the settings that all federations of a family share.
type corner struct {
	space  *task.Space
	inside int
	decoy  float64
	shift  float64
}

// slope is the effect of one parameter, size·t·(1+bend·t)/(1+bend), where t, 0 to 1, is the
// distance of the parameter from its best value.
type slope struct {
	block      task.Block
	size, bend float64
	high       bool                   // whether the best value is the largest
	best       float64                // best value if it is inside the range; NaN if it is an end of the range
	far        [cornerChoices]float64 // distance t of each choice
}

func (c corner) slopes(rng *rand.Rand) []slope {
	all := make([]slope, c.space.Len())
	for i, block := range c.space.Blocks() {
		s := slope{block: block, size: 0.25 + rng.Float64(), bend: 3 * rng.Float64(), high: rng.IntN(2) == 1, best: math.NaN()}
		if i < c.inside {
			s.best = 0.2 + 0.6*rng.Float64()
		}
		for choice := range s.far {
			s.far[choice] = 0.2 + 0.8*rng.Float64()
		}
		s.far[rng.IntN(cornerChoices)] = 0
		all[i] = s
	}
	return all
}

// distance returns t.
func (s *slope) distance(u []float64) float64 {
	at := u[s.block.Start]
	switch {
	case s.block.Kind == task.Categorical:
		t := 0.0
		for choice, far := range s.far {
			t += far * u[s.block.Start+choice]
		}
		return t
	case s.block.Kind == task.Int: // the centres of the first and the last value have the distances 0 and 1
		at = (at*cornerInts - 0.5) / (cornerInts - 1)
	}
	if s.high {
		return 1 - at
	}
	return at
}

func (s *slope) at(t float64) float64 { return s.size * t * (1 + s.bend*t) / (1 + s.bend) }

// value returns the function at u: 0 in the best corner, and above 0 elsewhere.
func (c corner) value(slopes []slope, u []float64) float64 {
	inner, here, opposite := 0.0, 0.0, c.decoy
	for i := range slopes {
		s := &slopes[i]
		if !math.IsNaN(s.best) {
			off := 2 * (u[s.block.Start] - s.best)
			inner += s.size * off * off
			continue
		}
		t := s.distance(u)
		here += s.at(t)
		opposite += s.at(max(1-t, 0))
	}
	if c.decoy == 0 {
		return inner + here
	}
	return inner + min(here, opposite)
}

// members returns the field member of a source. Each cluster has its own best corner.
func (c corner) members(seed random.Seed) func(cluster, k int) function {
	return func(cluster, k int) function {
		slopes := c.slopes(seed.Stream("slopes", uint64(cluster)))
		deviation := c.deviation(slopes)
		rng := seed.Stream("own", uint64(k))
		for i := range slopes {
			slopes[i].size *= 1 + c.shift*(2*rng.Float64()-1)
			slopes[i].best = min(max(slopes[i].best+c.shift*(2*rng.Float64()-1), 0), 1)
		}
		return function{
			value:   func(u []float64) float64 { return c.value(slopes, u) / deviation },
			optimum: func() float64 { return 0 },
		}
	}
}

// deviation returns the standard deviation of the function over the space, with an error of about 2
// %.
func (c corner) deviation(slopes []slope) float64 {
	var count, mean, square float64
	rng := random.SeedOf(0).Stream("deviation", 0)
	for range cornerPoints {
		u := acquisition.Sample(c.space, rng)
		value := c.value(slopes, u)
		count++
		off := value - mean
		mean += off / count
		square += off * (value - mean)
	}
	return math.Sqrt(square / count)
}
