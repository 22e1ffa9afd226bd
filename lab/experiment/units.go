package experiment

import (
	"fmt"
	"slices"
)

// units are the independent units of standard errors and bounds, the same for all strategies of a
// report. Federations that are drawn anew are independent of each other, and their members are not.
// Where federations are drawn from the same members, which have names, repeats differ by the drawn
// members and by starts only, and a result is one about members like these: then the member is the
// unit, with the mean over its federations.
type units struct {
	names []string // of the members, sorted; nil where federations are the units
	of    []int    // the unit of each row of a sample
}

// Names of the units in a report.
const (
	federationUnit = "federation"
	memberUnit     = "member"
)

// fewMembers is below how many members a report warns.
const fewMembers = 5

// newUnits is of the records of all strategies, each in the order of repeats. All
// strategies must have been played by the same members.
func newUnits(strategies [][]Record) (units, error) {
	var u units
	named := true
	for _, records := range strategies {
		for i, r := range records {
			first := strategies[0][i]
			if !slices.EqualFunc(r.Members, first.Members, func(a, b MemberRecord) bool { return a.Member == b.Member }) {
				return u, fmt.Errorf("repeat %d: %s and %s were played by different members; --fresh makes all anew", r.Repeat, first.Strategy, r.Strategy)
			}
			named = named && !slices.ContainsFunc(r.Members, func(m MemberRecord) bool { return m.Name == "" })
		}
	}
	if !named {
		return u, nil
	}
	var rows []string
	for _, r := range strategies[0] {
		for _, m := range r.Members {
			rows = append(rows, m.Name)
		}
	}
	u.names = slices.Compact(slices.Sorted(slices.Values(rows)))
	for _, name := range rows {
		at, _ := slices.BinarySearch(u.names, name)
		u.of = append(u.of, at)
	}
	return u, nil
}

// rows divides the members of a record into those that make up a row of a sample.
func (u units) rows(r Record) [][]MemberRecord {
	if u.names == nil {
		return [][]MemberRecord{r.Members}
	}
	var rows [][]MemberRecord
	for _, m := range r.Members {
		rows = append(rows, []MemberRecord{m})
	}
	return rows
}

// means makes a number of each unit of a number of each row.
func (u units) means(rows []float64) []float64 {
	if u.names == nil {
		return rows
	}
	all := make([][]float64, len(u.names))
	for i, v := range rows {
		all[u.of[i]] = append(all[u.of[i]], v)
	}
	means := make([]float64, len(all))
	for i, x := range all {
		means[i] = mean(x)
	}
	return means
}

// describe records in the report the units of its bounds, and where the bounds are uninformative.
func (u units) describe(r *Report) {
	r.Unit, r.Units = federationUnit, r.Repeats
	if u.names == nil {
		if r.Repeats == 1 {
			r.warn("one repeat allows no standard errors and no bounds")
		}
		return
	}
	r.Unit, r.Units = memberUnit, len(u.names)
	switch {
	case r.Units == 1:
		r.warn("one member allows no standard errors and no bounds")
	case r.Units < fewMembers:
		r.warn("standard errors and bounds are over %d members: so few say little about others", r.Units)
	}
	if r.Repeats == 1 && r.Units > 1 {
		r.warn("one repeat: what its members had in common by chance is not in the bounds")
	}
}
