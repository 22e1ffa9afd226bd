package rff

// batch is the number of terms of every sum of products that are packed at once.
const batch = 256

// packed holds one batch of the columns of a matrix with a row per sum. Zero rows and
// columns fill it up to the multiples that the kernel needs.
type packed struct {
	rows   int
	stride int // between rows
	width  int // of a row, a multiple of lanes
	data   []float64
}

const (
	lanes     = 4     // numbers in a vector
	tileRows  = 4     // rows of a tile, the result of one call of the kernel
	tileCols  = 3     // columns of a tile
	rowsMulti = 4 * 3 // common multiple of both
)

func newPacked(rows, terms int) *packed {
	p := &packed{rows: rows, width: (min(terms, batch) + lanes - 1) / lanes * lanes}
	// With a stride of a power of two, rows would share too few sets of the cache.
	p.stride = p.width + 2*lanes
	p.data = make([]float64, (rows+rowsMulti-1)/rowsMulti*rowsMulti*p.stride)
	return p
}

// between returns PhiPhiᵀ (t×t, upper triangle) for the features of t points.
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

// among returns PhiᵀPhi (M×M, upper triangle) of t points, whose features put computes one
// by one. It stores only a few of them at once.
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
