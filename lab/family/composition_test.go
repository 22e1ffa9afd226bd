package family

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/task"
)

// designs are random ones of a space.
func designs(space *task.Space, n int, seed uint64) []task.Design {
	rng := random.SeedOf(seed).Stream("designs", 0)
	all := make([]task.Design, n)
	for i := range all {
		all[i] = space.Decode(acquisition.Sample(space, rng))
	}
	return all
}

func valuesAt(o Objective, at []task.Design) []float64 {
	values := make([]float64, len(at))
	for i, d := range at {
		values[i] = o.Value(d)
	}
	return values
}

// correlation is NaN where values do not vary.
func correlation(a, b []float64) float64 {
	var ma, mb, aa, bb, ab float64
	for i := range a {
		ma += a[i] / float64(len(a))
		mb += b[i] / float64(len(b))
	}
	for i := range a {
		aa += (a[i] - ma) * (a[i] - ma)
		bb += (b[i] - mb) * (b[i] - mb)
		ab += (a[i] - ma) * (b[i] - mb)
	}
	return ab / math.Sqrt(aa*bb)
}

func median(values []float64) float64 {
	values = slices.Clone(values)
	slices.Sort(values)
	return values[len(values)/2]
}

var companySpecs = []string{
	"gp:d=1", "gp:d=1,clusters=2", "gp:newcomer=true", "gp:d=1,others=dissimilar", "gp:d=1,others=negated", "gp:d=1,others=half-negated",
	"gp:d=1,others=deceptive", "gp:others=constant", "gp:d=1,others=noise", "gp:d=1,others=forged", "gp:d=1,others=deceptive,newcomer=true",
	"gp:d=1,d_n=0.3", "branin:clusters=2,rotate=10,warp=0.1,scale=0.2,offset=0.3", "hartmann6:others=dissimilar", "levy:d=2,others=deceptive",
	"corner:d=2,ints=1,choices=1,clusters=2", "corner:decoy=0.3,others=deceptive",
	"limits:c=2,border=yes,clusters=2", "limits:d=1,others=deceptive", "limits:d=1,others=dissimilar,newcomer=true", "limits:others=noise", "gramacy:others=constant",
}

func TestSameSeedSameFederation(t *testing.T) {
	for _, spec := range companySpecs {
		a, b, other := mustDraw(t, spec, 1, 4), mustDraw(t, spec, 1, 4), mustDraw(t, spec, 2, 4)
		at := designs(a.Space, 20, 1)
		if slices.Equal(valuesAt(a.Members[0].Objective, at), valuesAt(other.Members[0].Objective, at)) {
			t.Errorf("%s: another seed gives the same member", spec)
		}
		for k, m := range a.Members {
			n := b.Members[k]
			if !slices.Equal(valuesAt(m.Objective, at), valuesAt(n.Objective, at)) {
				t.Errorf("%s: member %d has other values with the same seed", spec, k)
			}
			for i := range m.Constraints {
				if !slices.Equal(measuredAt(m.Constraints[i], at), measuredAt(n.Constraints[i], at)) {
					t.Errorf("%s: member %d measures other constraints with the same seed", spec, k)
				}
			}
			m.Objective.Value, n.Objective.Value, m.Constraints, n.Constraints = nil, nil, nil, nil
			if fmt.Sprint(m) != fmt.Sprint(n) {
				t.Errorf("%s: member %d is %v and %v with the same seed", spec, k, m, n)
			}
		}
	}
}

// Members have an optimum if and only if they count, at least one does, and
// values are the same whenever asked.
func TestMembersAreWellFormed(t *testing.T) { checkMembers(t, 1, 2) }

// checkMembers draws federations with each number of agents.
func checkMembers(t *testing.T, counts ...int) {
	for _, spec := range companySpecs {
		for _, agents := range counts {
			f := mustDraw(t, spec, 1, agents)
			if len(f.Members) != agents {
				t.Fatalf("%s: %d members of %d", spec, len(f.Members), agents)
			}
			at, counted := designs(f.Space, 10, 2), 0
			for k, m := range f.Members {
				if m.Counts == math.IsNaN(m.Objective.Optimum) {
					t.Errorf("%s: member %d counts %v, optimum %g", spec, k, m.Counts, m.Objective.Optimum)
				}
				if m.Counts {
					counted++
				}
				if !slices.Equal(valuesAt(m.Objective, at), valuesAt(m.Objective, at)) {
					t.Errorf("%s: member %d has other values when asked again", spec, k)
				}
			}
			if counted == 0 {
				t.Errorf("%s: nobody counts", spec)
			}
		}
	}
}

// The honest member is the same in all company, and whatever number there are.
func TestCompanyLeavesTheHonestMember(t *testing.T) {
	alone := mustDraw(t, "gp", 5, 1)
	at := designs(alone.Space, 30, 1)
	want := valuesAt(alone.Members[0].Objective, at)
	for _, others := range compositionKeys()[0].Choices {
		f := mustDraw(t, "gp:others="+others, 5, 6)
		if !slices.Equal(valuesAt(f.Members[0].Objective, at), want) || f.Members[0].Objective.Optimum != alone.Members[0].Objective.Optimum {
			t.Errorf("others=%s: member 0 is another", others)
		}
	}
	first := mustDraw(t, "gp:newcomer=true", 5, 6)
	want = valuesAt(first.Members[5].Objective, at)
	for _, others := range compositionKeys()[0].Choices {
		f := mustDraw(t, "gp:newcomer=true,others="+others, 5, 6)
		if !slices.Equal(valuesAt(f.Members[5].Objective, at), want) {
			t.Errorf("others=%s: the newcomer is another", others)
		}
		for k, m := range f.Members {
			if m.Counts != (k == 5) || m.Late != (k == 5) {
				t.Errorf("others=%s: newcomer: member %d counts %v, late %v", others, k, m.Counts, m.Late)
			}
		}
	}
}

// Forgers are the last members; nothing else about anybody's function changes.
func TestAdversariesAreTheLastMembers(t *testing.T) {
	honest, f := mustDraw(t, "gp:clusters=2", 5, 6), mustDraw(t, "gp:clusters=2,adversaries=2", 5, 6)
	at := designs(f.Space, 30, 1)
	for k, m := range f.Members {
		if forges := k >= 4; m.Forged != forges || m.Counts == forges || m.Cluster != k%2 || !slices.Equal(valuesAt(m.Objective, at), valuesAt(honest.Members[k].Objective, at)) {
			t.Errorf("member %d is %+v", k, m)
		}
	}
	for spec, want := range map[string]bool{"gp:adversaries=2": false, "gp:adversaries=2,attack=random": false, "gp:adversaries=2,attack=corner": true, "gp:others=forged,attack=corner": true} {
		for k, m := range mustDraw(t, spec, 5, 6).Members {
			if m.Corner != (want && m.Forged) {
				t.Errorf("%s: member %d is %+v", spec, k, m)
			}
		}
	}
	for spec, want := range map[string]bool{"gp": false, "gp:adversaries=0": false, "gp:adversaries=1": true, "gp:others=forged": true} {
		parsed, err := Kinds().Parse(spec)
		if err != nil || parsed.Forges != want {
			t.Errorf("%s forges: %v, error %v", spec, parsed.Forges, err)
		}
	}
	parsed, err := Kinds().Parse("gp:adversaries=3")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parsed.Draw(random.SeedOf(1), 3); err == nil || !strings.Contains(err.Error(), "adversaries=3 of 3 agents: at least one must be honest") {
		t.Errorf("error %v", err)
	}
}

// At e = 0.1 members of the same sign correlate near 0.99, and independent
// functions of three coordinates seldom beyond 0.6; the seed is fixed.
func TestDissimilarMembersCorrelate(t *testing.T) {
	draw := func(others string) (Federation, []task.Design, []float64) {
		f := mustDraw(t, "gp:d=3,e=0.1,others="+others, 7, 6)
		at := designs(f.Space, 300, 3)
		return f, at, valuesAt(f.Members[0].Objective, at)
	}
	for _, test := range []struct {
		others    string
		low, high func(place int) float64
		clusters  []int
		forged    bool
	}{
		{dissimilar, always(-0.7), always(0.7), []int{0, 2, 3, 4, 5, 6}, false},
		{negated, always(-1), always(-0.9), []int{0, 1, 1, 1, 1, 1}, false},
		{halfNegated, func(p int) float64 { return []float64{-1, 0.9}[p%2] }, func(p int) float64 { return []float64{-0.9, 1}[p%2] }, []int{0, 1, 0, 1, 0, 1}, false},
		{deceptive, always(0), always(0.95), []int{0, 1, 1, 1, 1, 1}, false},
		{noisy, always(-0.25), always(0.25), []int{0, 2, 3, 4, 5, 6}, false},
		{forged, always(0.9), always(1), []int{0, 0, 0, 0, 0, 0}, true},
	} {
		f, at, honest := draw(test.others)
		for k, m := range f.Members {
			if m.Counts != (k == 0) || m.Cluster != test.clusters[k] || m.Forged != (test.forged && k > 0) || m.Late {
				t.Errorf("others=%s: member %d is %+v", test.others, k, m)
			}
			if k == 0 {
				continue
			}
			if r := correlation(honest, valuesAt(m.Objective, at)); !(r >= test.low(k-1) && r <= test.high(k-1)) {
				t.Errorf("others=%s: member %d correlates %.2f with the honest one", test.others, k, r)
			}
		}
	}
}

func always(v float64) func(int) float64 { return func(int) float64 { return v } }

func TestConstantMembers(t *testing.T) {
	for spec, want := range map[string]float64{"gp:others=constant": lie, "branin:others=constant": -lie} {
		f := mustDraw(t, spec, 1, 3)
		at := designs(f.Space, 10, 1)
		for _, m := range f.Members[1:] {
			for _, v := range valuesAt(m.Objective, at) {
				if v != want {
					t.Errorf("%s: value %g, want %g", spec, v, want)
				}
			}
			if m.Objective.Noise != 0.1 {
				t.Errorf("%s: noise %g", spec, m.Objective.Noise)
			}
		}
	}
}

// 2,000 values of a member that is noise have mean 0 and variance 1 within four
// standard errors, 0.09 and 0.13, and do not correlate with another's.
func TestNoiseMembersAreStandardNormal(t *testing.T) {
	f := mustDraw(t, "gp:others=noise", 1, 3)
	at := designs(f.Space, 2000, 1)
	a, b := valuesAt(f.Members[1].Objective, at), valuesAt(f.Members[2].Objective, at)
	var mean, square float64
	for _, v := range a {
		mean += v / float64(len(a))
		square += v * v / float64(len(a))
	}
	if math.Abs(mean) > 0.09 || math.Abs(square-1) > 0.13 || math.Abs(correlation(a, b)) > 0.09 {
		t.Errorf("mean %.3f, mean square %.3f, correlation %.3f", mean, square, correlation(a, b))
	}
}

// All liars agree where the peak is; it is as high and wide as said, and where the
// honest member has a worse value than at most designs.
func TestLiarsShareAPeak(t *testing.T) {
	for spec, better := range map[string]float64{"gp:e=0,others=deceptive": 1, "branin:shift=0,others=deceptive": -1} {
		for seed := range uint64(5) {
			f := mustDraw(t, spec, seed, 4)
			at := designs(f.Space, 2000, 1)
			honest := valuesAt(f.Members[0].Objective, at)
			top, where := 0.0, 0
			for k, m := range f.Members[1:] {
				for i, v := range valuesAt(m.Objective, at) {
					lift := better * (v - honest[i])
					if lift < 0 || lift > lie {
						t.Fatalf("%s: member %d lies by %g", spec, k+1, lift)
					}
					if k == 0 && lift > top {
						top, where = lift, i
					}
					if k > 0 && v != f.Members[1].Objective.Value(at[i]) {
						t.Fatalf("%s: liars that are the same in all else differ", spec)
					}
				}
			}
			if top < 0.9*lie {
				t.Errorf("%s: the highest lie is %g", spec, top)
			}
			// The nearest of the designs is not quite at the place.
			if better*honest[where] > better*median(honest)+0.3 {
				t.Errorf("%s, seed %d: the peak is where the honest value is %g, median %g", spec, seed, honest[where], median(honest))
			}
		}
	}
}

func TestClusterMembersCorrelate(t *testing.T) {
	for _, spec := range []string{"gp:e=0.1,lengthscale=0.1,clusters=3", "hartmann6:clusters=3,shift=0.01"} {
		f := mustDraw(t, spec, 3, 7)
		at := designs(f.Space, 300, 1)
		for i, a := range f.Members {
			if a.Cluster != i%3 || !a.Counts {
				t.Errorf("%s: member %d is %+v", spec, i, a)
			}
			for j, b := range f.Members[:i] {
				r := correlation(valuesAt(a.Objective, at), valuesAt(b.Objective, at))
				if same := a.Cluster == b.Cluster; same != (r > 0.9) {
					t.Errorf("%s: members %d and %d correlate %.2f", spec, i, j, r)
				}
			}
		}
	}
}
