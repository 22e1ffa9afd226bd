package curves

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fbo-node/fbo/task"
)

func curve(values ...float64) (c Curve) {
	for i, v := range values {
		c = append(c, Step{Step: uint64(i + 1), Value: v})
	}
	return c
}

func TestExtend(t *testing.T) {
	have := Curve{{Step: 2, Value: .5}, {Step: 4, Value: .4}}
	for _, test := range []struct {
		name     string
		reported []Step
		again    bool
		want     int // values after the report
		bad      bool
	}{
		{"one", []Step{{Step: 5, Value: .3}}, false, 3, false},
		{"several", []Step{{Step: 5, Value: .3}, {Step: 9, Value: .2}}, false, 4, false},
		{"repeated", []Step{{Step: 4, Value: .4}, {Step: 2, Value: .5}, {Step: 6, Value: .1}}, false, 3, false},
		{"backwards", []Step{{Step: 3, Value: .3}}, false, 2, true},
		{"another value", []Step{{Step: 4, Value: .3}}, false, 2, true},
		{"again from the start", []Step{{Step: 1, Value: 9}, {Step: 2, Value: 9}, {Step: 3, Value: 9}, {Step: 4, Value: 9}, {Step: 5, Value: .2}}, true, 3, false},
		{"zero", []Step{{Step: 0, Value: .3}}, false, 2, true},
		{"too large", []Step{{Step: MaxStep + 1, Value: .3}}, false, 2, true},
		{"NaN after a valid one", []Step{{Step: 5, Value: .3}, {Step: 6, Value: math.NaN()}, {Step: 7, Value: .2}}, false, 3, true},
		{"infinite", []Step{{Step: 5, Value: math.Inf(-1)}}, false, 2, true},
	} {
		got, err := have.Extend(test.reported, test.again)
		if len(got) != test.want || (err != nil) != test.bad || err != nil && !errors.Is(err, ErrBadStep) {
			t.Errorf("%s: %v, %v", test.name, got, err)
		}
		if got.Check() != nil || !slices.Equal(got[:2], have) {
			t.Errorf("%s: the result is no curve: %v", test.name, got)
		}
	}
	var full Curve
	for i := range uint64(MaxSteps) {
		full = append(full, Step{Step: i + 1, Value: 0})
	}
	if got, err := full.Extend([]Step{{Step: MaxSteps + 1, Value: 0}}, false); !errors.Is(err, ErrBadStep) || len(got) != MaxSteps {
		t.Errorf("%d values, %v", len(got), err)
	}
	if got, err := full.Extend([]Step{{Step: 7, Value: 0}}, false); err != nil || len(got) != MaxSteps {
		t.Errorf("a repeated value of a full curve: %v", err)
	}
}

// TestExtendByParts: a curve does not depend on how its values are split into reports, and a report
// that is repeated, as after a lost reply, changes nothing.
func TestExtendByParts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var all []Step
		for step := uint64(0); len(all) < 50; {
			step += 1 + rng.Uint64N(3)
			all = append(all, Step{Step: step, Value: rng.NormFloat64()})
		}
		want, err := Curve(nil).Extend(all, false)
		if err != nil || !slices.Equal(want, all) {
			t.Fatal(err)
		}
		var got Curve
		for at := 0; at < len(all); {
			next := min(at+1+rng.IntN(9), len(all))
			for range 1 + rng.IntN(2) {
				if got, err = got.Extend(all[rng.IntN(at+1):next], false); err != nil {
					t.Fatal(err)
				}
			}
			at = next
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	}
}

func TestASHA(t *testing.T) {
	rule := task.Stopping{Type: task.ASHARule, GracePeriod: 1, ReductionFactor: 3}
	others := func(values ...float64) (all []Trial) {
		for _, v := range values {
			all = append(all, Trial{Curve: curve(v)})
		}
		return all
	}
	for _, test := range []struct {
		name   string
		own    Curve
		before int
		others []Trial
		stops  bool
	}{
		{"the first continues", curve(9), 0, nil, false},
		{"worse than the only other", curve(9), 0, others(1), true},
		{"better than the only other", curve(.5), 0, others(1), false},
		{"second of six", curve(2), 0, others(1, 3, 4, 5, 6), false},
		{"third of six", curve(3), 0, others(1, 2, 4, 5, 6), true},
		{"as good as the best", curve(1), 0, others(1), false},
		{"between rungs", curve(9, 9), 1, others(1, 2, 3), false},
		{"second rung without others", curve(9, 9, 9), 2, others(1, 2, 3), false},
		{"second rung", curve(1, 1, 9), 2, []Trial{{Curve: curve(2, 2, 2)}}, true},
		{"a rung that a sparse curve passes", Curve{{Step: 5, Value: 9}}, 0, []Trial{{Curve: Curve{{Step: 4, Value: 1}}}}, true},
		{"at the end of complete trials", curve(9, 9, 9), 2, []Trial{{Curve: curve(1, 1, 1), Complete: true}}, false},
		{"at the end of a trial that patience cut", curve(9, 9, 9), 2, []Trial{{Curve: curve(1, 1, 1), Complete: true, Cut: true}}, true},
	} {
		stop := Decide(rule, task.Minimize, test.own, test.before, test.others, nil)
		if (stop != nil) != test.stops {
			t.Errorf("%s: %+v", test.name, stop)
		}
		mirrored := func(c Curve) Curve {
			c = slices.Clone(c)
			for i := range c {
				c[i].Value *= -1
			}
			return c
		}
		negated := slices.Clone(test.others)
		for i := range negated {
			negated[i].Curve = mirrored(negated[i].Curve)
		}
		if stop := Decide(rule, task.Maximize, mirrored(test.own), test.before, negated, nil); (stop != nil) != test.stops {
			t.Errorf("%s, maximised: %+v", test.name, stop)
		}
	}
	stop := Decide(rule, task.Minimize, curve(.3), 0, others(.1, .2, .4, .5), nil)
	if want := (Stop{Rule: "asha", Step: 1, Reason: "0.3 at step 1 is 3rd of 5 trials; expected among the best 1"}); stop == nil || *stop != want {
		t.Errorf("%+v", stop)
	}
}

// TestASHAKeepsOneInThree: of many trials in random order, about 1/3 pass each rung, and the best at
// all rungs always does.
func TestASHAKeepsOneInThree(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	rule := task.Stopping{Type: task.ASHARule, GracePeriod: 1, ReductionFactor: 3}
	var all []Trial
	passed := [4]int{} // by number of rungs
	for range 900 {
		level := rng.Float64()
		if len(all) == 450 {
			level = -1
		}
		var own Curve
		var stop *Stop
		for step := uint64(1); step <= 27 && stop == nil; step++ {
			own = append(own, Step{Step: step, Value: level + 1/float64(step)})
			stop = Decide(rule, task.Minimize, own, len(own)-1, all, nil)
		}
		if level == -1 && stop != nil {
			t.Fatalf("the best is stopped: %+v", stop)
		}
		for i, rung := range []uint64{1, 3, 9, 27} {
			if own.Last().Step > rung || rung == 27 && stop == nil {
				passed[i]++
			}
		}
		all = append(all, Trial{Curve: own})
	}
	// A third of 900 is 300, with a deviation of 14. Rungs above get more: the first trials at a rung
	// continue without comparison, and later ones come from a better part of the lower rung.
	if passed[0] < 258 || passed[0] > 342 {
		t.Errorf("%d of 900 continue at the first rung, expected about 300", passed[0])
	}
	for i := 1; i < 4; i++ {
		if passed[i] < passed[i-1]/4 || passed[i] > passed[i-1]*2/3 {
			t.Errorf("%v continue at the rungs, expected a quarter to two thirds of those below", passed)
		}
	}
}

func TestMedianAndPatience(t *testing.T) {
	rule := task.Stopping{Type: task.MedianRule, GracePeriod: 2, StartupTrials: 3}
	complete := func(values ...float64) Trial {
		return Trial{Curve: curve(append(values, 0)...), Complete: true}
	}
	three := []Trial{complete(4, 2, 1), complete(6, 4, 1), complete(8, 6, 1)} // running averages 3, 5, 7 at step 2
	for _, test := range []struct {
		name   string
		own    Curve
		others []Trial
		stops  bool
	}{
		{"before the grace period", curve(99), three, false},
		{"worse than the median", curve(9, 5.5), three, true},
		{"its best was better", curve(4, 99), three, false},
		{"as good as the median", curve(9, 5), three, false},
		{"too few complete", curve(99, 99), three[:2], false},
		{"others are not complete", curve(99, 99), []Trial{three[0], three[1], {Curve: curve(1, 1)}}, false},
	} {
		if stop := Decide(rule, task.Minimize, test.own, len(test.own)-1, test.others, nil); (stop != nil) != test.stops {
			t.Errorf("%s: %+v", test.name, stop)
		}
	}
	patient := task.Stopping{Type: task.NoRule, GracePeriod: 1, Patience: 3, MinDelta: .1}
	for _, test := range []struct {
		own   Curve
		stops bool
	}{
		{curve(5, 4, 3.95, 3.93), false},
		{curve(5, 4, 3.95, 3.93, 3.91), true},
		{curve(5, 4, 3.95, 3.93, 3.89), false},
		{Curve{{Step: 1, Value: 5}, {Step: 10, Value: 5}}, true},
	} {
		stop := Decide(patient, task.Minimize, test.own, len(test.own)-1, nil, nil)
		if (stop != nil) != test.stops || stop != nil && stop.Rule != PatienceRule {
			t.Errorf("%v: %+v", test.own, stop)
		}
	}
}

func TestForecast(t *testing.T) {
	all := []Trial{
		{Curve: curve(10, 6, 4), Complete: true, Final: 3},
		{Curve: curve(12, 9, 8), Complete: true, Final: 7},
		{Curve: curve(11)},
		{Curve: curve(13, 12)},
		{},
	}
	// Changes from step 1 to 2: -4, -3, -1, and to the end: -3, -2.
	mean12, mean23 := -8.0/3, -2.5
	want := []float64{3, 7, 11 + mean12 + mean23, 12 + mean23, 0}
	deviations := []float64{0, 0, -mean12 - mean23, -mean23, 0}
	for i, got := range Forecasts(task.Minimize, all) {
		if math.Abs(got.Mean-want[i]) > 1e-12 || math.Abs(got.Deviation-deviations[i]) > 1e-12 {
			t.Errorf("curve %d: %+v, want %g ± %g", i, got, want[i], deviations[i])
		}
	}
	all[2].Curve = curve(4) // would be forecast below the best outcome
	if got := Forecasts(task.Minimize, all)[2].Mean; got != 3 {
		t.Errorf("%g, want 3, the best outcome", got)
	}
	all[2].Forecast = &Forecast{8.5, .5} // that was predicted, in place of the changes of others
	if got := Forecasts(task.Minimize, all)[2]; got != (Forecast{8.5, .5}) {
		t.Errorf("%+v, want the prediction", got)
	}
	if got := Forecasts(task.Maximize, []Trial{{Curve: curve(5)}}); got[0].Mean != 5 {
		t.Errorf("a single curve: %+v", got[0])
	}
}

// TestForecastProperties: forecasts of curves with one shape are exact up to the spacing of steps,
// they shift with the values, and are finite for arbitrary steps.
func TestForecastProperties(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 100 {
		var all, shifted []Trial
		shape := func(step uint64) float64 { return 3 / float64(step) }
		n := uint64(2 + rng.IntN(600))
		for range 12 {
			level := rng.NormFloat64()
			c := Curve{}
			for s := uint64(1); s <= n; s++ {
				c = append(c, Step{Step: s, Value: level + shape(s)})
			}
			complete := rng.IntN(2) == 0
			if !complete {
				c = c[:1+rng.IntN(len(c))]
			}
			all = append(all, Trial{Curve: c, Complete: complete, Final: level + shape(n)})
		}
		for _, one := range all {
			moved := slices.Clone(one.Curve)
			for i := range moved {
				moved[i].Value += 7
			}
			shifted = append(shifted, Trial{Curve: moved, Complete: one.Complete, Final: one.Final + 7})
		}
		a, b := Forecasts(task.Minimize, all), Forecasts(task.Minimize, shifted)
		best, known := math.Inf(1), false
		for _, one := range all {
			if one.Complete {
				best, known = min(best, one.Final), true
			}
		}
		for i, one := range all {
			if math.Abs(b[i].Mean-a[i].Mean-7) > 1e-9 {
				t.Fatalf("shifted by %g, want 7", b[i].Mean-a[i].Mean)
			}
			truth := one.Curve[0].Value - shape(1) + shape(n)
			if want := max(truth, best); known && n <= maxGrid && math.Abs(a[i].Mean-want) > 1e-9 {
				t.Fatalf("curve %d of %d steps: %g, want %g", i, len(one.Curve), a[i].Mean, want)
			}
		}
	}
}
