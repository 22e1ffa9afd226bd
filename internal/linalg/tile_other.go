//go:build !amd64 || noasm

package linalg

func vectorTile(_, _, _ []float64, _, _ int) bool { return false }

func vectorRows(_, _, _ []float64, _ int) bool { return false }

func vectorScaled([]float64, float64, []float64) int { return 0 }
