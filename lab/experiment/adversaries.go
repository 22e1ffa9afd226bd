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

// adversariesKey and attackKey are settings of a strategy in a plan: the number of adversaries that
// join the federation, and the content of their shares. They are not part of the task, so honest
// agents behave exactly as without adversaries.
const (
	adversariesKey = "adversaries"
	attackKey      = "attack"
	maxAdversaries = 100
)

// Attacks. Adversaries with one of the first three send forged shares. Adversaries with one of the
// others run the strategy like honest agents, but with an objective derived from an honest agent's.
const (
	attackRandom   = "random"   // weights drawn from the prior, and random designs
	attackCorner   = "corner"   // weights drawn from the prior, and always the same design
	attackExtreme  = "extreme"  // the largest numbers that shares can hold, and always the same design
	attackReversed = "reversed" // the honest objective times -1
	attackShifted  = "shifted"  // the honest objective, shifted by half of each parameter's range
	attackDecoy    = "decoy"    // the honest objective with a false optimum added at one of its worst designs
)

// Attacks returns the allowed values of the key attack.
func Attacks() []string {
	return []string{attackRandom, attackCorner, attackExtreme, attackReversed, attackShifted, attackDecoy}
}

func attackOf(s Spec) string { return cmp.Or(s.setting(attackKey), attackRandom) }

// adversariesOf returns the number of adversaries in a spec.
func adversariesOf(s Spec) int {
	n, _ := strconv.Atoi(s.setting(adversariesKey)) // checkAdversaries has checked that it is a number
	return n
}

func (p Plan) checkAdversaries(s Spec) error {
	text := s.setting(adversariesKey)
	switch n, err := strconv.Atoi(text); {
	case text == "" && !s.has(attackKey):
		return nil
	case text == "":
		return fmt.Errorf("%s is set, and there are no adversaries; expected %s=1 to %d with it", attackKey, adversariesKey, maxAdversaries)
	case err != nil || n < 1 || n > maxAdversaries:
		return fmt.Errorf("%s must be a whole number from 1 to %d, not %q", adversariesKey, maxAdversaries, text)
	case !slices.Contains(Attacks(), attackOf(s)):
		return fmt.Errorf("%s must be one of %s, not %q", attackKey, strings.Join(Attacks(), ", "), attackOf(s))
	case p.needsRoster(s):
		return fmt.Errorf("%s join the agents of a federation, and who is on a roster is fixed; expected strategies without one", adversariesKey)
	case p.alone(s):
		return fmt.Errorf("%s have no effect on a strategy that uses no shares of peers", adversariesKey)
	}
	return nil
}

// withAdversaries returns the federation with the adversaries of a spec added after its members.
// Each adversary uses the objective of one counting member, in turn.
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

// shifted returns the design that is half of the range away from d in each parameter. Values from
// the upper half wrap around to the lower half.
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

// decoy returns the honest objective plus a hill (a valley if the goal is to minimise). The hill's
// centre is the worst of deviationDesigns random designs. There the result is better than the
// honest objective at all of these designs, by half the range of their values. The width is that of
// the hills in families with others=deceptive (package family).
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
