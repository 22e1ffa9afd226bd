package fourier

import "math"

// The cosine of 2πt with |t| ≤ ½ is minus the sine of 2πu with u = |t| − ¼, and that sine is
// approximated by u P(u²). The coefficients of the polynomial P, lowest first, are those of the
// minimax polynomial for the weight √v + 10⁻³ on v = u² in [0, 1/16]. They were computed by the
// Remez exchange algorithm with 50 digits. The error of u P(u²) before rounding is at most 9·10⁻¹⁷.
const (
	p0 = 6.283185307179581
	p1 = -41.34170224039515
	p2 = 81.605249275036
	p3 = -76.70585964812079
	p4 = 42.05868832859216
	p5 = -15.094472068952708
	p6 = 3.817001984995682
	p7 = -0.6909544365962403
)

// minusCosine returns -cos 2πt for any t.
func minusCosine(t float64) float64 {
	u := math.Abs(t-math.RoundToEven(t)) - 0.25
	v := u * u
	return u * (p0 + v*(p1+v*(p2+v*(p3+v*(p4+v*(p5+v*(p6+v*p7)))))))
}

func portableValue(s *Sum, x []float64) float64 {
	w := s.waves
	sum := 0.0
	for b := range w.blocks() {
		turns := s.turnsOf(b, x)
		minus := (*[block]float64)(s.minus[b*block:])
		for i, t := range turns {
			sum += minus[i] * minusCosine(t)
		}
	}
	return sum
}

// portableGradient adds the gradient of each coordinate to the first of its partial sums, and
// returns the value. The sine of 2πt is the cosine of 2π(t − ¼).
func portableGradient(s *Sum, partial, x []float64) float64 {
	w := s.waves
	sum := 0.0
	for b := range w.blocks() {
		turns := s.turnsOf(b, x)
		minus := (*[block]float64)(s.minus[b*block:])
		var slopes [block]float64
		for i, t := range turns {
			sum += minus[i] * minusCosine(t)
			slopes[i] = minus[i] * minusCosine(t-0.25)
		}
		rows := w.turns[b*block*w.dim:]
		for k := range x {
			row := (*[block]float64)(rows[k*block:])
			part := 0.0
			for i, slope := range slopes {
				part += slope * row[i]
			}
			partial[k*lanes] += part
		}
	}
	return sum
}

// turnsOf returns the angles of the waves of block b at x, in turns.
func (s *Sum) turnsOf(b int, x []float64) [block]float64 {
	turns := *(*[block]float64)(s.shift[b*block:])
	rows := s.waves.turns[b*block*s.waves.dim:]
	for k, v := range x {
		row := (*[block]float64)(rows[k*block:])
		for i := range turns {
			turns[i] += row[i] * v
		}
	}
	return turns
}
