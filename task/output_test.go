package task

import (
	"math"
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
var atMostTen = Task{Goal: Minimize, Constraints: []Constraint{
	{Output: "latency", Low: 1, High: 2},
	{Output: "memory", Low: math.Inf(-1), High: 10},
}}

func TestTaskOutputs(t *testing.T) {
	if got := (&Task{}).Outputs(); !slices.Equal(got, []Output{Objective}) {
		t.Errorf("without constraints: %q", got)
	}
	if got := atMostTen.Outputs(); !slices.Equal(got, []Output{Objective, "latency", "memory"}) {
		t.Errorf("with constraints: %q", got)
	}
}

func TestFeasible(t *testing.T) {
	for name, c := range map[string]struct {
		m    measured
		want bool
	}{
		"all kept":                    {measured{"": 1, "memory": 3, "latency": 1.5}, true},
		"limits are allowed":          {measured{"": 1, "memory": 10, "latency": 1}, true},
		"too much":                    {measured{"": 1, "memory": 10.5, "latency": 1.5}, false},
		"too much by little":          {measured{"": 1, "memory": math.Nextafter(10, 11), "latency": 1.5}, false},
		"too little":                  {measured{"": 1, "memory": 3, "latency": 0.5}, false},
		"one is missing":              {measured{"": 1, "memory": 3}, false},
		"another output is no matter": {measured{"": 1, "memory": 3, "latency": 1.5, "depth": 1e9}, true},
	} {
		if got := atMostTen.Feasible(c.m); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	if !(&Task{}).Feasible(measured{"memory": 1e9}) {
		t.Error("without constraints something is infeasible")
	}
}

func TestViolation(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		of    Constraint
		value float64
		want  float64
	}{
		{Constraint{Low: 1, High: 3}, 4, 0.5},
		{Constraint{Low: 1, High: 3}, -1, 1},
		{Constraint{Low: 1, High: 3}, 2, 0},
		{Constraint{Low: -inf, High: 10}, 15, 0.5},
		{Constraint{Low: -10, High: inf}, -15, 0.5},
		{Constraint{Low: -inf, High: 0}, 3, 3},
		{Constraint{Low: 2, High: 2}, 5, 3},
		{Constraint{Low: -inf, High: 10}, math.NaN(), 1},
	} {
		if got := c.of.Violation(c.value); got != c.want {
			t.Errorf("%v of %v: %g, want %g", c.value, c.of, got, c.want)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		c := Constraint{Low: rapid.Float64Range(-1e300, 1e300).Draw(rt, "low"), High: inf}
		value := rapid.Float64().Draw(rt, "value")
		got := c.Violation(value)
		if kept := got == 0; kept != c.Keeps(value) || math.IsInf(16*got, 0) || math.IsNaN(got) || got < 0 {
			rt.Fatalf("%g of %v: %g", value, c, got)
		}
	})
}

func TestBetter(t *testing.T) {
	maximise := atMostTen
	maximise.Goal = Maximize
	for name, c := range map[string]struct {
		task *Task
		a, b measured
	}{
		"smaller where the goal is to minimize":        {&atMostTen, measured{"": 1, "memory": 3, "latency": 1}, measured{"": 2, "memory": 1, "latency": 1}},
		"larger where the goal is to maximize":         {&maximise, measured{"": 2, "memory": 3, "latency": 1}, measured{"": 1, "memory": 1, "latency": 1}},
		"feasible rather than a better value":          {&atMostTen, measured{"": 9, "memory": 3, "latency": 1}, measured{"": 1, "memory": 11, "latency": 1}},
		"of two infeasible ones the nearer":            {&atMostTen, measured{"": 2, "memory": 11, "latency": 1}, measured{"": 1, "memory": 99, "latency": 1}},
		"of two as near ones the better value":         {&atMostTen, measured{"": 1, "memory": 11, "latency": 1}, measured{"": 2, "memory": 11, "latency": 2}},
		"any objective rather than none":               {&atMostTen, measured{"": 1e300, "memory": 3, "latency": 1}, measured{"memory": 3, "latency": 1}},
		"the value alone where there is no constraint": {&Task{Goal: Minimize}, measured{"": 1, "memory": 99}, measured{"": 2, "memory": 11}},
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
			if rapid.Bool().Draw(rt, "constraint "+string(output)) {
				low := rapid.SampledFrom([]float64{math.Inf(-1), -1, 0}).Draw(rt, "low")
				high := rapid.SampledFrom([]float64{0, 0.5, math.Inf(1)}).Draw(rt, "high")
				spec.Constraints = append(spec.Constraints, Constraint{Output: output, Low: low, High: high})
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
		case !spec.Feasible(a) && spec.Feasible(b) && !spec.Better(b, a):
			rt.Fatalf("%v breaks a constraint and %v does not", a, b)
		}
	})
}
