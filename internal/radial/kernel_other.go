//go:build !amd64 || noasm

package radial

func evaluateVectors(string, []float64, []float64, []float64) int { return 0 }

// AddSquares adds (row − at)² to squares, which has the length of row.
func AddSquares(squares, row []float64, at float64) { portableAddSquares(squares, row, at) }

// WeightedSquares returns the sum of weights · (row − at)² over both slices, which have the same length.
func WeightedSquares(weights, row []float64, at float64) float64 {
	return portableWeightedSquares(weights, row, at)
}

func dot(a, b []float64) float64 { return portableDot(a, b) }
