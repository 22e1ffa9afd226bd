package democmd

import "fmt"

// SeedsReport is the result of several seeds, as demo --seeds N --json prints it.
type SeedsReport struct {
	Seeds []Report `json:"seeds"`
	// EvaluationsToAlone is the mean number of evaluations until together reached alone's final
	// mean; a seed that did not reach it counts with the whole budget.
	EvaluationsToAlone float64 `json:"evaluations_to_alone"`
	BudgetFraction     float64 `json:"budget_fraction"` // the same as a part of the budget
	Never              int     `json:"never"`           // number of seeds that did not reach it
	NodesBetter        float64 `json:"nodes_better"`    // part of the nodes that were better together; ties count half
}

func (s *SeedsReport) add(r Report) {
	s.Seeds = append(s.Seeds, r)
	var better, nodes, evaluations, budget float64
	s.Never = 0
	for _, r := range s.Seeds {
		all := len(r.Curves.Alone)
		reached := r.EvaluationsToAlone
		if reached == 0 {
			reached = all
			s.Never++
		}
		evaluations += float64(reached)
		budget += float64(all)
		better += r.NodesBetter
		nodes += float64(len(r.Nodes))
	}
	s.EvaluationsToAlone, s.BudgetFraction, s.NodesBetter = evaluations/float64(len(s.Seeds)), evaluations/budget, better/nodes
}

const seedsHeader = "  seed  together     alone  alone's final mean reached after  nodes better"

// line is the row of one seed below seedsHeader.
func (r Report) line() string {
	reached := "never"
	if r.EvaluationsToAlone > 0 {
		reached = fmt.Sprintf("%d of %d", r.EvaluationsToAlone, len(r.Curves.Alone))
	}
	return fmt.Sprintf("%6d  %8.4f  %8.4f  %32s  %7g of %d", r.Seed, last(r.Curves.Together), last(r.Curves.Alone), reached, r.NodesBetter, len(r.Nodes))
}

func (s SeedsReport) text() string {
	wins := 0
	for _, r := range s.Seeds {
		if last(r.Curves.Together) < last(r.Curves.Alone) {
			wins++
		}
	}
	return fmt.Sprintf(`Together reached alone's final mean after %.1f evaluations, %.0f %% of the budget
(never, in %d of %d seeds, counts as all of it), and had the better mean in %d.
%.0f %% of the nodes were better together by their final loss, ties counting half.
`, s.EvaluationsToAlone, 100*s.BudgetFraction, s.Never, len(s.Seeds), wins, 100*s.NodesBetter)
}
