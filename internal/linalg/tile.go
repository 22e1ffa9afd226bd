package linalg

// The tile of a product: so many rows and columns are computed together.
const (
	tileRows    = 4
	tileColumns = 8
)

// subtractTile subtracts the product AᵀB from a tile: for r < 4 and s < 8,
//
//	c[r·stride + s] -= Σ a[p·stride + r] · b[p·stride + s],  p < n.
//
// All three have the same stride.
func subtractTile(c, a, b []float64, stride, n int) {
	if n == 0 {
		return
	}
	_, _, _ = c[(tileRows-1)*stride+tileColumns-1], a[(n-1)*stride+tileRows-1], b[(n-1)*stride+tileColumns-1]
	if !vectorTile(c, a, b, stride, n) {
		portableTile(c, a, b, stride, n)
	}
}

func portableTile(c, a, b []float64, stride, n int) {
	for s := 0; s < tileColumns; s += 2 {
		var sums [2 * tileRows]float64
		for p := range n {
			left, right := a[p*stride:p*stride+tileRows], b[p*stride+s:p*stride+s+2]
			for r, v := range left {
				sums[2*r] += v * right[0]
				sums[2*r+1] += v * right[1]
			}
		}
		for r := range tileRows {
			c[r*stride+s] -= sums[2*r]
			c[r*stride+s+1] -= sums[2*r+1]
		}
	}
}

// combineRows sets dst[s] = Σ x[p] · b[p·stride + s] for s < 8 and p < n = len(x), which is a multiple of 4.
func combineRows(dst, x, b []float64, stride int) {
	n := len(x)
	_, _ = dst[tileColumns-1], b[(n-1)*stride+tileColumns-1]
	if vectorRows(dst, x, b, stride) {
		return
	}
	var sums [tileColumns]float64
	for p, v := range x {
		for s, w := range b[p*stride : p*stride+tileColumns] {
			sums[s] += v * w
		}
	}
	copy(dst, sums[:])
}
