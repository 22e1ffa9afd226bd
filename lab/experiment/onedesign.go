package experiment

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/sim"
	"github.com/fbo-node/fbo/lab/family"
	"github.com/fbo-node/fbo/task"
)

// OneDesignRecord has regrets of one design for all members that count: the largest average of their
// objectives minus that average at the design, without noise. There is one regret per checkpoint, for
// the designs that members recommend then. NaN means that no member recommends one.
type OneDesignRecord struct {
	// Recommended is the regret of the design that one member recommends, averaged over members.
	Recommended []Number `json:"recommended"`
	// Midpoint is the regret of the average of all members' recommended designs, computed on their
	// encodings: one round of federated averaging.
	Midpoint []Number `json:"midpoint"`
}

// OneDesign has regrets of one design for all, see [OneDesignRecord]. Each list has one entry per
// checkpoint. Means, standard errors and ratios are over federations.
type OneDesign struct {
	Recommended []Mean `json:"recommended_regret"`
	Midpoint    []Mean `json:"midpoint_regret"`

	// Recommended of this strategy divided by Recommended and by Midpoint of the control; empty for the
	// control.
	ToRecommended []Ratio `json:"ratio_to_recommended,omitempty"`
	ToMidpoint    []Ratio `json:"ratio_to_midpoint,omitempty"`
}

// Mean is a mean with its standard error.
type Mean struct {
	Mean Number `json:"mean"`
	SE   Number `json:"se"`
}

// Ratio is a geometric mean of ratios. Each bound holds separately with the report's Confidence.
type Ratio struct {
	Ratio Number `json:"ratio"`
	Low   Number `json:"ratio_low"`
	High  Number `json:"ratio_high"`
}

// averageObjective is the average of the objectives of a federation's counting members; larger is
// better.
type averageObjective struct {
	space   *task.Space
	goal    task.Goal
	members []family.Member
}

func newAverageObjective(f family.Federation) averageObjective {
	a := averageObjective{space: f.Space, goal: f.Goal}
	for _, m := range f.Members {
		if m.Counts {
			a.members = append(a.members, m)
		}
	}
	return a
}

func (a averageObjective) at(d task.Design) (value float64) {
	for _, m := range a.members {
		value += a.goal.Sign() * m.Objective.Value(d) / float64(len(a.members))
	}
	return value
}

// encoded returns the average at an encoded design.
func (a averageObjective) encoded(x []float64) float64 { return a.at(a.space.Decode(x)) }

// top returns the largest value that a search finds.
func (a averageObjective) top(ctx context.Context, seed random.Seed) (float64, error) {
	_, value, err := acquisition.Maximizer{Space: a.space}.Maximize(ctx, family.Differentiable(a.encoded), nil, seed.Stream("average objective", 0))
	return value, err
}

// checkOneDesign returns an error if one design for all has no regret with this plan.
func (p Plan) checkOneDesign() error {
	switch {
	case !p.OneDesign:
		return nil
	case p.Family.Costly:
		return fmt.Errorf("--one-design: family %s is costly, and the search for the largest average objective takes thousands of evaluations; expected another family", p.Family.Name)
	case len(p.Family.Objectives) > 0 || len(p.Family.Constraints) > 0:
		return fmt.Errorf("--one-design: expected a family with one objective and no constraints, not %s", p.Family.Name)
	}
	return nil
}

// oneDesign returns the regrets of one design for all; nil unless the plan requests them.
func (p Plan) oneDesign(f *federation, result sim.Result) *OneDesignRecord {
	if !p.OneDesign {
		return nil
	}
	r := &OneDesignRecord{}
	average := newAverageObjective(f.Federation)
	for _, at := range p.Checkpoints {
		sum, count, middle := 0.0, 0.0, make([]float64, f.Space.Dim())
		for i, m := range result.Members {
			d, ok := m.Recommended[min(at, len(m.Trials))]
			if !f.Members[i].Counts || !ok || d.IsZero() {
				continue
			}
			count++
			sum += f.topAverage - average.at(d)
			for k, v := range f.Space.Encode(d) {
				middle[k] += v
			}
		}
		for k := range middle {
			middle[k] /= count
		}
		if count == 0 {
			r.Recommended, r.Midpoint = append(r.Recommended, Number(math.NaN())), append(r.Midpoint, Number(math.NaN()))
			continue
		}
		r.Recommended = append(r.Recommended, Number(max(sum/count, 0)))
		r.Midpoint = append(r.Midpoint, Number(max(f.topAverage-average.encoded(middle), 0)))
	}
	return r
}

// addOneDesign sets OneDesign of all strategies, if the plan requests it.
func (p Plan) addOneDesign(r *Report, samples []sample, c control) {
	if !p.OneDesign {
		return
	}
	recommended := func(one *OneDesignRecord) []Number { return one.Recommended }
	midpoint := func(one *OneDesignRecord) []Number { return one.Midpoint }
	for i, s := range samples {
		one := &OneDesign{}
		for k, t := range p.Checkpoints {
			own, middle := s.oneDesign(k, recommended), s.oneDesign(k, midpoint)
			one.Recommended = append(one.Recommended, meanOf(own))
			one.Midpoint = append(one.Midpoint, meanOf(middle))
			if !c.is(i) {
				var floors []float64
				for _, record := range s.records {
					floors = append(floors, p.floor(record.Deviation, record.Noise, false))
				}
				beside := c.at(t)
				one.ToRecommended = append(one.ToRecommended, ratioOf(logRatios(own, beside.oneDesign(k, recommended), floors)))
				one.ToMidpoint = append(one.ToMidpoint, ratioOf(logRatios(own, beside.oneDesign(k, midpoint), floors)))
			}
		}
		r.Strategies[i].OneDesign = one
	}
}

// oneDesign returns one of the regrets at the checkpoint with index k, by federation.
func (s *sample) oneDesign(k int, of func(*OneDesignRecord) []Number) (all []float64) {
	for _, record := range s.records {
		all = append(all, float64(of(record.OneDesign)[k]))
	}
	return all
}

func meanOf(x []float64) Mean { return Mean{Number(mean(x)), Number(standardError(x))} }

func ratioOf(logs []float64) Ratio {
	return Ratio{Number(math.Exp(mean(logs))), Number(math.Exp(mean(logs) - margin(logs))), Number(math.Exp(mean(logs) + margin(logs)))}
}

// writeOneDesign writes a separate table of the regrets of one design for all, if the report has them.
func (r Report) writeOneDesign(w io.Writer) {
	if r.Strategies[0].OneDesign == nil {
		return
	}
	fmt.Fprint(w, "\none design for all\tregret")
	for _, t := range r.Checkpoints {
		fmt.Fprintf(w, "\tt = %d", t)
	}
	fmt.Fprintln(w)
	for _, s := range r.Strategies {
		one := s.OneDesign
		r.row(w, s.marked(), "recommended", r.each(func(k, _ int) string { return one.Recommended[k].text() }))
		r.row(w, "", "midpoint", r.each(func(k, _ int) string { return one.Midpoint[k].text() }))
		if len(one.ToRecommended) > 0 {
			r.row(w, "", "ratio to "+r.Control, r.each(func(k, _ int) string { return one.ToRecommended[k].text() }))
			r.row(w, "", "ratio to its midpoint", r.each(func(k, _ int) string { return one.ToMidpoint[k].text() }))
		}
	}
}

func (m Mean) text() string { return short(m.Mean) + " ± " + short(m.SE) }

func (x Ratio) text() string { return ratioText(x.Ratio, x.Low, x.High) }

func (r Report) explainOneDesign(w io.Writer) {
	if r.Strategies[0].OneDesign == nil {
		return
	}
	fmt.Fprint(w, `one design for all: the largest average of the agents' objectives minus that average at one design. recommended: at the design
that an agent recommends, averaged over agents; midpoint: at the average of all agents' recommended designs.
`)
}
