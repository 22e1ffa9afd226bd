package democmd

import (
	"fmt"
	"math"
	"strings"

	"github.com/fbo-node/fbo/internal/sanitize"
)

// curves holds the mean best losses of the nodes after each evaluation.
type curves struct {
	Together []float64 `json:"together"`
	Alone    []float64 `json:"alone"`
}

func newCurves(together, alone []nodeSummary) curves {
	return curves{meanCurve(together), meanCurve(alone)}
}

// meanCurve returns the mean of the curves; it is as long as the shortest of them.
func meanCurve(nodes []nodeSummary) (mean []float64) {
	for i := 0; ; i++ {
		sum := 0.0
		for _, n := range nodes {
			if i >= len(n.curve) {
				return mean
			}
			sum += n.curve[i]
		}
		if len(nodes) == 0 {
			return mean
		}
		mean = append(mean, sum/float64(len(nodes)))
	}
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

// reached returns the number of evaluations after which together had reached the final loss of
// alone, or 0 if it did not.
func (c curves) reached() int { return after(c.Together, last(c.Alone)) }

// sentence reports how many evaluations one needed to match the other.
func (c curves) sentence() string {
	first, second, name, other := c.Together, c.Alone, "Together", "alone"
	if c.reached() == 0 {
		first, second, name, other = c.Alone, c.Together, "Alone", "together"
	}
	goal := last(second)
	quick, slow := after(first, goal), after(second, goal)
	took := "took"
	if quick > slow {
		took = "took only"
	}
	return fmt.Sprintf("%s reached after %s what %s %s %d: mean loss %.4g.", name, sanitize.Count(quick, "evaluation"), other, took, slow, goal)
}

// plot draws both curves over evaluations, in lines of characters: t together, a alone, * both.
// The scale is logarithmic.
func (c curves) plot(rows, width int) []string {
	const margin = 9 // for the scale
	n := min(len(c.Together), len(c.Alone))
	columns := width - margin
	if n < columns {
		columns -= columns % n
	}
	low, high := math.Inf(1), math.Inf(-1)
	for i := range n {
		low, high = min(low, c.Together[i], c.Alone[i]), max(high, c.Together[i], c.Alone[i])
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
		t, a := row(c.Together[i]), row(c.Alone[i])
		field[t][column], field[a][column] = 't', 'a'
		if t == a {
			field[t][column] = '*'
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
