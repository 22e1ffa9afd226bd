package privacy

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
)

// Adjacency is the neighbour relation of differential privacy: it defines which two contributions
// of a node must be hard to distinguish.
type Adjacency int

const (
	// ReplaceOne means that all pairs of contributions are neighbours. Whether a node is present is
	// public. The sensitivity is twice the clip norm.
	ReplaceOne Adjacency = iota
	// ZeroOut means that each contribution and the zero vector are neighbours. The sensitivity is
	// the clip norm.
	ZeroOut
)

// String returns the name that documentation and errors use.
func (a Adjacency) String() string {
	switch a {
	case ReplaceOne:
		return "replace-one"
	case ZeroOut:
		return "zero-out"
	}
	return fmt.Sprintf("Adjacency(%d)", int(a))
}

func (a Adjacency) validate() error {
	if a != ReplaceOne && a != ZeroOut {
		return fmt.Errorf("parameter %q: %d must be ReplaceOne (%d) or ZeroOut (%d)", "Adjacency", int(a), ReplaceOne, ZeroOut)
	}
	return nil
}

// Limits of the fields of a Grid, and of the length of a vector.
const (
	MinBits      = 8
	MaxBits      = 30
	MinNorm      = 1e-100
	MaxNorm      = 1e100
	MaxDimension = 1 << 20
)

// ErrNotFinite is returned for weights that are NaN or infinite.
var ErrNotFinite = errors.New("weights are not finite")

// Grid defines the conversion of weights to integers: a weight of Norm becomes 2^Bits. Both fields
// are public constants, the same for all nodes and fixed before any data is seen.
type Grid struct {
	Norm float64 // largest Euclidean norm of a contribution, in units of the weights; in [MinNorm, MaxNorm]
	Bits int     // resolution, in [MinBits, MaxBits]; 30 makes rounding negligible
}

// Validate returns an error about the first field that is out of range.
func (g Grid) Validate() error {
	if !(g.Norm >= MinNorm && g.Norm <= MaxNorm) {
		return fmt.Errorf("parameter %q: %g must lie in [%g, %g]", "Norm", g.Norm, MinNorm, MaxNorm)
	}
	if g.Bits < MinBits || g.Bits > MaxBits {
		return fmt.Errorf("parameter %q: %d must lie in [%d, %d]", "Bits", g.Bits, MinBits, MaxBits)
	}
	return nil
}

// Sensitivity returns the largest Euclidean distance, in grid units, between the results of Clip
// for two neighbouring contributions. It is exact. Results of Clip are integer vectors of norm at
// most 2^Bits, whatever was rounded before. So their distance to zero is at most 2^Bits, and that
// of two results at most 2^(Bits+1). Opposite vectors on an axis reach both values. If the grid or
// the adjacency is out of range, Sensitivity returns the largest int64, so that no noise is
// sufficient.
func (g Grid) Sensitivity(a Adjacency) int64 {
	if g.Validate() != nil || a.validate() != nil {
		return math.MaxInt64
	}
	if a == ZeroOut {
		return 1 << g.Bits
	}
	return 2 << g.Bits
}

// Clip converts weights to integers in dst. It scales them so that Norm becomes 2^Bits, rounds
// them, and shortens the result to a Euclidean norm of at most 2^Bits. That inequality is exact,
// since it is one of integers. Without rounding, dst would be weights·min(1,
// Norm/‖weights‖)·2^Bits/Norm. The result is within 2√n+1 grid units of that, where n is the
// length.
//
// Both slices must have the same length, 1 to MaxDimension. Clip returns ErrNotFinite for NaN and
// infinity. The section on duties in the package comment describes what must be sent in that case.
// After any error dst is zero.
func (g Grid) Clip(dst []int64, weights []float64) error {
	clear(dst)
	if err := g.Validate(); err != nil {
		return err
	}
	if n := len(weights); n < 1 || n > MaxDimension || len(dst) != n {
		return fmt.Errorf("parameter %q: lengths %d and %d must be equal and lie in [1, %d]", "weights", len(dst), n, MaxDimension)
	}
	largest := 0.0
	for _, w := range weights {
		if math.IsNaN(w) || math.IsInf(w, 0) {
			return ErrNotFinite
		}
		largest = max(largest, math.Abs(w))
	}
	if largest == 0 {
		return nil
	}
	// Weights are divided by the largest entry so that nothing overflows. Rounding errors of these
	// floats do not affect privacy, since project bounds the norm of any resulting integers.
	sum := 0.0
	for _, w := range weights {
		sum += (w / largest) * (w / largest)
	}
	scale := math.Ldexp(min(largest/g.Norm, 1/math.Sqrt(sum)), g.Bits)
	for i, w := range weights {
		dst[i] = int64(math.RoundToEven(w / largest * scale))
	}
	project(dst, g.Bits)
	return nil
}

// project shortens values to a Euclidean norm of at most 2^resolution, in integer arithmetic. An
// entry v becomes ⌊|v|·2^resolution/root⌋ with the sign of v, where root ≥ ‖values‖. Hence the
// squares sum to at most 2^(2·resolution). Entries must be below 2^32 in absolute value.
func project(values []int64, resolution int) {
	var high, low uint64
	for _, v := range values {
		size := magnitude(v)
		h, l := bits.Mul64(size, size)
		var carry uint64
		low, carry = bits.Add64(low, l, 0)
		high += h + carry
	}
	if high == 0 && low <= 1<<(2*resolution) {
		return
	}
	square := new(big.Int).SetUint64(high)
	square.Lsh(square, 64).Add(square, new(big.Int).SetUint64(low))
	root := new(big.Int).Sqrt(square).Uint64() + 1 // root is rounded up; it is at most 2^42+1
	for i, v := range values {
		size := magnitude(v) << resolution / root
		values[i] = int64(size)
		if v < 0 {
			values[i] = -int64(size)
		}
	}
}

func magnitude(v int64) uint64 {
	if v < 0 {
		return -uint64(v)
	}
	return uint64(v)
}

// Weights scales released integers, or sums of them, back to the units of the weights. It is
// applied after the release, so its rounding costs no privacy. It panics if the slices have
// different lengths.
func (g Grid) Weights(dst []float64, released []int64) {
	if len(dst) != len(released) {
		panic(fmt.Sprintf("privacy: Weights of slices of lengths %d and %d", len(dst), len(released)))
	}
	for i, v := range released {
		dst[i] = math.Ldexp(float64(v)*g.Norm, -g.Bits)
	}
}
