//go:build arm64 && !noasm

package fourier

func value(s *Sum, x []float64) float64 {
	return valueNEON(&s.waves.turns[0], &s.shift[0], &s.minus[0], &x[0], len(x), s.waves.blocks())
}

func gradient(s *Sum, partial, x []float64) float64 {
	return gradientNEON(&s.waves.turns[0], &s.shift[0], &s.minus[0], &partial[0], &x[0], len(x), s.waves.blocks())
}

// valueNEON returns the sum of minus·(-cos 2π(turns·x + shift)) over all waves, in blocks of eight.
// dim and blocks are at least 1. All processors for arm64 have its instructions.
//
//go:noescape
func valueNEON(turns, shift, minus, x *float64, dim, blocks int) float64

// gradientNEON returns the same sum. It also adds minus·(-sin 2π(turns·x + shift))·turns to four
// partial sums per coordinate.
//
//go:noescape
func gradientNEON(turns, shift, minus, partial, x *float64, dim, blocks int) float64
