package surrogate

import "slices"

// Thresholds of diverged outputs.
const (
	typicalOf  = 10  // first outputs; the median of their distances to the best is the typical distance
	minTypical = 4   // outputs; with fewer, none has diverged
	divergedBy = 1e4 // typical distances to the best

	minPenalties = 3  // number of designs with equal outputs, worse than all others
	minMeasured  = 3  // number of different better outputs
	penaltyBy    = 10 // times the distance to the best of the worst of these
)

// Diverged reports for each output, larger ones being better, whether a model of the others ignores
// it, because the evaluation has probably failed. Such an output is more than 10,000 times as far
// from the best as the median of the first ten, or it is a penalty. A penalty is an output that
// three or more designs have, ten times as far from the best as all better ones, of which at least
// three differ.
//
// The first outputs are those of starting designs, which cover the space. More and more of the
// later designs lie near the best, so their outputs no longer show the typical distance.
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

// worstMeasured returns the largest distance to the best of an output that has not diverged.
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

// designsAt counts the different designs whose outputs have this distance.
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
