// Package quartile summarises runs by order statistics.
package quartile

import "slices"

// Of returns the 25, 50 and 75 % quantiles.
func Of(x []float64) [3]float64 {
	sorted := slices.Sorted(slices.Values(x))
	return [3]float64{Quantile(sorted, 0.25), Quantile(sorted, 0.5), Quantile(sorted, 0.75)}
}

// Quantile interpolates between order statistics as NumPy does by default (type 7 of
// Hyndman and Fan, 1996).
func Quantile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	low := int(at)
	high := min(low+1, len(sorted)-1)
	if at == float64(low) || sorted[low] == sorted[high] { // also where these are infinite
		return sorted[low]
	}
	return sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])
}
