package attack

import (
	"cmp"
	"math"
	"slices"
)

// Near is the largest difference, in every coordinate of the encoded space, with which a guess
// counts as having found an input.
const Near = 0.02

// Close is the largest error with which a value counts as known, as a fraction of the range of all
// values.
const Close = 0.05

// Score measures how much of the truth a guess contains. Numbers may be averages over federations.
type Score struct {
	Inputs     float64 `json:"inputs"`       // number of inputs
	Found      float64 `json:"found"`        // number of inputs that were found
	Distance   float64 `json:"distance"`     // median over inputs, with the best assignment of guesses
	Values     float64 `json:"values"`       // number of values within Close, among the values guessed for the inputs
	ValueError float64 `json:"value_error"`  // median error over inputs, as a fraction of the values' range
	BestInput  float64 `json:"best_input"`   // distance of the guess for the best input from that input
	HasValues  bool    `json:"values_known"` // whether the attack guesses values itself; otherwise the mean counts as guess

	// With several objectives, of the designs on the Pareto front: their number, how many were found, and
	// the median distance to the nearest guess. Only guesses of the attack itself count, and at most as many
	// as the front has designs.
	Front         float64 `json:"front,omitempty"`
	FrontFound    float64 `json:"front_found,omitempty"`
	FrontDistance float64 `json:"front_distance,omitempty"`
}

// score compares a guess with the truth. There must be as many guesses as inputs.
func score(truth Truth, guess Guess) Score {
	s := Score{Inputs: float64(len(truth.X)), HasValues: guess.Y != nil}
	own := assign(truth.X, guess.X)
	level := mean(truth.Y)
	extent := max(slices.Max(truth.Y)-slices.Min(truth.Y), math.SmallestNonzeroFloat64)
	var distances, errors []float64
	for i, x := range truth.X {
		if slices.ContainsFunc(guess.X, func(g []float64) bool { return distance(x, g) <= Near }) {
			s.Found++
		}
		distances = append(distances, distance(x, guess.X[own[i]]))
		value := level
		if guess.Y != nil {
			value = guess.Y[own[i]]
		}
		off := math.Abs(value-truth.Y[i]) / extent
		if off <= Close {
			s.Values++
		}
		errors = append(errors, off)
	}
	s.Distance, s.ValueError = median(distances), median(errors)
	s.BestInput = distance(guess.best(), truth.X[argmax(truth.Y)])
	if len(truth.Front) > 0 {
		s.scoreFront(truth.Front, guess.X[:min(cmp.Or(guess.own, len(guess.X)), len(truth.Front))])
	}
	return s
}

// scoreFront compares guesses with the designs of the Pareto front.
func (s *Score) scoreFront(front, guesses [][]float64) {
	var distances []float64
	for _, x := range front {
		nearest := math.Inf(1)
		for _, g := range guesses {
			nearest = min(nearest, distance(x, g))
		}
		if nearest <= Near {
			s.FrontFound++
		}
		distances = append(distances, nearest)
	}
	s.Front, s.FrontDistance = float64(len(front)), median(distances)
}

func (g Guess) best() []float64 {
	switch {
	case g.Best != nil:
		return g.Best
	case g.Y != nil:
		return g.X[argmax(g.Y)]
	}
	return g.X[0]
}

func argmax(values []float64) int { return slices.Index(values, slices.Max(values)) }

func mean(values []float64) (mean float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	return mean
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n == 0 {
		return math.NaN()
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// average returns the mean of scores, one per federation.
func average(scores []Score) Score {
	var a Score
	n := float64(len(scores))
	for _, s := range scores {
		a.Inputs += s.Inputs / n
		a.Found += s.Found / n
		a.Distance += s.Distance / n
		a.Values += s.Values / n
		a.ValueError += s.ValueError / n
		a.BestInput += s.BestInput / n
		a.HasValues = a.HasValues || s.HasValues
		a.Front += s.Front / n
		a.FrontFound += s.FrontFound / n
		a.FrontDistance += s.FrontDistance / n
	}
	return a
}
