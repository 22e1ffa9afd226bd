package strategy

import "github.com/fbo-node/fbo/task"

// Rung orders disclosures by how much nodes share. The words are those of docs/sharing.md.
type Rung string

// The rungs, from the most disclosed to the least.
const (
	RungResults Rung = "results" // all results, as measured
	RungExact   Rung = "exact"   // numbers of one node from which its results can be computed, at least some
	RungSum     Rung = "sum"     // exact sums over several nodes, without noise
	RungDesign  Rung = "design"  // designs, as they are
	RungCoarse  Rung = "coarse"  // a cell that contains a good design
	RungDP      Rung = "DP"      // a guarantee of differential privacy
	RungAlone   Rung = "alone"   // nothing
)

// contents has the rungs in their order, each with a clause on what is shared.
var contents = []struct {
	rung    Rung
	content string
}{
	{RungResults, "nodes share all results, as measured"},
	{RungExact, "nodes share numbers from which their results can be computed"},
	{RungSum, "nodes share exact sums over several nodes"},
	{RungDesign, "nodes share designs"},
	{RungCoarse, "nodes share a coarse location of a good design"},
	{RungDP, "nodes share numbers with noise, under differential privacy"},
	{RungAlone, "nodes share nothing"},
}

// Rungs returns all rungs, from the most disclosed to the least.
func Rungs() (all []Rung) {
	for _, c := range contents {
		all = append(all, c.rung)
	}
	return all
}

// Content returns a clause for `task check` on what nodes share at this rung. It returns an empty
// string if r is no rung.
func (r Rung) Content() string {
	for _, c := range contents {
		if c.rung == r {
			return c.content
		}
	}
	return ""
}

// most returns the rung of two that discloses more. The zero value discloses nothing.
func (r Rung) most(other Rung) Rung {
	for _, rung := range Rungs() {
		if rung == r || rung == other {
			return rung
		}
	}
	return RungAlone
}

// Rung returns the rung of the disclosure that a task uses, or RungAlone if the strategy shares
// nothing.
func (r Registration) Rung(t *task.Task) Rung {
	if !r.Shares() {
		return RungAlone
	}
	return r.Disclosure(t).Rung
}
