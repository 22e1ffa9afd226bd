package consensus

import (
	"cmp"
	"slices"

	"github.com/fbo-node/fbo/task"
)

// trimming is the fraction of the weight that a trimmed mean leaves out at each end.
const trimming = 0.25

// weightedValue is one candidate's coordinate with its weight, which is above 0.
type weightedValue struct{ value, weight float64 }

// robust returns an average that a few candidates can move only little. For each coordinate of a
// number, the shared part of the weight goes to the median or trimmed mean of all candidates, and
// the rest to the own candidate. In the median or trimmed mean the own candidate has the weight of
// the heaviest peer, or less if less is left. With a weighted mean in their place the result would
// be that of mean. Categories are decided by the same vote as in mean, where a candidate can never
// have more than its own weight.
func (c averager) robust(space *task.Space) []float64 {
	x := c.mean(space)
	own, encoded := c.encoded(space)
	weights := c.weights()
	shared, heaviest := 0.0, 0.0
	for _, w := range weights {
		shared, heaviest = shared+w, max(heaviest, w)
	}
	self := min(heaviest, 1-shared)
	shared += self
	for _, block := range space.Blocks() {
		if block.Kind == task.Categorical {
			continue
		}
		ballots := []weightedValue{{own[block.Start], self}}
		for i, w := range weights {
			ballots = append(ballots, weightedValue{encoded[i][block.Start], w})
		}
		ballots = slices.DeleteFunc(ballots, func(b weightedValue) bool { return b.weight <= 0 })
		if len(ballots) > 0 {
			x[block.Start] = shared*c.middle(ballots) + (1-shared)*own[block.Start]
		}
	}
	return x
}

// middle returns the median or the trimmed mean of the ballots, by the settings. ballots must not
// be empty.
func (c averager) middle(ballots []weightedValue) float64 {
	slices.SortFunc(ballots, func(a, b weightedValue) int { return cmp.Compare(a.value, b.value) })
	if c.settings.Average == averageMedian {
		return median(ballots)
	}
	return trimmedMean(ballots, trimming)
}

// median returns the weighted median of sorted ballots: at most half of the weight lies on either
// side. If exactly half lies on both sides between two values, it returns the point halfway.
func median(ballots []weightedValue) float64 {
	half := total(ballots) / 2
	below := 0.0
	for i, b := range ballots {
		below += b.weight
		switch {
		case i+1 < len(ballots) && nearly(below, half):
			return (b.value + ballots[i+1].value) / 2
		case below > half:
			return b.value
		}
	}
	return ballots[len(ballots)-1].value
}

// trimmedMean returns the weighted mean of sorted ballots without the fraction part, below 1/2, of
// the weight at each end. The cut may divide the weight of a ballot.
func trimmedMean(ballots []weightedValue, part float64) float64 {
	all := total(ballots)
	low, high := part*all, (1-part)*all
	sum, below := 0.0, 0.0
	for _, b := range ballots {
		sum += max(0, min(below+b.weight, high)-max(below, low)) * b.value
		below += b.weight
	}
	return sum / (high - low)
}

func total(ballots []weightedValue) float64 {
	sum := 0.0
	for _, b := range ballots {
		sum += b.weight
	}
	return sum
}

// nearly reports whether two weights are equal up to rounding errors.
func nearly(a, b float64) bool { return a-b < 1e-9*b && b-a < 1e-9*b }
