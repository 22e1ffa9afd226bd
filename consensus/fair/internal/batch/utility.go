package batch

import (
	"cmp"
	"slices"
)

// utility is what the posterior means of a batch are worth, without the information. It
// keeps its working memory, and so is for one goroutine.
type utility struct {
	rule    Rule
	weights Weights
	// gains, in the order of the parties, less their mean, which would add the same to all
	// values and cost digits. They are 0 where they cannot matter.
	gains []float64
	order []int // the parties, the one with the smallest gain first
	free  bool  // any party may get any of the designs, whichever assignment is best
	// smoothing is ε of distribute, 0 for the utility itself.
	smoothing float64

	served []int     // for each party, its design
	total  []float64 // of each party
	least  []int     // the parties by total, the least first
	share  []float64 // by how much the value grows with each party's total
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

// pair sets which design each party gets: where it is free, the larger mean the less a
// party has gained (S21, appendix B.2), which is worth most.
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

// of returns the utility of the means. slopes, when not nil, gets its derivatives by
// them.
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

// distribute sets the shares, and returns the value, of totals that are sorted in least:
// W, or with smoothing ε > 0 what has no ridges where totals meet. Batches of large value
// lie on such ridges, on which gradients get stuck: who has least counts most, and is
// served until it has least no more.
//
// The smooth value is the least of pᵀu + ½ε(‖p‖² - ‖w‖²) over all averages p of
// permutations of w. It is W(u) where totals are further apart than ε times the
// difference of their weights, and else less by no more than ½ε(‖w‖² - (Σw)²/n). The
// shares p are the projection of -u/ε onto those averages: neighbours in the order that are
// too near to each other are pooled into blocks. Source: Blondel, Teboul, Berthet,
// Djolonga, "Fast Differentiable Sorting and Ranking" (ICML 2020), proposition 3.
func (u *utility) distribute() (value float64) {
	smoothing := u.smoothing
	n := len(u.least)
	type block struct{ first, end int }
	var few [64]block
	blocks := few[:0]
	// level is the mean over the block of -u/ε - w; times ε, so that 0 is allowed.
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
