package baseline

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/internal/surrogate/multitask"
)

// Units are the units in which the outputs of different members are compared.
type Units int

const (
	// OwnUnits standardises each member's outputs separately, as the members do themselves.
	// Functions may then differ in scale and level. But members with different designs standardise
	// the same value to different numbers, and so differ even if they have the same function.
	OwnUnits Units = iota
	// CommonUnits standardises all members' outputs together. It works best if members measure the
	// same quantity, and misleads if they do not.
	CommonUnits

	unitsCount
)

// observation is one standardised observation of a member.
type observation struct {
	member int
	x      []float64 // point in the form of pooledSpec
	y      float64
}

type observations []observation

// gather returns the observations of all members, in the order of members.
func gather(members []*known, k kind) (observations, error) {
	var all observations
	var together surrogate.Observations
	for _, p := range present(members) {
		for i, x := range p.x {
			if k.related {
				x = slices.Concat(x, multitask.Equidistant(p.member, len(members)))
			}
			all = append(all, observation{p.member, x, p.y[i]})
			together.X, together.Y = append(together.X, x), append(together.Y, p.raw[i])
		}
	}
	if k.units == CommonUnits {
		y, _, err := surrogate.Standardise(together)
		if err != nil {
			return nil, err
		}
		for i := range all {
			all[i].y = y[i]
		}
	}
	return all, nil
}

func (o observations) points() (x [][]float64, y []float64) {
	for _, one := range o {
		x, y = append(x, one.x), append(y, one.y)
	}
	return x, y
}

// The largest numbers of observations in a process of all members: in total, of the agent itself,
// and of the best observations of other members.
const (
	maxPooled  = 600
	maxOwn     = 500
	bestOthers = 100
)

// choose selects the observations of member self, the best of the other members', and from the rest
// as many as fit, at random.
func (o observations) choose(self int, rng *rand.Rand) observations {
	var own, others observations
	for _, one := range o {
		if one.member == self {
			own = append(own, one)
		} else {
			others = append(others, one)
		}
	}
	own = own.atRandom(maxOwn, rng)
	slices.SortStableFunc(others, func(a, b observation) int { return cmp.Compare(b.y, a.y) })
	best := min(bestOthers, len(others))
	rest := others[best:].atRandom(maxPooled-len(own)-best, rng)
	return slices.Concat(own, others[:best], rest)
}

// atRandom returns at most this many of the observations, selected at random.
func (o observations) atRandom(most int, rng *rand.Rand) observations {
	if len(o) <= most {
		return o
	}
	var some observations
	for _, i := range rng.Perm(len(o))[:most] {
		some = append(some, o[i])
	}
	return some
}
