package democmd

import (
	"fmt"
	"math"
	"strings"
)

// curves holds the mean best losses of sites after each evaluation.
type curves struct {
	WithPeers []float64 `json:"with_peers"`
	Alone     []float64 `json:"alone"`
}

// meanCurve returns the mean of curves of one length.
func meanCurve(of [][]float64) []float64 {
	mean := make([]float64, len(of[0]))
	for _, curve := range of {
		for i, loss := range curve {
			mean[i] += loss / float64(len(of))
		}
	}
	return mean
}

// after returns the number of evaluations after which a curve has reached a loss, 0 for never.
func after(curve []float64, loss float64) int {
	for i, v := range curve {
		if v <= loss {
			return i + 1
		}
	}
	return 0
}

func last(curve []float64) float64 { return curve[len(curve)-1] }

// plot draws both curves over evaluations, in lines of characters: p with peers, a alone, * both.
// The scale is logarithmic.
func (c curves) plot(rows, width int) []string {
	const margin = 9 // for the scale
	n := min(len(c.WithPeers), len(c.Alone))
	columns := width - margin
	if n < columns {
		columns -= columns % n
	}
	low, high := math.Inf(1), math.Inf(-1)
	for i := range n {
		low, high = min(low, c.WithPeers[i], c.Alone[i]), max(high, c.WithPeers[i], c.Alone[i])
	}
	low = max(low, math.SmallestNonzeroFloat32) // a loss of 0 has no logarithm
	high = max(high, low)
	row := func(loss float64) int {
		if high == low {
			return rows - 1
		}
		return int(math.Round(float64(rows-1) * math.Log(high/max(loss, low)) / math.Log(high/low)))
	}
	field := make([][]byte, rows)
	for r := range field {
		field[r] = []byte(strings.Repeat(" ", columns))
	}
	for column := range columns {
		i := column * n / columns
		p, a := row(c.WithPeers[i]), row(c.Alone[i])
		field[p][column], field[a][column] = 'p', 'a'
		if p == a {
			field[p][column] = '*'
		}
	}
	var lines []string
	for r, line := range field {
		scale := ""
		switch r {
		case 0:
			scale = fmt.Sprintf("%.3g", high)
		case rows - 1:
			scale = fmt.Sprintf("%.3g", low)
		}
		lines = append(lines, strings.TrimRight(fmt.Sprintf("%*s |%s", margin-2, scale, line), " "))
	}
	ends := fmt.Sprintf("1%*d", columns-1, n)
	return append(lines, fmt.Sprintf("%*s  %s", margin-2, "", ends))
}
