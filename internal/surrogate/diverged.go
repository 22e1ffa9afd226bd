package surrogate

import "slices"

// Thresholds for diverged outputs. Distances are from an output to the best output.
const (
	typicalOf  = 10  // number of first outputs; the median of their distances is the typical distance
	minTypical = 4   // smallest number of outputs; with fewer, none counts as diverged
	divergedBy = 1e4 // a distance above this number of typical distances has diverged

	minPenalties = 3  // smallest number of designs that have the same output, worse than all others
	minMeasured  = 3  // smallest number of different better outputs
	penaltyBy    = 10 // smallest ratio of the penalty's distance to the distance of the worst better output
)

// Diverged reports for each output, of which larger ones are better, whether models should ignore
// it because the evaluation has probably failed. An output has diverged in either of two cases:
//
//   - It is more than 10,000 times as far from the best output as the median of the first ten
//     outputs.
//   - It is a penalty: three or more different designs have exactly this output. It is worse than
//     all other outputs, and at least ten times as far from the best as the worst of them. At least
//     three of the better outputs differ.
//
// Only the first outputs determine the typical distance. They belong to starting designs, which
// cover the space, whereas more and more of the later designs lie near the best.
func Diverged(obs Observations) []bool {
	y := obs.Y
	diverged := make([]bool, len(y))
	if len(y) < minTypical {
		return diverged
	}
	best := slices.Max(y)
	distances := make([]float64, len(y))
	for i, v := range y {
		distances[i] = best - v // +Inf if that overflows
	}
	limit := worstMeasured(obs.X, distances)
	for i, distance := range distances {
		diverged[i] = distance > limit
	}
	return diverged
}

// worstMeasured returns the largest distance to the best among outputs that have not diverged.
func worstMeasured(x [][]float64, distances []float64) float64 {
	sorted := slices.Sorted(slices.Values(distances))
	typical := quantile(slices.Sorted(slices.Values(distances[:min(typicalOf, len(distances))])), 0.5)
	if typical > 0 {
		end, _ := slices.BinarySearch(sorted, divergedBy*typical)
		sorted = sorted[:end]
	}
	for {
		worst := sorted[len(sorted)-1]
		begin, _ := slices.BinarySearch(sorted, worst)
		better := sorted[:begin]
		if len(sorted)-begin < minPenalties || designsAt(x, distances, worst) < minPenalties || len(slices.Compact(slices.Clone(better))) < minMeasured ||
			worst < penaltyBy*better[begin-1] {
			return worst
		}
		sorted = better
	}
}

// designsAt counts the different designs whose outputs have this distance, up to minPenalties.
func designsAt(x [][]float64, distances []float64, distance float64) int {
	var found [][]float64
	for i, d := range distances {
		if d == distance && !slices.ContainsFunc(found, func(other []float64) bool { return slices.Equal(other, x[i]) }) {
			if found = append(found, x[i]); len(found) == minPenalties {
				break
			}
		}
	}
	return len(found)
}
