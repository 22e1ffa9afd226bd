package family

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/task"
)

// keeps tells whether a design keeps a member's constraints without noise.
func keeps(f Federation, m Member, d task.Design) bool {
	for i, c := range f.Constraints {
		if !c.Keeps(m.Constraints[i].Value(d)) {
			return false
		}
	}
	return true
}

// feasibleShare is that of dense points at which member k keeps all.
func feasibleShare(f Federation, k int) float64 {
	count := 0
	for u := range chunks(dense(densePoints, f.Space.Dim()), f.Space.Dim()) {
		if keeps(f, f.Members[k], f.Space.Decode(u)) {
			count++
		}
	}
	return float64(count) / densePoints
}

// bestOf is the best feasible value of random designs, half of them around the best
// so far, and the value that it is compared with: larger is better.
func bestOf(f Federation, m Member, n int, seed uint64) (found, stated float64) {
	rng := random.SeedOf(seed).Stream("random search", 0)
	found = math.Inf(-1)
	var top []float64
	for i := range n {
		u := acquisition.Sample(f.Space, rng)
		if top != nil && i%2 == 1 {
			width := math.Pow(10, -4*rng.Float64())
			for k := range u {
				u[k] = min(1, max(0, top[k]+width*rng.NormFloat64()))
			}
		}
		d := f.Space.Decode(u)
		if v := f.Goal.Sign() * m.Objective.Value(d); v > found && keeps(f, m, d) {
			found, top = v, u
		}
	}
	return found, f.Goal.Sign() * m.Objective.Optimum
}

// A random search finds no better feasible design than the stated optimum, and with
// two floats one nearly as good.
func TestFeasibleOptimaAreOptimal(t *testing.T) {
	checkFeasibleOptima(t, "limits:c=2,e=1", "limits:border=no,feasible=0.1", "gramacy:shift=0.25,clusters=3")
}

func checkFeasibleOptima(t *testing.T, specs ...string) {
	for _, spec := range specs {
		f := mustDraw(t, spec, 3, 3)
		for k, m := range f.Members {
			found, stated := bestOf(f, m, 20_000, uint64(k))
			if !(found <= stated+1e-8) {
				t.Errorf("%s: member %d: random search finds %.9g, the stated optimum is %.9g", spec, k, found, stated)
			}
			if f.Space.Len() == 2 && found < stated-1e-3 {
				t.Errorf("%s: member %d: random search finds no more than %.9g, the stated optimum is %.9g", spec, k, found, stated)
			}
		}
	}
}

// In this draw a constraint is flat where it meets a side of the square: a climb beyond
// the limit pays there, and leads away from the optimum.
func TestOptimumWhereAConstraintIsFlat(t *testing.T) {
	f, err := mustParse(t, "limits:c=2").Draw(random.SeedOf(2).Derive("repeat", 16).Derive("federation", 0), 4)
	if err != nil {
		t.Fatal(err)
	}
	if found, stated := bestOf(f, f.Members[2], 20_000, 1); !(found <= stated+1e-8 && found > stated-1e-4) {
		t.Errorf("random search finds %.9g, the stated optimum is %.9g", found, stated)
	}
}

// linear is a·x.
type linear []float64

func (a linear) Value(x []float64) float64 {
	sum := 0.0
	for i, v := range a {
		sum += v * x[i]
	}
	return sum
}

func (a linear) Gradient(grad, x []float64) float64 {
	copy(grad, a)
	return a.Value(x)
}

// The nearest feasible point, by hand: where one limit, two limits, and a limit and a
// side of the square are met; and where nothing is feasible none is found.
func TestNearestFeasiblePointByHand(t *testing.T) {
	inf := math.Inf(1)
	sum := acquisition.Bounded{Function: linear{1, 1}, Low: -inf, High: 0.5}
	wedge := acquisition.Bounded{Function: linear{1, -0.1}, Low: 0.3, High: inf}
	steep := acquisition.Bounded{Function: linear{1, 10}, Low: -inf, High: 0.5}
	for _, c := range []struct {
		bounds   []acquisition.Bounded
		from, to []float64
	}{
		{[]acquisition.Bounded{sum}, []float64{0.2, 0.3}, []float64{0.2, 0.3}},
		{[]acquisition.Bounded{sum}, []float64{0.6, 0.5}, []float64{0.3, 0.2}},
		{[]acquisition.Bounded{sum, wedge}, []float64{0.1, 0.9}, []float64{0.35 / 1.1, 0.2 / 1.1}},
		{[]acquisition.Bounded{steep}, []float64{0.9, 0}, []float64{0.5, 0}},
	} {
		x, ok := restored(c.bounds, c.from)
		if !ok || math.Hypot(x[0]-c.to[0], x[1]-c.to[1]) > 1e-7 {
			t.Errorf("from %v to %v, %t; want %v", c.from, x, ok, c.to)
		}
	}
	never := acquisition.Bounded{Function: linear{1, 1}, Low: -inf, High: -1}
	if x, ok := restored([]acquisition.Bounded{never}, []float64{0.5, 0.5}); ok {
		t.Errorf("%v keeps what nothing keeps", x)
	}
}

// Members without a part of their own have the wanted share of the dense points, and
// without a wanted one federations differ within what is said.
func TestFeasibleShare(t *testing.T) {
	for _, spec := range []string{"limits:e=0,feasible=0.05", "limits:e=0,feasible=0.2,c=2", "limits:e=0,d=4,feasible=0.1,c=3", "limits:e=0,d=1,feasible=0.4,border=yes"} {
		want := mustValue(t, spec, "feasible")
		if got := feasibleShare(mustDraw(t, spec, 1, 1), 0); math.Abs(got-want) > 2.0/densePoints { // two points for rounding
			t.Errorf("%s: %g of the dense points are feasible", spec, got)
		}
	}
	least, most := 1.0, 0.0
	for seed := range uint64(20) {
		share := feasibleShare(mustDraw(t, "limits:e=0,d=1", seed, 1), 0)
		least, most = min(least, share), max(most, share)
	}
	if least < smallestShare-2.0/densePoints || most > largestShare+2.0/densePoints || most < 2*least {
		t.Errorf("shares are %g to %g", least, most)
	}
}

func mustValue(t *testing.T, spec, key string) float64 {
	t.Helper()
	values := Values{keys: limitsKind().Keys, given: map[string]string{}}
	_, settings, _ := strings.Cut(spec, ":")
	for setting := range strings.SplitSeq(settings, ",") {
		if err := values.set(setting); err != nil {
			t.Fatal(err)
		}
	}
	return values.Number(key)
}

// Whatever members have in common, each has something feasible, and its optimum
// without constraints, by a search with many starts, is where border says.
func TestOptimumLiesOnBorder(t *testing.T) {
	for spec, want := range map[string]bool{
		"limits:border=yes": true, "limits:border=yes,e=1,c=2,feasible=0.05": true,
		"limits:border=no": false, "limits:border=no,e=1,feasible=0.05": false,
	} {
		f := mustDraw(t, spec, 4, 4)
		for k, m := range f.Members {
			if feasibleShare(f, k) == 0 {
				t.Errorf("%s: member %d: nothing is feasible", spec, k)
			}
			value := Differentiable(func(u []float64) float64 { return m.Objective.Value(f.Space.Decode(u)) })
			u, _ := largest(f.Space, value, nil, random.SeedOf(7))
			if beyond := !keeps(f, m, f.Space.Decode(u)); beyond != want {
				t.Errorf("%s: member %d: the optimum without constraints is infeasible: %t", spec, k, beyond)
			}
		}
	}
}

// With feasible=0 a heavy search meets no limit, for members of their own either.
func TestNothingIsFeasible(t *testing.T) {
	for _, spec := range []string{"limits:feasible=0", "limits:feasible=0,e=1,c=2"} {
		f := mustDraw(t, spec, 2, 3)
		if !f.Infeasible {
			t.Errorf("%s: not said to be infeasible", spec)
		}
		for k, m := range f.Members {
			if !math.IsNaN(m.Objective.Optimum) {
				t.Errorf("%s: member %d has the optimum %g", spec, k, m.Objective.Optimum)
			}
			for i, c := range m.Constraints {
				down := Differentiable(func(u []float64) float64 { return -c.Value(f.Space.Decode(u)) })
				if _, value := largest(f.Space, down, nil, random.SeedOf(7)); value >= 0 {
					t.Errorf("%s: member %d: constraint %d reaches %g", spec, k, i+1, -value)
				}
			}
		}
	}
}

// At e = 0.05 all functions of two members correlate near 0.998, and at e = 1 those
// of six coordinates seldom beyond 0.5; the seed is fixed.
func TestConstraintsAreAlikeAsObjectivesAre(t *testing.T) {
	for e, alike := range map[string]bool{"0.05": true, "1": false} {
		f := mustDraw(t, "limits:d=6,c=2,e="+e, 3, 2)
		at := designs(f.Space, 300, 1)
		for i := range f.Constraints {
			a, b := measuredAt(f.Members[0].Constraints[i], at), measuredAt(f.Members[1].Constraints[i], at)
			if r := correlation(a, b); alike && r < 0.98 || !alike && math.Abs(r) > 0.6 {
				t.Errorf("e=%s: constraint %d correlates by %.3f", e, i+1, r)
			}
			if r := correlation(a, valuesAt(f.Members[0].Objective, at)); math.Abs(r) > 0.6 {
				t.Errorf("e=%s: constraint %d and the objective correlate by %.3f", e, i+1, r)
			}
		}
	}
}

func measuredAt(m Measure, at []task.Design) []float64 {
	return valuesAt(Objective{Value: m.Value}, at)
}

// What is said of others holds for what they measure of constraints.
func TestOtherMembersConstraints(t *testing.T) {
	draw := func(others string) (f Federation, at []task.Design, mine, theirs []float64) {
		f = mustDraw(t, "limits:d=3,others="+others, 7, 6)
		at = designs(f.Space, 300, 3)
		return f, at, measuredAt(f.Members[0].Constraints[0], at), measuredAt(f.Members[1].Constraints[0], at)
	}
	for others, want := range map[string]func(r float64) bool{
		dissimilar: func(r float64) bool { return math.Abs(r) < 0.7 },
		negated:    func(r float64) bool { return r < -0.98 },
		noisy:      func(r float64) bool { return math.Abs(r) < 0.25 },
		forged:     func(r float64) bool { return r > 0.98 },
	} {
		if _, _, mine, theirs := draw(others); !want(correlation(mine, theirs)) {
			t.Errorf("others=%s: correlation %.3f", others, correlation(mine, theirs))
		}
	}
	f, at, _, _ := draw(constant)
	for _, d := range at {
		if !keeps(f, f.Members[1], d) {
			t.Fatal("others=constant: a design is infeasible")
		}
	}
	// Where liars raise their objective they lower their constraint, by as much.
	honest, _, _, before := draw(forged)
	lied, _, _, after := draw(deceptive)
	raised := false
	for i, d := range at {
		rise := lied.Members[1].Objective.Value(d) - honest.Members[1].Objective.Value(d)
		if math.Abs(rise-(before[i]-after[i])) > 1e-9 {
			t.Errorf("others=deceptive: the objective rises by %g and the constraint falls by %g", rise, before[i]-after[i])
		}
		raised = raised || rise > 1
	}
	if !raised {
		t.Error("others=deceptive: no peak")
	}
}

func TestFamiliesNameTheirConstraints(t *testing.T) {
	for _, kind := range Kinds().List() {
		family := mustParse(t, kind.Name)
		drawn, err := family.Draw(random.SeedOf(1), 2)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(family.Constraints, drawn.Constraints) {
			t.Errorf("%s: %v, and drawn %v", kind.Name, family.Constraints, drawn.Constraints)
		}
		for k, m := range drawn.Members {
			if len(m.Constraints) != len(drawn.Constraints) {
				t.Errorf("%s: member %d measures %d constraints", kind.Name, k, len(m.Constraints))
			}
			if constrained := len(drawn.Constraints) > 0; constrained != (m.Objective.Range > 0) {
				t.Errorf("%s: member %d: range %g", kind.Name, k, m.Objective.Range)
			}
		}
	}
}

// Without a shift the optimum is the published one, 0.5998 at (0.1954, 0.4044), and
// functions have deviation 1, within four parts in a thousand over the dense points.
func TestGramacyIsThePublishedProblem(t *testing.T) {
	f := mustDraw(t, "gramacy:shift=0", 1, 1)
	m := f.Members[0]
	if got := m.Objective.Optimum * gramacySumDeviation; math.Abs(got-0.5998) > 5e-5 {
		t.Errorf("optimum %.5f", got)
	}
	at := f.Space.Decode([]float64{0.1954, 0.4044})
	if got := m.Objective.Value(at) * gramacySumDeviation; math.Abs(got-0.5998) > 5e-5 {
		t.Errorf("value at the published minimizer %.5f", got)
	}
	if limit := m.Constraints[0].Value(at); math.Abs(limit) > 1e-3 {
		t.Errorf("its first constraint is %g there", limit)
	}
	var all []task.Design
	for u := range chunks(dense(densePoints, 2), 2) {
		all = append(all, f.Space.Decode(u))
	}
	for i, values := range [][]float64{valuesAt(m.Objective, all), measuredAt(m.Constraints[0], all), measuredAt(m.Constraints[1], all)} {
		mean, square := 0.0, 0.0
		for _, v := range values {
			mean += v / densePoints
			square += v * v / densePoints
		}
		if deviation := math.Sqrt(square - mean*mean); math.Abs(deviation-1) > 0.004 {
			t.Errorf("output %d has deviation %.4f", i, deviation)
		}
	}
}

// Outside of the first cluster the problem is mirrored, and has the same optimum.
func TestGramacyClusters(t *testing.T) {
	f := mustDraw(t, "gramacy:shift=0,clusters=4", 5, 4)
	at, values := designs(f.Space, 10, 1), map[float64]bool{}
	for k, m := range f.Members {
		values[m.Constraints[0].Value(at[0])] = true
		if math.Abs(m.Objective.Optimum*gramacySumDeviation-0.5998) > 5e-5 {
			t.Errorf("member %d: optimum %g", k, m.Objective.Optimum*gramacySumDeviation)
		}
	}
	if len(values) < 3 {
		t.Errorf("the first constraints are %v", values)
	}
}

// BenchmarkFeasibleOptimum draws federations of one; "missed" is the share of functions
// where a random search finds a feasible design that is better by more than 1e-6.
func BenchmarkFeasibleOptimum(b *testing.B) {
	for _, spec := range []string{"limits", "limits:c=2", "limits:c=3,feasible=0.05", "limits:d=6", "limits:d=6,c=2", "limits:d=6,c=2,kernel=matern52", "gramacy"} {
		b.Run(spec, func(b *testing.B) {
			missed, n := 0.0, uint64(0)
			for b.Loop() {
				f := mustDraw(b, spec, n, 1)
				n++
				b.StopTimer()
				if found, stated := bestOf(f, f.Members[0], 20_000, n); found > stated+1e-6 {
					b.Logf("draw %d: beaten by %g", n-1, found-stated)
					missed++
				}
				b.StartTimer()
			}
			b.ReportMetric(missed/float64(n), "missed")
		})
	}
}
