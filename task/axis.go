package task

import (
	"math"
	"strconv"
	"strings"
)

// axis maps the values of one float parameter without steps to [0, 1] and back.
//
// Decoded floats are on a decimal grid. So people and commands see 0.3 and not 0.30000000000000004,
// and a value that is encoded and decoded remains exactly the same. If a bound is nearer to a
// decoded value than half a step, the bound replaces it.
//
// On linear scale the grid consists of the multiples of a power of ten near 1e-10 of the range. The
// step is at least 16 units in the last place of the larger bound, so that the rounding errors of
// encoding and decoding stay below half a step. On log scale grid values have 10 significant
// digits. Half a unit of the last digit is 5e-11, far above the error of exp and log over the
// widest range, about 3e-13.
type axis struct {
	low, high float64
	log       bool

	exponent    int     // linear scale: the step is 10^exponent
	scale, half float64 // linear scale: 10^-exponent, and half a step

	origin, width float64 // log scale: log(low), and log(high/low)
}

// significant is the number of digits of a decoded float on log scale.
const significant = 10

func newAxis(low, high float64, scale Scale) axis {
	a := axis{low: low, high: high, log: scale == Log}
	if a.log {
		a.origin = math.Log(low)
		a.width = math.Log(high) - a.origin
		return a
	}
	a.exponent = stepExponent(low, high)
	a.scale = math.Pow10(-a.exponent)
	a.half = math.Pow10(a.exponent) / 2
	return a
}

// stepExponent returns the exponent of the grid's step for a linear float range.
func stepExponent(low, high float64) int {
	largest := math.Max(math.Abs(low), math.Abs(high))
	ulp := math.Nextafter(largest, math.Inf(1)) - largest
	return max(decimalExponent(high-low)-10, decimalExponent(16*ulp)+1)
}

// decimalExponent returns floor(log10(x)) for x > 0. It uses the decimal text,
// since math.Log10 may differ in the last bit from one CPU to another.
func decimalExponent(x float64) int {
	text := strconv.FormatFloat(x, 'e', -1, 64)
	exponent, err := strconv.Atoi(text[strings.IndexByte(text, 'e')+1:])
	if err != nil {
		panic("task: " + text + " has no decimal exponent") // cannot happen: FormatFloat always writes an exponent
	}
	return exponent
}

// The conversions to float64 below look redundant. They keep compilers from fusing a product and a
// sum into one operation, which would make decoded values differ between CPUs.

func (a *axis) encode(v float64) float64 {
	switch {
	case v <= a.low:
		return 0
	case v >= a.high:
		return 1
	case a.log:
		return (math.Log(v) - a.origin) / a.width
	}
	return (v - a.low) / (a.high - a.low)
}

// decode returns the value at coordinate u. It accepts any u: NaN and values below 0 count as 0,
// values above 1 as 1.
func (a *axis) decode(u float64) float64 {
	switch {
	case !(u > 0):
		return a.low
	case u >= 1:
		return a.high
	case a.log:
		v := roundDigits(math.Exp(a.origin + float64(u*a.width)))
		if v <= a.low*(1+5e-11) {
			return a.low
		}
		if v >= a.high*(1-5e-11) {
			return a.high
		}
		return v
	}
	v := a.roundStep(a.low + float64(u*(a.high-a.low)))
	if v-a.low < a.half {
		return a.low
	}
	if a.high-v < a.half {
		return a.high
	}
	return v
}

// roundStep returns the float64 that is nearest to the multiple of 10^exponent nearest to v.
func (a *axis) roundStep(v float64) float64 {
	var buffer [40]byte
	text := strconv.AppendInt(buffer[:0], int64(math.RoundToEven(v*a.scale)), 10)
	text = append(text, 'e')
	text = strconv.AppendInt(text, int64(a.exponent), 10)
	return mustFloat(string(text))
}

func roundDigits(v float64) float64 {
	return mustFloat(strconv.FormatFloat(v, 'e', significant-1, 64))
}

func mustFloat(text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(err) // cannot happen: strconv wrote the text, and the bounds keep the value in range
	}
	return v
}
