package family

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/lab/testfunc"
)

var classicSpecs = []string{
	"branin", "hartmann3", "hartmann6", "ackley", "levy",
	"branin:rotate=30,warp=0.3,scale=0.3,offset=1", "hartmann3:rotate=20,warp=0.2", "hartmann6:rotate=10,warp=0.1,clusters=3",
	"ackley:d=1,clusters=3", "ackley:d=2,rotate=180,warp=0.5", "levy:d=1,shift=0.5", "levy:d=2,shift=0.5,rotate=45",
	"levy:d=4,clusters=2,warp=0.2", "branin:shift=0.5,clusters=2", "hartmann3:shift=0.3,clusters=2", "hartmann6:shift=0.4",
	"shekel4", "shekel4:rotate=30,warp=0.3,scale=0.3,offset=1", "shekel4:shift=0.5", "shekel4:clusters=3",
	"mixed", "mixed:rotate=30,warp=0.3,scale=0.3,offset=1", "mixed:shift=0.5", "mixed:shift=0.3,clusters=3",
	"griewank", "griewank:d=4,rotate=20,warp=0.1", "griewank:d=1,shift=0.5", "michalewicz", "michalewicz:d=2,shift=0.5,rotate=180,clusters=3",
	"rosenbrock:d=2", "rosenbrock:d=4,warp=0.1,clusters=2", "rosenbrock:shift=0.5",
}

// Neither a dense sample nor searches find less than the stated optimum, and for
// functions with few minima they find as little.
func TestClassicOptimaAreOptimal(t *testing.T) {
	for i, spec := range classicSpecs {
		f := mustDraw(t, spec, uint64(i), 3)
		for k, m := range f.Members {
			lowest := math.Inf(1)
			for u := range chunks(dense(1000, f.Space.Dim()), f.Space.Dim()) {
				lowest = min(lowest, m.Objective.Value(f.Space.Decode(u)))
			}
			negative := Differentiable(func(u []float64) float64 { return -m.Objective.Value(f.Space.Decode(u)) })
			search := acquisition.Maximizer{Space: f.Space, Candidates: 500, Searches: 16}
			_, best, _ := search.Maximize(t.Context(), negative, nil, random.SeedOf(5).Stream(spec, uint64(k)))
			optimum := m.Objective.Optimum
			if lowest = min(lowest, -best); lowest < optimum-1e-7*(1+math.Abs(optimum)) {
				t.Errorf("%s: member %d: found %.9g, stated %.9g", spec, k, lowest, optimum)
			}
			if f.Space.Len() <= 3 && lowest > optimum+0.01 {
				t.Errorf("%s: member %d: found only %.9g, stated %.9g", spec, k, lowest, optimum)
			}
		}
	}
}

// The published functions, divided by their deviations, are what a family has when
// members do not differ.
func TestMembersThatDoNotDiffer(t *testing.T) {
	for _, b := range testfunc.All() {
		published := b.New(b.Usual)
		f := mustDraw(t, b.Name+":shift=0", 1, 3)
		for _, m := range f.Members {
			for _, d := range designs(f.Space, 20, 1) {
				want := published.At(d) / published.Deviation
				if got := m.Objective.Value(d); math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
					t.Errorf("%s at %v is %g, published %g", b.Name, d, got, want)
				}
			}
			if want := published.Optimum / published.Deviation; m.Objective.Optimum != want || m.Objective.Noise != 0.1 {
				t.Errorf("%s: optimum %g, noise %g", b.Name, m.Objective.Optimum, m.Objective.Noise)
			}
		}
	}
}

// In its own units a family has the published functions as they are, one for all members
// where they do not differ, and noise and optimum are in these units.
func TestOwnUnits(t *testing.T) {
	for _, b := range testfunc.All() {
		published := b.New(b.Usual)
		f := mustDraw(t, b.Name+":shift=0,units=own,noise=0.3", 1, 4)
		for _, d := range designs(f.Space, 20, 1) {
			want, first := published.At(d), f.Members[0].Objective.Value(d)
			if math.Abs(first-want) > 1e-9*(1+math.Abs(want)) {
				t.Errorf("%s at %v is %g, published %g", b.Name, d, first, want)
			}
			for k, m := range f.Members {
				if got := m.Objective.Value(d); got != first {
					t.Errorf("%s at %v: member %d has %g, the first %g", b.Name, d, k, got, first)
				}
			}
		}
		for _, m := range f.Members {
			if m.Objective.Optimum != published.Optimum || m.Objective.Noise != 0.3 {
				t.Errorf("%s: optimum %g, noise %g", b.Name, m.Objective.Optimum, m.Objective.Noise)
			}
		}
	}
	// What else is drawn is the same in other units.
	in, of := mustDraw(t, "branin:scale=0.3,warp=0.1", 2, 2), mustDraw(t, "branin:units=own,scale=0.3,warp=0.1", 2, 2)
	for _, d := range designs(in.Space, 20, 1) {
		for k := range in.Members {
			if got, want := of.Members[k].Objective.Value(d), testfunc.Branin().Deviation*in.Members[k].Objective.Value(d); math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
				t.Errorf("member %d at %v is %g, want %g", k, d, got, want)
			}
		}
	}
}

// Along ints members are moved by whole numbers up to what the shift says, and choices
// stay where they are within a cluster.
func TestShiftOfIntsAndChoices(t *testing.T) {
	const ofRange = 3 // 0.2 of 15
	f, moved := mustDraw(t, "mixed:shift=0.2,noise=0", 1, 40), map[int64]bool{}
	for k, m := range f.Members {
		n, choice := bestOfMixed(f, m)
		if choice != "cedar" {
			t.Errorf("member %d has the best choice %s", k, choice)
		}
		moved[n-7] = true
	}
	if len(moved) < 5 {
		t.Errorf("the best int is moved by %v", moved)
	}
	for by := range moved {
		if by < -ofRange || by > ofRange {
			t.Errorf("the best int is moved by %d", by)
		}
	}
	choices := map[string]bool{}
	for _, m := range mustDraw(t, "mixed:clusters=10", 1, 10).Members {
		_, choice := bestOfMixed(f, m)
		choices[choice] = true
	}
	if len(choices) < 3 {
		t.Errorf("in ten clusters the best choices are %v", choices)
	}
}

// bestOfMixed returns the int and the choice of the best of a grid of designs.
func bestOfMixed(f Federation, m Member) (n int64, choice string) {
	lowest := math.Inf(1)
	for u := range chunks(dense(20_000, f.Space.Dim()), f.Space.Dim()) {
		d := f.Space.Decode(u)
		if value := m.Objective.Value(d); value < lowest {
			lowest, n, choice = value, d.Int("n"), d.Choice("method")
		}
	}
	return n, choice
}

// Each key moves members apart, and more so with larger values: the root mean
// square difference from the published function, averaged over members.
func TestEachKeyMovesMembersApart(t *testing.T) {
	for _, b := range testfunc.All() {
		for key, values := range map[string][]string{
			"scale": {"0", "0.1", "0.5"}, "offset": {"0", "0.2", "1"}, "rotate": {"0", "5", "20"}, "warp": {"0", "0.02", "0.2"},
		} {
			before := -1.0
			for _, value := range values {
				now := apart(t, fmt.Sprintf("%s:shift=0,%s=%s", b.Name, key, value), b)
				if !(now > before) || before < 0 && now > 1e-9 {
					t.Errorf("%s: %s=%s: difference %g, before %g", b.Name, key, value, now, before)
				}
				before = now
			}
		}
		if now := apart(t, b.Name, b); now < 0.01 {
			t.Errorf("%s: a shift by 0.05 makes a difference of %g", b.Name, now)
		}
	}
}

func apart(t *testing.T, spec string, b testfunc.Named) float64 {
	published := b.New(b.Usual)
	f := mustDraw(t, spec, 1, 6)
	at, sum := designs(f.Space, 100, 1), 0.0
	for _, m := range f.Members {
		for _, d := range at {
			off := m.Objective.Value(d) - published.At(d)/published.Deviation
			sum += off * off
		}
	}
	return math.Sqrt(sum / float64(len(f.Members)*len(at)))
}

// A shift moves the optimum by what it says, uniformly: with 400 members the
// extremes of each coordinate are within 5 % of the bounds except with
// probability 4·0.975^400.
func TestShiftIsUniform(t *testing.T) {
	const shift = 0.1
	m, low, high := still(2), 1.0, -1.0
	seed := random.SeedOf(1)
	for i := range uint64(400) {
		m.move(amounts{shift: shift}, seed.Stream("shift", i), seed.Stream("turn", i), seed.Stream("warp", i))
		u, inside := m.back([]float64{0.4, 0.6})
		if by := u[0] - 0.4; !inside || math.Abs(by) > shift {
			t.Fatalf("moved by %g", by)
		}
		low, high = min(low, u[0]-0.4), max(high, u[0]-0.4)
	}
	if low > -0.95*shift || high < 0.95*shift {
		t.Errorf("moves are within [%g, %g]", low, high)
	}
}

func randomMotion(t *rapid.T, d int) motion {
	m := still(d)
	if d > 1 {
		m.turns = make([]turn, d/2)
	}
	seed := random.SeedOf(rapid.Uint64().Draw(t, "seed"))
	a := amounts{
		shift: rapid.Float64Range(0, 0.5).Draw(t, "shift"),
		turn:  rapid.Float64Range(0, math.Pi).Draw(t, "turn"),
		warp:  rapid.Float64Range(0, 0.5).Draw(t, "warp"),
	}
	m.move(a, seed.Stream("shift", 0), seed.Stream("turn", 0), seed.Stream("warp", 0))
	m.mix(seed.Stream("mix", 0))
	return m
}

func TestMotionsGoForthAndBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.IntRange(1, 7).Draw(t, "d")
		m := randomMotion(t, d)
		u := rapid.SliceOfN(rapid.Float64Range(0.01, 0.99), d, d).Draw(t, "u")
		before := slices.Clone(u)
		back, inside := m.back(m.forth(u))
		if !inside {
			t.Fatalf("%v does not come back", u)
		}
		for i := range u {
			if math.Abs(back[i]-u[i]) > 1e-7 || u[i] != before[i] {
				t.Fatalf("%v comes back as %v", before, back)
			}
		}
	})
}

// Rotations and shifts leave distances; a member's turns are within the angle.
func TestTurnsAreRigid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.IntRange(2, 7).Draw(t, "d")
		m := randomMotion(t, d)
		for i := range m.powers {
			m.powers[i] = 1
		}
		point := rapid.SliceOfN(rapid.Float64Range(0, 1), d, d)
		u, v := point.Draw(t, "u"), point.Draw(t, "v")
		before, after := 0.0, 0.0
		a, b := m.forth(u), m.forth(v)
		for i := range u {
			before, after = math.Hypot(before, u[i]-v[i]), math.Hypot(after, a[i]-b[i])
		}
		if math.Abs(before-after) > 1e-9 {
			t.Fatalf("distance %g becomes %g", before, after)
		}
	})
}

func TestWhatIsNotInTheCubeDoesNotComeBack(t *testing.T) {
	m := still(2)
	m.shift[0] = 0.3
	u, inside := m.back([]float64{0.9, 0.5})
	if inside || u[0] != 1 || u[1] != 0.5 {
		t.Errorf("back at %v, inside %v", u, inside)
	}
}

// chunks yields rows of n numbers.
func chunks(all []float64, n int) func(yield func([]float64) bool) {
	return func(yield func([]float64) bool) {
		for len(all) > 0 && yield(all[:n:n]) {
			all = all[n:]
		}
	}
}
