package experiment

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/lab/family"
	"github.com/fbo-node/fbo/task"
)

// adversariesKey and attackKey are settings of strategies: the number of adversaries that join the
// federation, and what they share. They belong to the experiment and not to the task, so honest
// agents are the same as without adversaries.
const (
	adversariesKey = "adversaries"
	attackKey      = "attack"
	maxAdversaries = 100
)

// Contents of adversaries' shares. With the first three their shares are forged. With the others
// they play the strategy as honest agents do, with an objective made of an honest one's.
const (
	attackRandom   = "random"   // weights of the prior, random designs
	attackCorner   = "corner"   // weights of the prior, always the same design
	attackExtreme  = "extreme"  // the largest numbers that shares can have, and that design
	attackReversed = "reversed" // the best is the worst
	attackShifted  = "shifted"  // all is elsewhere by half of each parameter's range
	attackDecoy    = "decoy"    // all is true, but that one of the worst places is the best
)

// Attacks returns the values of the key attack.
func Attacks() []string {
	return []string{attackRandom, attackCorner, attackExtreme, attackReversed, attackShifted, attackDecoy}
}

func attackOf(s Spec) string { return cmp.Or(s.setting(attackKey), attackRandom) }

// adversariesOf returns the number of adversaries.
func adversariesOf(s Spec) int {
	n, _ := strconv.Atoi(s.setting(adversariesKey)) // checkAdversaries has read it
	return n
}

func (p Plan) checkAdversaries(s Spec) error {
	text := s.setting(adversariesKey)
	switch n, err := strconv.Atoi(text); {
	case text == "" && !s.has(attackKey):
		return nil
	case text == "":
		return fmt.Errorf("%s says what adversaries share, and there are none; accepted with it: %s=1 to %d", attackKey, adversariesKey, maxAdversaries)
	case err != nil || n < 1 || n > maxAdversaries:
		return fmt.Errorf("%s must be a whole number from 1 to %d, not %q", adversariesKey, maxAdversaries, text)
	case !slices.Contains(Attacks(), attackOf(s)):
		return fmt.Errorf("%s must be one of %s, not %q", attackKey, strings.Join(Attacks(), ", "), attackOf(s))
	case p.needsRoster(s):
		return fmt.Errorf("%s join the agents of a federation, and who is on a roster is fixed; accepted are strategies without one", adversariesKey)
	case p.alone(s):
		return fmt.Errorf("%s have no effect on a strategy that uses no shares of peers", adversariesKey)
	}
	return nil
}

// withAdversaries returns the federation with the adversaries of a spec after its members. Each
// attacks with the objective of one of those that count, in turn.
func (f *federation) withAdversaries(s Spec) *federation {
	n := adversariesOf(s)
	if n == 0 {
		return f
	}
	var victims []int
	for i, m := range f.Members {
		if m.Counts {
			victims = append(victims, i)
		}
	}
	joined := *f
	joined.Members = slices.Clone(f.Members)
	for k := range n {
		victim := victims[k%len(victims)]
		joined.Members = append(joined.Members, f.adversary(attackOf(s), victim))
	}
	return &joined
}

func (f *federation) adversary(attack string, victim int) family.Member {
	m := f.Members[victim]
	m.Counts, m.Late, m.Name = false, false, ""
	space, honest := cmp.Or(m.Space, f.Space), m.Objective.Value
	switch attack {
	case attackRandom, attackCorner, attackExtreme:
		m.Forged, m.Corner, m.Extreme = true, attack == attackCorner, attack == attackExtreme
	case attackReversed:
		m.Objective.Value = func(d task.Design) float64 { return -honest(d) }
	case attackShifted:
		m.Objective.Value = func(d task.Design) float64 { return honest(shifted(space, d)) }
	case attackDecoy:
		m.Objective.Value = decoy(space, f.Goal, honest, f.seed.Derive("decoy", uint64(victim)))
	}
	return m
}

// shifted is the design that lies half of the range away in each parameter, and from the
// upper half in the lower.
func shifted(space *task.Space, d task.Design) task.Design {
	u := space.Encode(d)
	for _, block := range space.Blocks() {
		if part := u[block.Start : block.Start+block.Len]; block.Kind == task.Categorical {
			chosen := slices.Index(part, 1)
			clear(part)
			part[(chosen+(block.Len+1)/2)%block.Len] = 1
		} else {
			part[0] = math.Mod(part[0]+0.5, 1)
		}
	}
	return space.Decode(u)
}

// decoy is the objective with a hill, or a valley, around the worst of some random designs:
// there it is better than at all of them by half of the range of their values. The width is
// that of the hills of others=deceptive in package family.
func decoy(space *task.Space, goal task.Goal, honest func(task.Design) float64, seed random.Seed) func(task.Design) float64 {
	rng := seed.Stream("designs", 0)
	best, worst := math.Inf(-1), math.Inf(1)
	var at []float64
	for range deviationDesigns {
		d := space.Decode(acquisition.Sample(space, rng))
		value := goal.Sign() * honest(d)
		if best = max(best, value); value < worst {
			worst, at = value, space.Encode(d)
		}
	}
	height := goal.Sign() * 1.5 * (best - worst)
	width := 0.1 * math.Sqrt(float64(space.Dim()))
	return func(d task.Design) float64 {
		square := 0.0
		for i, v := range space.Encode(d) {
			square += (v - at[i]) * (v - at[i])
		}
		return honest(d) + height*math.Exp(-square/(2*width*width))
	}
}
