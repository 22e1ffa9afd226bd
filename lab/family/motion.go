package family

import (
	"math"
	"math/rand/v2"
)

// motion maps the unit cube to points at which a function is looked up, which may
// lie a little outside: every coordinate is raised to a power, then all are
// shifted, turned about the centre, and last put in another order and mirrored.
type motion struct {
	powers []float64
	shift  []float64
	turns  []turn
	order  []int  // coordinate i of the result is order[i] of what was turned
	mirror []bool // of the result
}

// turn is a rotation of two coordinates about the centre, by sine and cosine.
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
	shift float64 // at most, of a coordinate's range
	turn  float64 // at most, in radians
	warp  float64 // standard deviation of the logarithm of a power
}

// move draws what each member does. Amounts draw from streams of their own, so
// that one more of one leaves the others.
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

// mix draws an order and mirrors.
func (m motion) mix(rng *rand.Rand) {
	copy(m.order, rng.Perm(len(m.order)))
	for i := range m.mirror {
		m.mirror[i] = rng.IntN(2) == 1
	}
}

// forth returns where the function is looked up for u of the cube.
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

// back returns the u of the cube that goes forth to z, and false when none does;
// it is then a point of the cube near to where one would be.
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
