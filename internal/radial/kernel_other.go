//go:build !amd64 || noasm

package radial

func evaluateVectors(string, []float64, []float64, []float64) int { return 0 }

func addSquares(squares, row []float64, at float64) { portableAddSquares(squares, row, at) }
