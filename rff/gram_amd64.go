//go:build amd64 && !noasm

package rff

import "golang.org/x/sys/cpu"

// tileGroup is the number of rows that stay in the L2 cache while all other rows are read once.
const tileGroup = 48

// addOuter adds scale times the product of the packed matrix and its transpose to the upper
// triangle of g (rows×rows, with the given stride). The values below the diagonal of g are
// undefined afterwards.
func (p *packed) addOuter(g []float64, stride int, scale float64) {
	if !cpu.X86.HasAVX2 || !cpu.X86.HasFMA {
		p.addOuterPortable(g, stride, scale)
		return
	}
	var tile [tileRows * tileCols]float64
	for group := 0; group < p.rows; group += tileGroup {
		end := min(group+tileGroup, p.rows)
		for i := 0; i < end; i += tileRows {
			// The first tile that reaches the diagonal.
			for j := max(group, i/tileCols*tileCols); j < end; j += tileCols {
				products(&p.data[i*p.stride], &p.data[j*p.stride], 8*p.stride, p.width/lanes, &tile)
				p.place(g[i*stride:], stride, scale, &tile, i, j)
			}
		}
	}
}

// place adds scale times the tile to the matrix at row i and column j. g begins at row i.
func (p *packed) place(g []float64, stride int, scale float64, tile *[tileRows * tileCols]float64, i, j int) {
	width := min(tileCols, p.rows-j)
	for r := range min(tileRows, p.rows-i) {
		row := g[r*stride+j:][:width]
		for c := range row {
			row[c] += scale * tile[r*tileCols+c]
		}
	}
}

// products fills tile with the inner products of four rows from a with three rows from b. Each row
// has 4·vectors numbers. stride is the distance between rows in bytes.
//
//go:noescape
func products(a, b *float64, stride, vectors int, tile *[tileRows * tileCols]float64)
