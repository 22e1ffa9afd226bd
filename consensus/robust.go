package consensus

import (
	"cmp"
	"slices"

	"github.com/fbo-node/fbo/task"
)

// trimming is the part of the weight that a trimmed mean leaves out at each end.
const trimming = 0.25

// weightedValue is one candidate's coordinate with its weight, which is more than 0.
type weightedValue struct{ value, weight float64 }

// robust is the average in which few candidates move little: each coordinate of a number is
// the middle of all candidates, by their weights, as far as the weights are shared, and
// the own candidate for the rest. The own candidate weighs as much in the middle as the
// heaviest of the peers, so that with the mean as the middle it would be the average. A
// category's vote is the average's: there a candidate has no more than its vote anyway.
func (c averager) robust(space *task.Space) []float64 {
	x, own := c.mean(space), c.own.Point.Encoded(space)
	weights := c.weights()
	shared, heaviest := 0.0, 0.0
	for _, w := range weights {
		shared, heaviest = shared+w, max(heaviest, w)
	}
	self := min(heaviest, 1-shared)
	shared += self
	encoded := make([][]float64, len(c.candidates))
	for i, voice := range c.candidates {
		encoded[i] = voice.Candidate.Point.Encoded(space)
	}
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

// middle is what the settings say of ballots, of which there is one at least.
func (c averager) middle(ballots []weightedValue) float64 {
	slices.SortFunc(ballots, func(a, b weightedValue) int { return cmp.Compare(a.value, b.value) })
	if c.settings.Average == averageMedian {
		return median(ballots)
	}
	return trimmedMean(ballots, trimming)
}

// median of sorted ballots has at most half of the weight on either side. Where that is so
// between two values it is halfway.
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

// trimmedMean of sorted ballots leaves out a part of the weight, less than a half, at each
// end, if need be a part of a ballot.
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

// nearly reports whether weights differ by no more than rounding.
func nearly(a, b float64) bool { return a-b < 1e-9*b && b-a < 1e-9*b }
