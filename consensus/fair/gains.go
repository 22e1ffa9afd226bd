package fair

import "github.com/fbo-node/fbo/strategy"

// totals returns for each party of the roster how much more it has got than with average
// results, in units of the objective: the sum over its results of the difference to the
// mean of all results. What failed, or is from before or elsewhere, does not count.
func (e *Exchange) totals() []float64 {
	mean, count := 0.0, 0
	for _, list := range e.book.entries {
		for _, entry := range list {
			if entry.isGain() {
				count++
				mean += (*entry.Value - mean) / float64(count)
			}
		}
	}
	totals := make([]float64, len(e.roster))
	for party, list := range e.book.entries {
		for _, entry := range list {
			if entry.isGain() {
				totals[party] += *entry.Value - mean
			}
		}
	}
	return totals
}

// gains says what each party has got, as far as this node knows: all parties without a
// mediator and at the mediator; elsewhere the node itself.
func (e *Exchange) gains() (all []strategy.Reward) {
	totals := e.totals()
	for party, list := range e.book.entries {
		if !e.chooses() && party != e.self {
			continue
		}
		g := strategy.Reward{Party: e.roster[party], RelativeToMean: totals[party]}
		if !e.chooses() {
			g.RelativeToMean = e.against
		}
		if party == e.self {
			g.Alone = e.estimate.latest
		}
		for _, entry := range list {
			if !entry.isGain() {
				continue
			}
			value := e.task.Goal.Sign() * *entry.Value
			if g.Evaluations == 0 || e.task.Goal.Sign()*(value-g.Best) > 0 {
				g.Best = value
			}
			g.Evaluations++
			g.Sum += value
		}
		all = append(all, g)
	}
	return all
}
