// Package fourier evaluates real trigonometric sums
//
//	f(x) = Σ_i a_i cos(ω_i·x) + b_i sin(ω_i·x)
//
// and their gradients. Sample paths of a Gaussian process with random Fourier features are such
// sums, and every search for their maximum spends most of its time here. [Waves] is a set of
// frequencies ω_i, and a [Sum] is one function over them.
//
// The package converts each pair a_i, b_i to one wave r cos(ω·x − φ). It measures angles in turns,
// so that subtracting the nearest whole number reduces them, and computes the cosine of the
// remainder by a polynomial. On amd64 with AVX2 and FMA, an assembly kernel evaluates eight waves
// at a time, and on arm64 one with NEON. Other processors, and builds with the tag noasm, take the
// same steps in Go. They differ by rounding: the error of each is at most about (2 + |ω·x|/3)·10⁻¹⁵ per unit of r.
// Infinite and NaN coordinates give NaN.
package fourier
