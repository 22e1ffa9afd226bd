package strategy

import (
	"cmp"
	"math"
	"slices"

	"github.com/fbo-node/fbo/task"
)

// DefaultMaxObservations is how many observations of an output its model learns from at most, unless
// the user sets another number. The time of one suggestion grows with the cube of it.
const DefaultMaxObservations = 200

// MinMaxObservations is the least number of observations that a limit may allow.
const MinMaxObservations = 20

// Fractions of the observations that a model learns from by criterion. The others are spread over
// the space.
const (
	newestShare = 1.0 / 4
	bestShare   = 1.0 / 2

	// renewedShare is how many observations are added before all are chosen anew. Until then a
	// posterior of those before can be extended.
	renewedShare = 1.0 / 8
)

// Observed is Observed of the observations that models learn from: Modelled lists their trials.
func (v View) Observed(output task.Output) Observations {
	diverged := divergedOf(v.Task, v.Trials, output)
	return observed(v.Task, v.Trials, output, modelled(v.Task, v.Trials, output, v.MaxObservations, diverged), diverged)
}

// Modelled returns the places in View.Trials, in ascending order, of the observations that the
// model of an output learns from. See Modelled.
func (v View) Modelled(output task.Output) []int {
	return Modelled(v.Task, v.Trials, output, v.MaxObservations)
}

// Modelled returns the indices in trials, in ascending order, of at most `most` observations of an
// output; 0 means DefaultMaxObservations. These are all that Observed lists or, if there are more,
//
//   - a quarter are the newest,
//   - half are the best of the others, by task.Compare,
//   - a quarter are those of the rest that are farthest from all chosen before, one by one.
//
// The choice is made anew when the observations have grown by an eighth of most. Until then
// each new observation is added to it.
//
// A random-feature surrogate, whose time grows in proportion to the observations, learns from
// all of them.
func Modelled(t *task.Task, trials []Trial, output task.Output, most int) []int {
	return modelled(t, trials, output, most, divergedOf(t, trials, output))
}

func modelled(t *task.Task, trials []Trial, output task.Output, most int, diverged []bool) []int {
	all := observations(trials, output, diverged)
	if Unbounded(t, output) {
		return all
	}
	return atMost(t, trials, all, most)
}

// Unbounded reports whether the model of an output learns from all observations, however many.
func Unbounded(t *task.Task, output task.Output) bool {
	return output == task.Objective && t.Surrogate.Type == "rff"
}

// ExactlyModelled is Modelled of an objective that an exact process models, whatever the task's surrogate.
func (v View) ExactlyModelled() []int {
	return atMost(v.Task, v.Trials, observations(v.Trials, task.Objective, Diverged(v.Task, v.Trials)), v.MaxObservations)
}

func atMost(t *task.Task, trials []Trial, all []int, most int) []int {
	if most = cmp.Or(most, DefaultMaxObservations); len(all) <= most {
		return all
	}
	block := max(int(renewedShare*float64(most)), 1)
	old := most + (len(all)-most)/block*block // of which a part has been chosen, up to a block
	c := newSelection(t, trials, all[:old], max(most-block, 1))
	return append(c.chosen(), all[old:]...)
}

// selection is one of some of the places.
type selection struct {
	of    []int
	x     [][]float64 // their encoded designs
	apart []float64   // squared distances to the nearest of those taken; -Inf of these themselves
	left  int         // to take
}

func newSelection(t *task.Task, trials []Trial, of []int, most int) *selection {
	c := &selection{of: of, x: make([][]float64, len(of)), apart: slices.Repeat([]float64{math.Inf(1)}, len(of)), left: most}
	for i, at := range of {
		c.x[i] = t.Space.Encode(trials[at].Design)
	}
	ranked := make([]int, len(of))
	for i := range ranked {
		ranked[i] = i
	}
	slices.SortStableFunc(ranked, func(a, b int) int { return compare(t, &trials[of[b]], &trials[of[a]]) })
	best, newest := max(int(bestShare*float64(most)), 1), int(newestShare*float64(most))
	c.take(ranked[0])
	for i := range newest {
		c.take(len(of) - 1 - i)
	}
	for _, i := range ranked {
		if best > 0 && !c.taken(i) {
			c.take(i)
			best--
		}
	}
	for c.left > 0 {
		farthest := 0
		for i, apart := range c.apart {
			if apart > c.apart[farthest] {
				farthest = i
			}
		}
		c.take(farthest)
	}
	return c
}

// compare puts the better trial last. Failed trials have no outcome and come first.
func compare(t *task.Task, a, b *Trial) int {
	if a.State != Done || b.State != Done {
		return cmp.Compare(done(a), done(b))
	}
	return t.Compare(a.Outcome, b.Outcome)
}

func done(t *Trial) int {
	if t.State == Done {
		return 1
	}
	return 0
}

func (c *selection) taken(i int) bool { return math.IsInf(c.apart[i], -1) }

func (c *selection) take(i int) {
	if c.left == 0 || c.taken(i) {
		return
	}
	c.left--
	c.apart[i] = math.Inf(-1)
	at := c.x[i]
	for k, x := range c.x {
		apart, before := 0.0, c.apart[k]
		for j := range x {
			apart += (x[j] - at[j]) * (x[j] - at[j])
		}
		c.apart[k] = min(before, apart)
	}
}

func (c *selection) chosen() (places []int) {
	for i, at := range c.of {
		if c.taken(i) {
			places = append(places, at)
		}
	}
	return places
}
