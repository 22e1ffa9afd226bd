package family

import (
	"math"
	"math/rand/v2"
)

// motion maps the unit cube to the points at which a function is evaluated, which may lie a little
// outside the cube. It raises every coordinate to a power. Then it shifts all coordinates, rotates
// them about the centre, permutes them and mirrors some.
type motion struct {
	powers []float64
	shift  []float64
	turns  []turn
	order  []int  // coordinate i of the result is coordinate order[i] after the rotation
	mirror []bool // whether coordinate i of the result is mirrored
}

// turn is a rotation of two coordinates about the centre, given by its sine and cosine.
type turn struct {
	i, j     int
	sin, cos float64
}

func still(d int) motion {
	m := motion{powers: make([]float64, d), shift: make([]float64, d), order: make([]int, d), mirror: make([]bool, d)}
	for i := range d {
		m.powers[i], m.order[i] = 1, i
	}
	return m
}

// amounts holds the sizes of random motions.
type amounts struct {
	shift float64 // largest shift, as a fraction of a coordinate's range
	turn  float64 // largest angle, in radians
	warp  float64 // standard deviation of the logarithm of a power
}

// move draws the motion of one member. Each kind of motion has its own stream of random numbers, so
// that a change of one does not change the others.
func (m motion) move(a amounts, shifts, turns, powers *rand.Rand) {
	for i := range m.shift {
		m.shift[i] = a.shift * (2*shifts.Float64() - 1)
		m.powers[i] = math.Exp(a.warp * powers.NormFloat64())
	}
	pairs := turns.Perm(len(m.shift))
	for n := range m.turns {
		sin, cos := math.Sincos(a.turn * (2*turns.Float64() - 1))
		m.turns[n] = turn{pairs[2*n], pairs[2*n+1], sin, cos}
	}
}

// mix draws the permutation and the mirrored coordinates.
func (m motion) mix(rng *rand.Rand) {
	copy(m.order, rng.Perm(len(m.order)))
	for i := range m.mirror {
		m.mirror[i] = rng.IntN(2) == 1
	}
}

// forth returns the point at which the function is evaluated for the point u of the cube.
func (m motion) forth(u []float64) []float64 {
	v := make([]float64, len(u))
	for i := range u {
		v[i] = u[i]
		if m.powers[i] != 1 {
			v[i] = math.Pow(u[i], m.powers[i])
		}
		v[i] -= m.shift[i]
	}
	for _, t := range m.turns {
		a, b := v[t.i]-0.5, v[t.j]-0.5
		v[t.i], v[t.j] = 0.5+t.cos*a-t.sin*b, 0.5+t.sin*a+t.cos*b
	}
	z := make([]float64, len(u))
	for i, from := range m.order {
		z[i] = v[from]
		if m.mirror[i] {
			z[i] = 1 - z[i]
		}
	}
	return z
}

// back returns the point u of the cube that forth maps to z. inside is false if there is no such
// point in the cube; u is then a point of the cube near it.
func (m motion) back(z []float64) (u []float64, inside bool) {
	u = make([]float64, len(z))
	for i, from := range m.order {
		u[from] = z[i]
		if m.mirror[i] {
			u[from] = 1 - z[i]
		}
	}
	for _, t := range m.turns {
		a, b := u[t.i]-0.5, u[t.j]-0.5
		u[t.i], u[t.j] = 0.5+t.cos*a+t.sin*b, 0.5-t.sin*a+t.cos*b
	}
	inside = true
	for i := range u {
		u[i] += m.shift[i]
		if !(u[i] >= 0 && u[i] <= 1) {
			inside = false
			u[i] = min(1, max(0, u[i]))
		}
		u[i] = math.Pow(u[i], 1/m.powers[i])
	}
	return u, inside
}
