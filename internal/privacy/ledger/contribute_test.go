package ledger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/privacy"
	"github.com/fbo-node/fbo/task"
)

// parseSum is a task whose nodes give 8 weights for each of two cells to sums.
func parseSum(t testing.TB, nodes int, privacy string) *task.Task {
	t.Helper()
	parsed, err := task.Parse("task", fmt.Appendf(nil, `
name: summed
goal: minimize
parameters: [{name: x, type: float, low: 0, high: 1}]
surrogate: {features: 8}
strategy: {type: fts-de, cells: 2}
privacy: {mechanism: aggregate, clip: 3, %s, roster: [%s]}`, privacy, fbotest.Roster(t, nodes)), strategies())
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func openSum(t testing.TB, seed byte) *Ledger {
	t.Helper()
	l, err := NewLedger(parseSum(t, 4, "epsilon: 4, releases: 3"), entropy(seed))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Of n contributors, t of whom collude, n-t share the noise that one alone would add,
// and what is spent is the same.
func TestPartiesShareTheNoise(t *testing.T) {
	one, err := NewTerms(parse(t, "clip: 3, epsilon: 4, releases: 3"))
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		nodes := rapid.IntRange(2, 20).Draw(rt, "nodes")
		colluding := rapid.IntRange(1, nodes-1).Draw(rt, "colluding")
		contributors := rapid.IntRange(colluding+1, nodes).Draw(rt, "contributors")
		many, err := NewTerms(parseSum(t, nodes, fmt.Sprintf("epsilon: 4, releases: 3, committee: %d, max_colluding: %d, min_contributors: %d", nodes, colluding, contributors)))
		if err != nil {
			rt.Fatal(err)
		}
		if many.Numbers() != 16 {
			rt.Fatalf("releases of %d numbers, want 2 cells of 8", many.Numbers())
		}
		left := many.Sigma * math.Sqrt(float64(contributors-colluding))
		if ratio := left / one.Sigma; math.Abs(ratio-1) > 1e-5 {
			rt.Errorf("%d of %d contributors collude: the others' noise is %.7g of one's", colluding, contributors, ratio)
		}
		for releases := 1; releases <= 3; releases++ {
			a, err := one.Spent(releases)
			b, other := many.Spent(releases)
			if err != nil || other != nil || math.Abs(a-b) > 1e-4 || b > 4 {
				rt.Errorf("%d releases spend %g and %g, %v, %v", releases, a, b, err, other)
			}
		}
	})
}

// The noise does not depend on the weights: with the same random bytes a contribution
// differs from that of zeros by the clipped weights exactly, to the last unit.
func TestContributionIsClippedWeightsAndNoise(t *testing.T) {
	fresh, units := *openSum(t, 1), func(l Ledger, weights []float64) []int64 {
		l.entropy = entropy(7)
		got, number, record, err := l.Contribute(weights)
		if err != nil || number != 1 || !bytes.Contains(record, []byte(`"release":1,`)) {
			t.Fatalf("contribution %d, record %s, %v", number, record, err)
		}
		return got
	}
	zeros := units(fresh, make([]float64, 16))
	grid := privacy.Grid{Norm: 3, Bits: 30}
	rapid.Check(t, func(rt *rapid.T) {
		weights := rapid.SliceOfN(rapid.OneOf(rapid.Float64Range(-5, 5), rapid.Float64()), 16, 16).Draw(rt, "weights")
		clipped := make([]int64, 16)
		if err := grid.Clip(clipped, weights); err != nil {
			rt.Fatal(err)
		}
		square := 0.0
		for i, v := range units(fresh, weights) {
			if v-zeros[i] != clipped[i] {
				rt.Fatalf("number %d is %d more than noise, clipped it is %d", i, v-zeros[i], clipped[i])
			}
			square += math.Ldexp(float64(clipped[i]), -30) * math.Ldexp(float64(clipped[i]), -30)
		}
		if square > 1 {
			rt.Fatalf("clipped to %g times the norm", math.Sqrt(square))
		}
	})
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if got := units(fresh, append(make([]float64, 15), bad)); !slices.Equal(got, zeros) {
			t.Errorf("weights with %g are given as other than zeros and noise", bad)
		}
	}
}

// Contributions add up in units: the weights of their sum are the sum of theirs.
func TestContributionsAddUp(t *testing.T) {
	one, two := openSum(t, 1), openSum(t, 2)
	a, _, _, err := one.Contribute(slices.Repeat([]float64{0.5}, 16))
	b, _, _, other := two.Contribute(slices.Repeat([]float64{-0.1}, 16))
	if err != nil || other != nil {
		t.Fatal(err, other)
	}
	sum := make([]int64, 16)
	for i := range sum {
		sum[i] = a[i] + b[i]
	}
	ofA, ofB := one.Weights(a), one.Weights(b)
	for i, v := range one.Weights(sum) {
		if want := ofA[i] + ofB[i]; math.Abs(v-want) > 1e-12*math.Abs(want)+1e-15 {
			t.Errorf("weight %d of the sum is %g, want %g", i, v, want)
		}
	}
}

func TestContributionsThatAreNone(t *testing.T) {
	l := openSum(t, 1)
	if units, _, record, err := l.Contribute(make([]float64, 8)); err == nil || units != nil || record != nil {
		t.Errorf("weights of one cell: %v, %s, %v", units, record, err)
	}
	l.entropy = strings.NewReader("too few")
	if units, _, record, err := l.Contribute(make([]float64, 16)); err == nil || units != nil || record != nil {
		t.Errorf("without random bytes: %v, %s, %v", units, record, err)
	}
	if l.State().Released != 0 || !l.Open() {
		t.Errorf("the state is %+v", l.State())
	}
	l.entropy = entropy(1)
	for number := 1; number <= 3; number++ {
		if _, got, _, err := l.Contribute(make([]float64, 16)); err != nil || got != number {
			t.Fatalf("contribution %d: %d, %v", number, got, err)
		}
	}
	if units, _, _, err := l.Contribute(make([]float64, 16)); err == nil || units != nil {
		t.Error("a fourth contribution of three")
	}
}

// Whatever records there are, none makes a release undone or a refusal forgotten.
func FuzzReplay(f *testing.F) {
	for _, seed := range []string{"", "{}", `{"release":3,"name":"0000000000000003"}`, `{"release":-1}`, `{"refused":"x","release":1}`, `{"RELEASE":9}`, `{"release":1e30}`, `[]`, "null"} {
		f.Add([]byte(seed), []byte(`{"release":2,"name":"0000000000000002"}`))
		f.Add([]byte(`{"refused":"x"}`), []byte(seed))
	}
	definition := parse(f, terms)
	f.Fuzz(func(t *testing.T, first, second []byte) {
		l := Ledger{state: State{Planned: 3}}
		for _, record := range [][]byte{[]byte(`{"release":1,"name":"0000000000000001"}`), first, second} {
			before := l.State()
			l.Replay(record)
			after := l.State()
			if after.Released < before.Released || after.Released < 1 || before.Refused != "" && after.Refused == "" {
				t.Fatalf("record %q turned %+v into %+v", record, before, after)
			}
			if !json.Valid(record) && after.Refused == "" {
				t.Fatalf("record %q was passed over", record)
			}
		}
		if read := ReadState(definition, [][]byte{[]byte(`{"release":1,"name":"0000000000000001"}`), first, second}); read != l.State() {
			t.Fatalf("read %+v, replayed %+v", read, l.State())
		}
	})
}
