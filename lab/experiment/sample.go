package experiment

// sample holds all records of one strategy, in the order of repeats, and the curves computed from
// them.
type sample struct {
	spec    Spec
	initial int // number of random starting designs of an agent
	length  int // length of curves, in evaluations
	units   units
	records []Record
	foreign int // number of records that other builds made

	simple, cumulative, recommended, gap [][]float64 // one row per federation, or per member of each federation if members are the units
	members                              [4][][]float64
	floors                               []float64 // floor of each row

	// For constraints, else nil: one row per counting member. firsts has the rows of simple
	// instead.
	nothing, mistaken, infeasible [][]float64
	first, firsts                 []float64
}

func (s *sample) add(p Plan, r Record) {
	s.records = append(s.records, r)
	for _, row := range s.units.rows(r) {
		s.addRow(row)
		deviation, noise := r.Deviation, r.Noise
		if s.units.names != nil {
			deviation, noise = row[0].Deviation, row[0].Noise
		}
		s.floors = append(s.floors, p.floor(deviation, noise, r.Infeasible))
	}
}

func (s *sample) addRow(row []MemberRecord) {
	var simple, cumulative, recommended, gap [][]float64
	for _, m := range row {
		simple = append(simple, held(m.simple(), s.length))
		cumulative = append(cumulative, held(m.cumulative(), s.length))
		recommended = append(recommended, m.recommended())
		gap = append(gap, held(m.gap(s.initial), s.length))
	}
	s.simple = append(s.simple, average(simple))
	s.cumulative = append(s.cumulative, average(cumulative))
	s.recommended = append(s.recommended, average(recommended))
	s.gap = append(s.gap, average(gap))
	for i, rows := range [][][]float64{simple, cumulative, recommended, gap} {
		s.members[i] = append(s.members[i], rows...)
	}
	s.addFeasibility(row)
}

func (s *sample) report() StrategyReport {
	r := StrategyReport{
		Strategy:    s.spec.String(),
		OtherBuilds: s.foreign,
		Simple:      s.series(s.simple, s.members[0]),
		Cumulative:  s.series(s.cumulative, s.members[1]),
		Recommended: s.series(s.recommended, s.members[2]),
		Gap:         s.series(s.gap, s.members[3]),
	}
	var queries, sent []float64
	for _, record := range s.records {
		total := 0
		for _, m := range record.Members {
			total += m.PeerInformedTrials
		}
		queries = append(queries, float64(total)/float64(len(record.Members)))
		sent = append(sent, record.Bytes)
		r.Seconds += Number(record.Seconds)
		r.CoreSeconds += Number(record.Core)
	}
	r.PeerInformedTrials, r.BytesPerAgent = Number(mean(queries)), Number(mean(sent))
	r.Feasibility = s.feasibility()
	r.ThompsonBound = thompsonBoundOf(s.records)
	return r
}

func (s *sample) series(rows, members [][]float64) Series {
	var all Series
	for k := range rows[0] {
		x, m := s.units.means(column(rows, k)), column(members, k)
		all.Mean = append(all.Mean, Number(mean(x)))
		all.SE = append(all.SE, Number(standardError(x)))
		all.Median = append(all.Median, Number(median(x)))
		all.AgentQ1 = append(all.AgentQ1, Number(quantile(m, 0.25)))
		all.AgentMedian = append(all.AgentMedian, Number(median(m)))
		all.AgentQ3 = append(all.AgentQ3, Number(quantile(m, 0.75)))
	}
	return all
}
