//go:build (!amd64 && !arm64) || noasm

package fourier

func value(s *Sum, x []float64) float64 { return portableValue(s, x) }

func gradient(s *Sum, partial, x []float64) float64 { return portableGradient(s, partial, x) }
