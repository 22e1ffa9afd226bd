package strategy

import (
	"cmp"
	"math"
	"slices"

	"github.com/fbo-node/fbo/task"
)

// DefaultMaxObservations is the default maximum number of observations that the model of an output
// learns from. The time of one suggestion grows with the cube of this number.
const DefaultMaxObservations = 200

// MinMaxObservations is the smallest maximum that a user may set.
const MinMaxObservations = 20

// newestShare and bestShare are fractions of the maximum number of observations. A model learns
// from that many of the newest and best observations. The others are spread over the space.
const (
	newestShare = 1.0 / 4
	bestShare   = 1.0 / 2

	// renewedShare is the fraction of the maximum number after which all observations are selected
	// anew. Until then new observations are appended, so that a posterior can be extended.
	renewedShare = 1.0 / 8
)

// Observed returns the observations of an output that its model learns from, in the form of the
// function [Observed]. Modelled lists their trials.
func (v View) Observed(output task.Output) Observations {
	e := evidenceOf(v.Task, v.Trials, output)
	return e.observed(e.modelled(v.MaxObservations))
}

// Modelled returns the indices in View.Trials, in ascending order, of the observations that the
// model of an output learns from. The function [Modelled] describes the selection.
func (v View) Modelled(output task.Output) []int {
	return Modelled(v.Task, v.Trials, output, v.MaxObservations)
}

// Modelled returns the indices in trials, in ascending order, of the observations of an output that
// its model learns from. There are at most `most`; 0 means DefaultMaxObservations. If Observed
// lists no more than this maximum, Modelled returns all of them. Otherwise
//
//   - a quarter of the selection are the newest observations,
//   - half are the best of the other observations, by task.Compare,
//   - a quarter are selected one by one: each is farthest from all that were selected before.
//
// The selection is repeated whenever the number of observations has grown by an eighth of the
// maximum. New observations in between are appended to the selection.
//
// A random-feature surrogate learns from all observations, since its time grows only in proportion
// to their number.
func Modelled(t *task.Task, trials []Trial, output task.Output, most int) []int {
	return evidenceOf(t, trials, output).modelled(most)
}

func (e evidence) modelled(most int) []int {
	if Unbounded(e.task, e.output) {
		return e.places()
	}
	return atMost(e.task, e.trials, e.places(), most)
}

// Unbounded reports whether the model of an output learns from all observations, however many.
func Unbounded(t *task.Task, output task.Output) bool {
	return output == task.Objective && t.Surrogate.Type == "rff"
}

// ExactlyModelled returns the indices in View.Trials that [Modelled] would select for the objective
// if the surrogate were an exact process.
func (v View) ExactlyModelled() []int {
	return atMost(v.Task, v.Trials, evidenceOf(v.Task, v.Trials, task.Objective).places(), v.MaxObservations)
}

func atMost(t *task.Task, trials []Trial, all []int, most int) []int {
	if most = cmp.Or(most, DefaultMaxObservations); len(all) <= most {
		return all
	}
	block := max(int(renewedShare*float64(most)), 1)
	old := most + (len(all)-most)/block*block // observations at the last selection; those after it are appended, fewer than a block
	c := newSelection(t, trials, all[:old], max(most-block, 1))
	return append(c.chosen(), all[old:]...)
}

// selection selects some of the indices in of.
type selection struct {
	of    []int
	x     [][]float64 // encoded designs of the trials in of
	apart []float64   // squared distance of each design to the nearest selected one; -Inf for selected designs
	left  int         // number of indices that are still to be selected
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

// compare orders trials by outcome, the better one last. Failed and stopped trials have no outcome and
// come first.
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
