package radial

// portableAddSquares adds (row − at)² to squares; row and squares have the same length.
func portableAddSquares(squares, row []float64, at float64) {
	row = row[:len(squares)]
	for j := range squares {
		d := row[j] - at
		squares[j] += d * d
	}
}

// portableWeightedSquares is WeightedSquares.
func portableWeightedSquares(weights, row []float64, at float64) (sum float64) {
	row = row[:len(weights)]
	for j, w := range weights {
		d := row[j] - at
		sum += w * d * d
	}
	return sum
}

// portableDot is dot. (gonum's function would move its arguments to the heap.)
func portableDot(a, b []float64) float64 {
	b = b[:len(a)]
	var first, second, third, fourth float64
	i := 0
	for ; i+4 <= len(a); i += 4 {
		first += a[i] * b[i]
		second += a[i+1] * b[i+1]
		third += a[i+2] * b[i+2]
		fourth += a[i+3] * b[i+3]
	}
	for ; i < len(a); i++ {
		first += a[i] * b[i]
	}
	return (first + third) + (second + fourth)
}
