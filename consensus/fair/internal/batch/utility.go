package batch

import (
	"cmp"
	"slices"
)

// utility computes the utility of a batch from its posterior means, without the information. It
// reuses its buffers, so it must not be used concurrently.
type utility struct {
	rule    Rule
	weights Weights
	// gains are the gains by party, minus their mean. The mean would add a constant to all values
	// and cost precision. gains are 0 if they do not affect the choice.
	gains []float64
	order []int // the parties, the one with the smallest gain first
	free  bool  // each party can evaluate each design, and the best assignment is used
	// smoothing is the ε of distribute; 0 means the exact utility.
	smoothing float64

	served []int     // by party: index of its design
	total  []float64 // by party: its gain plus its design's mean
	least  []int     // the parties by total, the smallest first
	share  []float64 // by party: derivative of the value with respect to the party's total
}

func newUtility(p Problem, free bool) *utility {
	n := len(p.Gains)
	u := &utility{
		rule:    p.Rule,
		weights: p.Weights,
		gains:   make([]float64, n),
		order:   rising(p.Gains),
		free:    free,
		served:  make([]int, n),
		total:   make([]float64, n),
		least:   make([]int, n),
		share:   make([]float64, n),
	}
	if p.Rule == Fair && !p.Weights.equal() {
		mean := 0.0
		for _, gain := range p.Gains {
			mean += gain / float64(n)
		}
		for i, gain := range p.Gains {
			u.gains[i] = gain - mean
		}
	}
	return u
}

// pair assigns designs to parties. If the assignment is free, parties with less gain get designs of
// larger mean, which maximises the value (S21, appendix B.2).
func (u *utility) pair(means []float64) {
	for i := range u.served {
		u.served[i] = i
	}
	if !u.free || u.rule == TwoStep {
		return
	}
	slices.SortStableFunc(u.served, func(i, j int) int { return cmp.Compare(means[j], means[i]) })
	copy(u.least, u.served)
	for rank, party := range u.order {
		u.served[party] = u.least[rank]
	}
}

// of returns the utility of a batch with these means. If slopes is not nil, it fills slopes with
// the derivatives with respect to the means.
func (u *utility) of(means, slopes []float64) float64 {
	u.pair(means)
	value := 0.0
	switch u.rule {
	case Fair:
		for party, design := range u.served {
			u.total[party] = u.gains[party] + means[design]
			u.least[party] = party
		}
		slices.SortStableFunc(u.least, func(i, j int) int { return cmp.Compare(u.total[i], u.total[j]) })
		value = u.distribute()
	case Instant:
		for rank, party := range u.order {
			u.share[party] = u.weights[rank]
			value += u.weights[rank] * means[u.served[party]]
		}
	case TwoStep:
		for party, design := range u.served {
			u.share[party] = 1
			value += means[design]
		}
	}
	if slopes != nil {
		for party, design := range u.served {
			slopes[design] = u.share[party]
		}
	}
	return value
}

// distribute sets share and returns the welfare W of the totals, or for smoothing ε > 0 an
// approximation without ridges. least must be sorted by total. W has ridges where totals are equal:
// the smallest total has the largest weight, and grows until it is no longer the smallest. Batches
// of large value lie on such ridges, where gradient ascents get stuck.
//
// The approximation is the minimum of pᵀu + ½ε(‖p‖² - ‖w‖²) over all averages p of permutations of
// w, with u the sorted totals. It equals W(u) if totals differ by more than ε times the difference
// of their weights. Otherwise it is smaller, by at most ½ε(‖w‖² - (Σw)²/n). The minimiser p is the
// projection of -u/ε onto these averages, and its elements become share. Adjacent totals that are
// too close are pooled into blocks. Source: Blondel, Teboul, Berthet, Djolonga, "Fast
// Differentiable Sorting and Ranking" (ICML 2020), proposition 3.
func (u *utility) distribute() (value float64) {
	smoothing := u.smoothing
	n := len(u.least)
	type block struct{ first, end int }
	var few [64]block
	blocks := few[:0]
	// level returns ε times the mean over the block of -u/ε - w. The factor ε allows ε = 0.
	level := func(b block) (mean float64) {
		for rank := b.first; rank < b.end; rank++ {
			mean += -u.total[u.least[rank]] - smoothing*u.weights[rank]
		}
		return mean / float64(b.end-b.first)
	}
	for rank := range n {
		last := block{rank, rank + 1}
		for smoothing > 0 && len(blocks) > 0 && level(blocks[len(blocks)-1]) < level(last) {
			last.first = blocks[len(blocks)-1].first
			blocks = blocks[:len(blocks)-1]
		}
		blocks = append(blocks, last)
	}
	for _, b := range blocks {
		if b.end-b.first == 1 {
			party := u.least[b.first]
			u.share[party] = u.weights[b.first]
			value += u.weights[b.first] * u.total[party]
			continue
		}
		count := float64(b.end - b.first)
		total, weight := 0.0, 0.0
		for rank := b.first; rank < b.end; rank++ {
			total += u.total[u.least[rank]] / count
			weight += u.weights[rank] / count
		}
		for rank := b.first; rank < b.end; rank++ {
			party, w := u.least[rank], u.weights[rank]
			share := weight - (u.total[party]-total)/smoothing
			u.share[party] = share
			value += share*u.total[party] + smoothing/2*(share*share-w*w)
		}
	}
	return value
}
