package fourier

import (
	"fmt"
	"math"
)

// block is the number of waves that are evaluated together.
const block = 8

// Waves is a set of frequencies. It is immutable and safe for concurrent use.
type Waves struct {
	dim   int
	count int
	// turns holds the frequencies divided by 2π, in blocks of eight waves. A block has eight
	// frequencies for each coordinate. The last block is padded with zeros.
	turns []float64
}

// NewWaves returns waves with these frequencies, in radians per unit: rows of dim coordinates,
// row-major, which it copies. It panics if the length is not a multiple of dim.
func NewWaves(dim int, frequencies []float64) *Waves {
	if dim < 1 || len(frequencies)%dim != 0 {
		panic(fmt.Sprintf("fourier: %d frequencies do not make rows of %d", len(frequencies), dim))
	}
	w := &Waves{dim: dim, count: len(frequencies) / dim}
	w.turns = make([]float64, w.blocks()*block*dim)
	for i := range w.count {
		for k := range dim {
			w.turns[(i/block*dim+k)*block+i%block] = frequencies[i*dim+k] / (2 * math.Pi)
		}
	}
	return w
}

// Len returns the number of frequencies.
func (w *Waves) Len() int { return w.count }

// Dim returns the number of coordinates.
func (w *Waves) Dim() int { return w.dim }

func (w *Waves) blocks() int { return (w.count + block - 1) / block }

// Features fills dst (length 2·Len) with the cosine and the sine of each wave in turn, at x (length
// Dim). It panics on a wrong length.
func (w *Waves) Features(dst, x []float64) {
	w.check(x)
	if len(dst) != 2*w.count {
		panic(fmt.Sprintf("fourier: room for %d features of %d waves", len(dst), w.count))
	}
	for i := range w.count {
		turn := 0.0
		at := i/block*w.dim*block + i%block
		for k, v := range x {
			turn += w.turns[at+k*block] * v
		}
		dst[2*i+1], dst[2*i] = math.Sincos(2 * math.Pi * (turn - math.RoundToEven(turn)))
	}
}

func (w *Waves) check(x []float64) {
	if len(x) != w.dim {
		panic(fmt.Sprintf("fourier: point of %d coordinates: the waves take %d", len(x), w.dim))
	}
}
