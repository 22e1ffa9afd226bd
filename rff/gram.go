package rff

// batch is the largest number of terms of each inner product that are packed at once.
const batch = 256

// packed holds one batch of columns of a matrix, and computes the inner products of the rows. It is
// padded with zero rows and columns up to the multiples that the kernel needs.
type packed struct {
	rows   int
	stride int // distance between the starts of rows, in numbers
	width  int // length of a row, a multiple of lanes
	data   []float64
}

const (
	lanes     = 4     // numbers in one vector register
	tileRows  = 4     // rows of a tile, which is the result of one call of the kernel
	tileCols  = 3     // columns of a tile
	rowsMulti = 4 * 3 // common multiple of tileRows and tileCols
)

func newPacked(rows, terms int) *packed {
	p := &packed{rows: rows, width: (min(terms, batch) + lanes - 1) / lanes * lanes}
	// A row's stride of exactly a power of two would map rows to few sets of the CPU cache.
	p.stride = p.width + 2*lanes
	p.data = make([]float64, (rows+rowsMulti-1)/rowsMulti*rowsMulti*p.stride)
	return p
}

// between returns PhiPhiᵀ (t×t, upper triangle), given the features of t points.
func between(phi []float64, t, features int) []float64 {
	g := make([]float64, t*t)
	p := newPacked(t, features)
	for start := 0; start < features; start += batch {
		end := min(start+batch, features)
		for i := range t {
			row := p.data[i*p.stride : i*p.stride+p.width]
			clear(row[copy(row, phi[i*features+start:i*features+end]):])
		}
		p.addOuter(g, t, 1)
	}
	return g
}

// among returns PhiᵀPhi (M×M, upper triangle) for t points. put must fill phi with the features of
// point i. among stores the features of only one batch of points at a time.
func among(t, features int, put func(phi []float64, i int)) []float64 {
	g := make([]float64, features*features)
	p := newPacked(features, t)
	phi := make([]float64, features)
	for start := 0; start < t; start += batch {
		for i := range p.width {
			if start+i < t {
				put(phi, start+i)
			} else {
				clear(phi)
			}
			for j, v := range phi {
				p.data[j*p.stride+i] = v
			}
		}
		p.addOuter(g, features, 1)
	}
	return g
}
