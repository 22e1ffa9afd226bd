package experiment

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// bestAloneName is a control that is not a single strategy. After each number of evaluations it is
// the strategy of soloSpecs with the lower geometric mean of regret. The benefit of peers is thus
// measured against the best result of agents without them, whichever strategy has it: that differs
// between families and budgets.
const bestAloneName = "best-alone"

// soloSpecs returns the strategies among which best-alone chooses. The first is its reference.
func soloSpecs() []Spec { return []Spec{{Name: "ts"}, {Name: "logei"}} }

// chooseControl sets the default control. If the control is best-alone, it adds the strategies of
// soloSpecs that are missing.
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
		return fmt.Errorf("--control %s: expected one of --strategy: %s; or %s", p.Control, strings.Join(all, ", "), bestAloneName)
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

// placeOf returns the index in p.Strategies of the strategy with the same meaning as s, or -1.
func (p Plan) placeOf(s Spec) int {
	key := p.key(s)
	return slices.IndexFunc(p.Strategies, func(other Spec) bool { return p.key(other) == key })
}

// control is the strategy, or the strategies, with which a report compares the others.
type control struct {
	candidates []sample // one strategy, or for best-alone several

	// reference is the index in the plan's strategies of the one strategy for comparisons that are
	// not at a single number of evaluations.
	reference int
}

// control returns the control of the plan, which must come from Complete.
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

// is reports whether the strategy with this index in the plan is the control itself.
func (c control) is(place int) bool { return len(c.candidates) == 1 && c.reference == place }

// foreign reports whether other builds of the program made runs of the control.
func (c control) foreign() bool {
	return slices.ContainsFunc(c.candidates, func(s sample) bool { return s.foreign > 0 })
}

// at returns the control after t evaluations.
func (c control) at(t int) sample {
	return c.least(func(s sample) []float64 { return logs(column(s.simple, t-1), s.floors) })
}

// first returns the control for the number of evaluations until the first feasible design.
func (c control) first() sample {
	return c.least(func(s sample) []float64 { return logs(s.firsts, make([]float64, len(s.firsts))) })
}

// least returns the candidate with the smallest mean logarithm; of equal ones, the first. It
// chooses by the same runs that are then compared. The control is therefore the minimum of its
// candidates, which is a little better than either candidate would be on new federations.
func (c control) least(logarithms func(s sample) []float64) sample {
	chosen, least := c.candidates[0], math.Inf(1)
	for _, s := range c.candidates {
		if m := mean(s.units.means(logarithms(s))); m < least {
			chosen, least = s, m
		}
	}
	return chosen
}
