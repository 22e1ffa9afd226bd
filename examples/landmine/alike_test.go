package landmine

import (
	"cmp"
	"math"
	"slices"
	"testing"
)

// TestFieldsAreHardlyAlike prints, and holds to, what the README says about how
// much one field can tell another: over the 121 points of the published grid,
// the rank correlation of the AUC between two fields.
func TestFieldsAreHardlyAlike(t *testing.T) {
	points, aucs := readGrid(t, needData(t, "auc_grid.csv")[0], 1)
	const fields = 29
	surfaces := make([][]float64, fields)
	best := make([]point, fields)
	highest := make([]float64, fields)
	for i, p := range points {
		surfaces[p.Field] = append(surfaces[p.Field], aucs[i])
		if aucs[i] > highest[p.Field] {
			best[p.Field], highest[p.Field] = p, aucs[i]
		}
	}
	var correlations []float64
	for i := range fields {
		for j := range i {
			correlations = append(correlations, correlation(ranks(surfaces[i]), ranks(surfaces[j])))
		}
	}
	slices.Sort(correlations)
	quantile := func(p int) float64 { return correlations[p*len(correlations)/100] }
	atEdge := 0
	for _, p := range best {
		if p.Gamma == 0.01 {
			atEdge++
		}
	}
	t.Logf("rank correlation of %d pairs of fields: 10%% %.2f, median %.2f, 90%% %.2f",
		len(correlations), quantile(10), quantile(50), quantile(90))
	t.Logf("the best point has the smallest gamma in %d of %d fields", atEdge, fields)
	t.Logf("best AUC of the grid: from %.2f to %.2f", slices.Min(highest), slices.Max(highest))
	if median := quantile(50); median < 0 || median > 0.2 {
		t.Errorf("median %.2f, the README says about 0.1", median)
	}
}

// ranks returns the ranks of the values; equal values share their mean rank.
func ranks(values []float64) []float64 {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	ranks := make([]float64, len(values))
	for start := 0; start < len(order); {
		end := start
		for end < len(order) && values[order[end]] == values[order[start]] {
			end++
		}
		for _, i := range order[start:end] {
			ranks[i] = float64(start+end-1) / 2
		}
		start = end
	}
	return ranks
}

// correlation is Pearson's; ranks of equally many values have the same mean.
func correlation(a, b []float64) float64 {
	mean := float64(len(a)-1) / 2
	var ab, aa, bb float64
	for i := range a {
		ab += (a[i] - mean) * (b[i] - mean)
		aa += (a[i] - mean) * (a[i] - mean)
		bb += (b[i] - mean) * (b[i] - mean)
	}
	return ab / math.Sqrt(aa*bb)
}
