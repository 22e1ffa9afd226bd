package radial

// portableAddSquares adds (row − at)² to squares; row and squares have the same length.
func portableAddSquares(squares, row []float64, at float64) {
	row = row[:len(squares)]
	for j := range squares {
		d := row[j] - at
		squares[j] += d * d
	}
}
