package experiment

import (
	"fmt"
	"slices"
)

// units are the independent units over which standard errors and bounds are computed. They are the
// same for all strategies of a report. Usually a unit is a federation: federations are drawn anew
// and are independent, and members of one federation are not. If all federations are drawn from the
// same named members, repeats differ only in the selection of members and in starting designs.
// Results then hold for members like these, so the unit is a member, with the mean over its
// federations.
type units struct {
	names []string // names of the members, sorted; nil if federations are the units
	of    []int    // index of the unit of each row of a sample
}

// Names of the units in a report.
const (
	federationUnit = "federation"
	memberUnit     = "member"
)

// fewMembers is the number of members below which a report warns.
const fewMembers = 5

// newUnits returns the units for the records of all strategies, each in the order of repeats. It
// returns an error if the strategies have different members.
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

// rows groups the members of a record by the rows of a sample.
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

// means returns one number per unit: the mean over the unit's rows.
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

// describe sets the report's unit and number of units, and warns if the bounds are not informative.
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
