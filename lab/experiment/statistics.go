package experiment

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// confidence is the level of every bound; each bound is one-sided.
const confidence = 0.95

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// standardError returns the standard error of the mean of independent numbers; NaN for fewer than
// two.
func standardError(x []float64) float64 {
	n := float64(len(x))
	if n < 2 {
		return math.NaN()
	}
	m, sum := mean(x), 0.0
	for _, v := range x {
		sum += (v - m) * (v - m)
	}
	return math.Sqrt(sum / (n - 1) / n)
}

// quantile returns a quantile by interpolation between order statistics (type 7 of Hyndman and Fan,
// Sample Quantiles in Statistical Packages, 1996). x must not be empty. If x contains a NaN, the
// result is NaN.
func quantile(x []float64, p float64) float64 {
	if slices.ContainsFunc(x, math.IsNaN) {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(x))
	at := p * float64(len(sorted)-1)
	low := int(at)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])
}

func median(x []float64) float64 { return quantile(x, 0.5) }

// margin returns the distance of Student's one-sided bound from the mean of x; NaN for fewer than
// two numbers.
func margin(x []float64) float64 {
	if len(x) < 2 {
		return math.NaN()
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(len(x) - 1)}.Quantile(confidence)
	return t * standardError(x)
}

// logRatios returns log(x/y) for each pair, after raising both numbers to at least the pair's
// floor.
func logRatios(x, y, floors []float64) []float64 {
	return differences(logs(x, floors), logs(y, floors))
}

// logs returns the logarithms of the numbers, after raising each to at least its floor.
func logs(x, floors []float64) []float64 {
	all := make([]float64, len(x))
	for i := range x {
		all[i] = math.Log(max(x[i], floors[i]))
	}
	return all
}

func differences(x, y []float64) []float64 {
	all := make([]float64, len(x))
	for i := range x {
		all[i] = x[i] - y[i]
	}
	return all
}

// column returns the k-th number of every row.
func column(rows [][]float64, k int) []float64 {
	all := make([]float64, len(rows))
	for i, row := range rows {
		all[i] = row[k]
	}
	return all
}

// average returns the mean of the rows, column by column.
func average(rows [][]float64) []float64 {
	all := make([]float64, len(rows[0]))
	for k := range all {
		all[k] = mean(column(rows, k))
	}
	return all
}

// wilson returns one-sided bounds of a share p of n observations (Wilson, Probable Inference, the
// Law of Succession, and Statistical Inference, 1927).
func wilson(p float64, n int) (low, high float64) {
	z, count := distuv.UnitNormal.Quantile(confidence), float64(n)
	centre := p + z*z/(2*count)
	spread := z * math.Sqrt(p*(1-p)/count+z*z/(4*count*count))
	whole := 1 + z*z/count
	return max((centre-spread)/whole, 0), min((centre+spread)/whole, 1)
}
