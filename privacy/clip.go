package privacy

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
)

// Adjacency names which two contributions of a node must be hard to distinguish.
type Adjacency int

const (
	// ReplaceOne: any contribution against any other. Presence is public. The
	// sensitivity is twice the clip norm.
	ReplaceOne Adjacency = iota
	// ZeroOut: any contribution against the zero vector. The sensitivity is the
	// clip norm.
	ZeroOut
)

// String returns the name that documents and errors use.
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

// Bounds of a Grid's fields.
const (
	MinBits      = 8
	MaxBits      = 30
	MinNorm      = 1e-100
	MaxNorm      = 1e100
	MaxDimension = 1 << 20
)

// ErrNotFinite is returned for weights that are NaN or infinite.
var ErrNotFinite = errors.New("weights are not finite")

// Grid declares how weights become integers: Norm maps to 2^Bits. Both are public
// constants, equal for all nodes and fixed before any data is seen.
type Grid struct {
	Norm float64 // largest Euclidean norm of a contribution, in units of the weights; in [MinNorm, MaxNorm]
	Bits int     // resolution, in [MinBits, MaxBits]; 30 makes rounding negligible
}

// Validate reports the first parameter out of range.
func (g Grid) Validate() error {
	if !(g.Norm >= MinNorm && g.Norm <= MaxNorm) {
		return fmt.Errorf("parameter %q: %g must lie in [%g, %g]", "Norm", g.Norm, MinNorm, MaxNorm)
	}
	if g.Bits < MinBits || g.Bits > MaxBits {
		return fmt.Errorf("parameter %q: %d must lie in [%d, %d]", "Bits", g.Bits, MinBits, MaxBits)
	}
	return nil
}

// Sensitivity returns the largest Euclidean distance, in grid units, between what
// Clip makes of two neighbouring contributions. It is exact: Clip's results are
// integer vectors of norm at most 2^Bits whatever was rounded before, so that the
// distance to zero is at most 2^Bits and that of two results at most 2^(Bits+1),
// and opposite vectors on an axis reach both. A grid or adjacency that is out of
// range gives the largest int64, so that no noise suffices.
func (g Grid) Sensitivity(a Adjacency) int64 {
	if g.Validate() != nil || a.validate() != nil {
		return math.MaxInt64
	}
	if a == ZeroOut {
		return 1 << g.Bits
	}
	return 2 << g.Bits
}

// Clip scales weights so that Norm maps to 2^Bits, rounds them to integers and
// shortens the result so that its Euclidean norm is at most 2^Bits, exactly, as an
// inequality of integers. Without rounding dst would be
// weights·min(1, Norm/‖weights‖)·2^Bits/Norm; it lies within 2√n+1 grid units of
// that (n the length).
//
// Both slices have the same length, 1 to MaxDimension. ErrNotFinite is returned
// for NaN and infinity; see the package's duties for what must be sent then. After
// any error dst is zero.
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
	// Relative to the largest entry nothing overflows. Rounding errors of these floats do not
	// affect privacy: project bounds the norm of any resulting integers.
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

// project shortens values to a Euclidean norm of at most 2^bits, in integers. An
// entry becomes ⌊|v|·2^bits/root⌋ with its sign, where root ≥ ‖values‖; hence the
// squares sum to at most 2^(2·bits). Entries must be below 2^32 in size.
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
	root := new(big.Int).Sqrt(square).Uint64() + 1 // rounded up: at most 2^42+1
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

// Weights scales released integers, or sums of them, back to the units of the
// weights. It comes after the release, so its rounding costs no privacy. Slices of
// different length panic.
func (g Grid) Weights(dst []float64, released []int64) {
	if len(dst) != len(released) {
		panic(fmt.Sprintf("privacy: Weights of slices of lengths %d and %d", len(dst), len(released)))
	}
	for i, v := range released {
		dst[i] = math.Ldexp(float64(v)*g.Norm, -g.Bits)
	}
}
