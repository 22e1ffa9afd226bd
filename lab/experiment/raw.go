package experiment

import (
	"encoding/csv"
	"io"
	"strconv"
)

// WriteRaw writes the data of a report of the plan, which is from Complete: a row per strategy,
// federation, agent that counts and evaluation, after a row of names. Regrets are those of the
// report, without noise and in the units of the agent's objective: of the design that was
// evaluated, the simple regret so far and the sum so far. With constraints there is each design's
// violation, without noise; 0 where it is feasible, and the regret of the design is empty where it
// is not. The member's name is empty where each federation has members of its own.
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

// violation is that of an evaluated design, under constraints. Where none can be kept it
// stands for the regret.
func (m MemberRecord) violation(k int) Number {
	if m.constrained() {
		return m.Violation[k]
	}
	return m.Regret[k]
}
