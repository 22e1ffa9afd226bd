// Package fourier evaluates real trigonometric sums
//
//	f(x) = Σ_i a_i cos(ω_i·x) + b_i sin(ω_i·x)
//
// and their gradients: the functions that a Gaussian process with random Fourier
// features draws, and the hot loop of every search for a maximum. [Waves] are a
// set of frequencies, a [Sum] is one function over them.
//
// Each pair is turned into one wave r cos(ω·x − φ), angles are counted in turns
// so that reducing them is a subtraction of the nearest whole number, and the
// cosine of what remains is a polynomial. On amd64 with AVX2 and FMA an assembly
// kernel handles eight waves at a time; other processors, and builds with the
// tag noasm, take the same steps in Go. The two differ by rounding: the error of
// either is at most about (2 + |ω·x|/3)·10⁻¹⁵ per unit of r. Infinite and NaN
// coordinates give NaN.
package fourier
