package experiment

import (
	"encoding/csv"
	"io"
	"strconv"
)

// WriteRaw writes the data behind a report of the plan, which must come from Complete: a header,
// and one row per strategy, federation, counting agent and evaluation. The regrets are those of the
// report, without noise and in the units of the agent's objective: the regret of the evaluated
// design, the simple regret so far and the sum of regrets so far. With constraints, each row has
// the violation of the design without noise, which is 0 if the design is feasible. The regret of an
// infeasible design is empty. The name of the member is empty if each federation has its own
// members.
func WriteRaw(w io.Writer, p Plan, store *Store) error {
	all, err := p.records(store)
	if err != nil {
		return err
	}
	out := csv.NewWriter(w)
	header := []string{"family", "strategy", "federation", "agent", "member", "evaluation", "regret", "simple_regret", "cumulative_regret"}
	constrained := len(p.Family.Constraints) > 0
	if constrained {
		header = append(header, "violation")
	}
	if err := out.Write(header); err != nil {
		return err
	}
	for i, records := range all {
		for _, r := range records {
			for _, m := range r.Members {
				simple, cumulative := m.simple(), m.cumulative()
				for k, regret := range m.Regret {
					row := []string{p.Family.Name, p.Strategies[i].String(), strconv.Itoa(r.Repeat), strconv.Itoa(m.Member), m.Name, strconv.Itoa(k + 1),
						exact(regret), exact(Number(simple[k])), exact(Number(cumulative[k]))}
					if constrained {
						row = append(row, exact(m.violation(k)))
					}
					if err := out.Write(row); err != nil {
						return err
					}
				}
			}
		}
	}
	out.Flush()
	return out.Error()
}

// violation returns the violation of evaluated design k. In infeasible federations violations
// replace regrets, and it returns the regret.
func (m MemberRecord) violation(k int) Number {
	if m.constrained() {
		return m.Violation[k]
	}
	return m.Regret[k]
}
