package experiment

import "math"

func (s *sample) addFeasibility(row []MemberRecord) {
	var firsts []float64
	for _, m := range row {
		if !m.constrained() {
			continue
		}
		nothing, mistaken := m.nothing()
		s.nothing = append(s.nothing, held(nothing, s.length))
		s.mistaken = append(s.mistaken, held(mistaken, s.length))
		infeasible := make([]float64, len(m.RecommendedViolation))
		for k, v := range m.RecommendedViolation {
			switch {
			case math.IsNaN(float64(v)):
				infeasible[k] = math.NaN()
			case v > 0:
				infeasible[k] = 1
			}
		}
		s.infeasible = append(s.infeasible, infeasible)
		firsts = append(firsts, m.first(s.length))
	}
	if len(firsts) > 0 {
		s.first = append(s.first, firsts...)
		s.firsts = append(s.firsts, mean(firsts))
	}
}

// feasibility returns the summary of feasibility; nil without constraints.
func (s *sample) feasibility() *Feasibility {
	if len(s.first) == 0 {
		return nil
	}
	none := Number(math.NaN())
	f := &Feasibility{
		NoFeasibleDesign: means(s.nothing), InfeasibleReported: means(s.mistaken), Recommended: means(s.infeasible),
		FirstRatio: none, FirstLow: none, FirstHigh: none,
	}
	for i := range f.First {
		f.First[i] = Number(quantile(s.first, float64(i+1)/4))
		if float64(f.First[i]) > float64(s.length) {
			f.First[i] = none
		}
	}
	for _, first := range s.first {
		if first > float64(s.length) {
			f.Never += 1 / Number(len(s.first))
		}
	}
	return f
}

// means returns the mean row as Numbers.
func means(rows [][]float64) []Number {
	var all []Number
	for _, v := range average(rows) {
		all = append(all, Number(v))
	}
	return all
}

// compare sets the ratio to the control and its bounds, over units.
func (f *Feasibility) compare(s sample, c control) {
	if f == nil {
		return
	}
	logs := s.units.means(logRatios(s.firsts, c.first().firsts, make([]float64, len(s.firsts))))
	f.FirstRatio = Number(math.Exp(mean(logs)))
	f.FirstLow = Number(math.Exp(mean(logs) - margin(logs)))
	f.FirstHigh = Number(math.Exp(mean(logs) + margin(logs)))
}
