package experiment

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// bestAloneName is the control that is not one strategy: after any number of evaluations it is the
// one of soloSpecs with the lower geometric mean of the values in ratios. The benefit of peers is
// measured against the best result of agents without them; the strategy with that result differs
// from family to family and with the budget.
const bestAloneName = "best-alone"

// soloSpecs are the strategies among which best-alone chooses. The first is its reference.
func soloSpecs() []Spec { return []Spec{{Name: "ts"}, {Name: "logei"}} }

// chooseControl fills in the control, and adds to the strategies what best-alone needs.
func (p *Plan) chooseControl() error {
	if p.Control == "" {
		p.Control = p.Strategies[0].String()
		if i := slices.IndexFunc(p.Strategies, func(s Spec) bool { return s.Name == "ts" }); i >= 0 {
			p.Control = p.Strategies[i].String()
		}
	}
	var all []string
	for _, s := range p.Strategies {
		if s.String() == p.Control {
			return nil
		}
		all = append(all, s.String())
	}
	if p.Control != bestAloneName {
		return fmt.Errorf("--control %s: accepted is one of --strategy: %s; or %s", p.Control, strings.Join(all, ", "), bestAloneName)
	}
	p.Strategies = slices.Clone(p.Strategies)
	for _, s := range soloSpecs() {
		if _, err := p.template(s); err != nil {
			return fmt.Errorf("--control %s, which chooses between %s: %s: %w", bestAloneName, soloNames(), s, err)
		}
		if p.placeOf(s) < 0 {
			p.Strategies, p.added = append(p.Strategies, s), append(p.added, s.String())
		}
	}
	return nil
}

func soloNames() string {
	var names []string
	for _, s := range soloSpecs() {
		names = append(names, s.String())
	}
	return strings.Join(names, " and ")
}

// placeOf returns where the strategies have one that means the same; -1 for nowhere.
func (p Plan) placeOf(s Spec) int {
	key := p.key(s)
	return slices.IndexFunc(p.Strategies, func(other Spec) bool { return p.key(other) == key })
}

// control is what the strategies of a report are compared with.
type control struct {
	candidates []sample // one, but for best-alone

	// reference is the place among the plan's strategies of the one with which is
	// compared what is not of a single number of evaluations.
	reference int
}

// control is for plans from Complete.
func (p Plan) control(samples []sample) control {
	for i, s := range p.Strategies {
		if s.String() == p.Control {
			return control{[]sample{samples[i]}, i}
		}
	}
	c := control{reference: p.placeOf(soloSpecs()[0])}
	for _, s := range soloSpecs() {
		c.candidates = append(c.candidates, samples[p.placeOf(s)])
	}
	return c
}

// is reports whether a strategy, by its place in the plan, is the control itself.
func (c control) is(place int) bool { return len(c.candidates) == 1 && c.reference == place }

// foreign reports whether other builds have made runs of it.
func (c control) foreign() bool {
	return slices.ContainsFunc(c.candidates, func(s sample) bool { return s.foreign > 0 })
}

// at returns what is the control after t evaluations.
func (c control) at(t int) sample {
	return c.least(func(s sample) []float64 { return logs(column(s.simple, t-1), s.floors) })
}

// first returns what is the control of how soon a feasible design is found.
func (c control) first() sample {
	return c.least(func(s sample) []float64 { return logs(s.firsts, make([]float64, len(s.firsts))) })
}

// least returns the candidate with the least mean logarithm, the first of several. The
// choice is made on the runs that are then compared, which makes the control the minimum
// of its candidates: it is a little better than either would be on new federations.
func (c control) least(logarithms func(s sample) []float64) sample {
	chosen, least := c.candidates[0], math.Inf(1)
	for _, s := range c.candidates {
		if m := mean(s.units.means(logarithms(s))); m < least {
			chosen, least = s, m
		}
	}
	return chosen
}
