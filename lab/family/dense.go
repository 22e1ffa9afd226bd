package family

import "math"

// dense returns n points of d coordinates in [0, 1), in one slice, that fill the cube evenly. They
// are the sequence R_d of M. Roberts, "The Unreasonable Effectiveness of Quasirandom Sequences"
// (2018). Its coordinates are multiples of the powers of 1/φ, modulo 1, where φ > 1 solves φ^(d+1)
// = φ + 1.
func dense(n, d int) []float64 {
	phi := 2.0
	for range 60 {
		phi = math.Pow(1+phi, 1/float64(d+1))
	}
	points := make([]float64, 0, n*d)
	for i := range n {
		step := 1.0
		for range d {
			step /= phi
			_, u := math.Modf(0.5 + float64(i+1)*step)
			points = append(points, u)
		}
	}
	return points
}
