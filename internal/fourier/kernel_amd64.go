//go:build amd64 && !noasm

package fourier

import "golang.org/x/sys/cpu"

func value(s *Sum, x []float64) float64 {
	if !cpu.X86.HasAVX2 || !cpu.X86.HasFMA {
		return portableValue(s, x)
	}
	return valueAVX2(&s.waves.turns[0], &s.shift[0], &s.minus[0], &x[0], len(x), s.waves.blocks())
}

func gradient(s *Sum, partial, x []float64) float64 {
	if !cpu.X86.HasAVX2 || !cpu.X86.HasFMA {
		return portableGradient(s, partial, x)
	}
	return gradientAVX2(&s.waves.turns[0], &s.shift[0], &s.minus[0], &partial[0], &x[0], len(x), s.waves.blocks())
}

// valueAVX2 returns the sum of minus·(-cos 2π(turns·x + shift)) over all waves, in blocks of eight.
// dim and blocks are at least 1.
//
//go:noescape
func valueAVX2(turns, shift, minus, x *float64, dim, blocks int) float64

// gradientAVX2 returns the same sum. It also adds minus·(-sin 2π(turns·x + shift))·turns to four
// partial sums per coordinate.
//
//go:noescape
func gradientAVX2(turns, shift, minus, partial, x *float64, dim, blocks int) float64
