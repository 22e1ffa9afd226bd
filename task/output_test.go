package task

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// measured is a measurement by output; the objective's name is empty.
type measured map[Output]float64

func (m measured) Measured(output Output) (value float64, ok bool) {
	value, ok = m[output]
	return value, ok
}

// atMostTen minimises and lets memory be 10 and latency be 1 to 2.
var atMostTen = Task{Goal: Minimize, Bounds: []Bound{
	{Output: "memory", Side: AtMost, Limit: 10},
	{Output: "latency", Side: AtLeast, Limit: 1},
	{Output: "latency", Side: AtMost, Limit: 2},
}}

func TestOutputs(t *testing.T) {
	if got := (&Task{}).Outputs(); !slices.Equal(got, []Output{Objective}) {
		t.Errorf("without bounds: %q", got)
	}
	if got := atMostTen.Outputs(); !slices.Equal(got, []Output{Objective, "memory", "latency"}) {
		t.Errorf("with bounds: %q", got)
	}
}

func TestFeasibility(t *testing.T) {
	for name, c := range map[string]struct {
		m    measured
		want Feasibility
	}{
		"all kept":                    {measured{"": 1, "memory": 3, "latency": 1.5}, Feasible},
		"limits are allowed":          {measured{"": 1, "memory": 10, "latency": 1}, Feasible},
		"too much":                    {measured{"": 1, "memory": 10.5, "latency": 1.5}, Infeasible},
		"too little":                  {measured{"": 1, "memory": 3, "latency": 0.5}, Infeasible},
		"one is missing":              {measured{"": 1, "memory": 3}, FeasibilityUnknown},
		"all are missing":             {measured{"": 1}, FeasibilityUnknown},
		"broken, and one is missing":  {measured{"": 1, "latency": 3}, Infeasible},
		"another output is no matter": {measured{"": 1, "memory": 3, "latency": 1.5, "depth": 1e9}, Feasible},
	} {
		if got := atMostTen.Feasibility(c.m); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	if got := (&Task{}).Feasibility(measured{"memory": 1e9}); got != Feasible {
		t.Errorf("without bounds: %v", got)
	}
}

func TestBetter(t *testing.T) {
	maximise := atMostTen
	maximise.Goal = Maximize
	for name, c := range map[string]struct {
		task *Task
		a, b measured
	}{
		"smaller where the goal is to minimize":    {&atMostTen, measured{"": 1, "memory": 3, "latency": 1}, measured{"": 2, "memory": 1, "latency": 1}},
		"larger where the goal is to maximize":     {&maximise, measured{"": 2, "memory": 3, "latency": 1}, measured{"": 1, "memory": 1, "latency": 1}},
		"feasible rather than a better value":      {&atMostTen, measured{"": 9, "memory": 3, "latency": 1}, measured{"": 1, "memory": 11, "latency": 1}},
		"feasible rather than unknown":             {&atMostTen, measured{"": 9, "memory": 3, "latency": 1}, measured{"": 1, "memory": 3}},
		"unknown rather than infeasible":           {&atMostTen, measured{"": 9, "memory": 3}, measured{"": 1, "memory": 11}},
		"of two infeasible ones the better value":  {&atMostTen, measured{"": 1, "memory": 99}, measured{"": 2, "memory": 11}},
		"any objective rather than none":           {&atMostTen, measured{"": 1e300, "memory": 3}, measured{"memory": 3}},
		"the value alone where nothing is bounded": {&Task{Goal: Minimize}, measured{"": 1, "memory": 99}, measured{"": 2, "memory": 11}},
	} {
		if !c.task.Better(c.a, c.b) || c.task.Better(c.b, c.a) {
			t.Errorf("%s: %v against %v", name, c.a, c.b)
		}
	}
}

// TestBetterIsAStrictWeakOrder: so that there is always a best one, whatever the order
// in which it is looked for.
func TestBetterIsAStrictWeakOrder(t *testing.T) {
	value := rapid.Float64Range(-2, 2).AsAny()
	draw := func(rt *rapid.T, name string) measured {
		m := measured{}
		for _, output := range []Output{Objective, "memory", "latency"} {
			if v := rapid.OneOf(value, rapid.SampledFrom([]any{nil, -1.0, 0.0, 1.0})).Draw(rt, name+string(output)); v != nil {
				m[output] = v.(float64)
			}
		}
		return m
	}
	rapid.Check(t, func(rt *rapid.T) {
		spec := &Task{Goal: rapid.SampledFrom([]Goal{Minimize, Maximize}).Draw(rt, "goal")}
		for _, output := range []Output{"memory", "latency"} {
			if rapid.Bool().Draw(rt, "bound "+string(output)) {
				side := rapid.SampledFrom([]Side{AtMost, AtLeast}).Draw(rt, "side")
				spec.Bounds = append(spec.Bounds, Bound{output, side, rapid.SampledFrom([]float64{-1, 0, 0.5}).Draw(rt, "limit")})
			}
		}
		a, b, c := draw(rt, "a"), draw(rt, "b"), draw(rt, "c")
		same := func(a, b measured) bool { return !spec.Better(a, b) && !spec.Better(b, a) }
		switch {
		case spec.Better(a, a):
			rt.Fatalf("%v is better than itself", a)
		case spec.Better(a, b) && spec.Better(b, a):
			rt.Fatalf("%v and %v are better than each other", a, b)
		case spec.Better(a, b) && spec.Better(b, c) && !spec.Better(a, c):
			rt.Fatalf("%v before %v before %v", a, b, c)
		case same(a, b) && same(b, c) && !same(a, c):
			rt.Fatalf("%v as good as %v as good as %v", a, b, c)
		case spec.Compare(a, b) != -spec.Compare(b, a), spec.Better(a, b) != (spec.Compare(a, b) > 0):
			rt.Fatalf("%v and %v compare as %d and %d", a, b, spec.Compare(a, b), spec.Compare(b, a))
		case spec.Feasibility(a) == Infeasible && spec.Feasibility(b) == Feasible && !spec.Better(b, a):
			rt.Fatalf("%v breaks a bound and %v does not", a, b)
		}
	})
}

// TestBoundsAreNotYetPartOfTheID: no task file has them.
func TestBoundsAreNotYetPartOfTheID(t *testing.T) {
	plain, err := New(Spec{Name: "a", Goal: Minimize, Parameters: []Parameter{{Name: "x", Kind: Float, High: 1}}}, []StrategyType{{Name: "ts"}})
	if err != nil {
		t.Fatal(err)
	}
	bounded := *plain
	bounded.Bounds = atMostTen.Bounds
	if bounded.ID() != plain.ID() {
		t.Errorf("%v became %v", plain.ID(), bounded.ID())
	}
}
