package ftsde

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/internal/privacy/ledger"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/strategy"
)

// overheard is a summer whose contributions the test knows, noise and all.
type overheard struct {
	summer
	given map[uint64][]int64
}

func (o overheard) Contribute(round uint64, vector []int64) ([]strategy.Output, error) {
	o.given[round] = slices.Clone(vector)
	return o.summer.Contribute(round, vector)
}

// overhear notes what each member gives.
func overhear(w *world, absent ...int) []overheard {
	all := make([]overheard, len(w.members))
	for i, m := range w.members {
		all[i].given = map[uint64][]int64{}
		if m.alive {
			all[i].summer = m.exchange.sum
			m.exchange.sum = all[i]
		}
	}
	return all
}

// Less the noise, which the test knows, a sum is the mean of the contributors'
// clipped weights, each counted by its scale; those who are absent leave no trace, and
// where they leave nothing but noise, nothing is said.
func TestASumIsTheContributorsMean(t *testing.T) {
	const nodes, cells, features, rounds = 6, 4, 4, 3
	for name, absent := range map[string][]int{"all": nil, "one is absent": {2}, "a cell is absent": {1, 5}} {
		definition := newTask(t, setting{
			nodes: nodes, features: features, parameters: plane,
			strategy: "cells: 4, share_every: 20", privacy: "min_contributors: 4, committee: 6, max_colluding: 1, releases: 3, clip: 3",
		})
		w := newWorld(t, definition, absent...)
		for i, m := range w.members {
			m.view.Posterior = fixed{mean: weightsOf(i, features)}
		}
		received := overhear(w)
		w.play(rounds)
		for round := uint64(1); round <= rounds; round++ {
			want, noise := expected(w, received, round, absent)
			for i, m := range w.members {
				if slices.Contains(absent, i) {
					continue
				}
				if len(m.result.Sums) != rounds {
					t.Fatalf("%s: member %d has %d sums; %s", name, i, len(m.result.Sums), m.describe())
				}
				got := m.result.Sums[round-1]
				if got.Round != int(round) || got.Contributors != nodes-len(absent) || got.Observations != 2+20*int(round-1) {
					t.Errorf("%s: sum %+v", name, got)
				}
				if !reflect.DeepEqual(got, w.members[0].result.Sums[round-1]) {
					t.Errorf("%s: members 0 and %d have other sums of round %d", name, i, round)
				}
				for cell := range cells {
					for k, v := range got.Weights[cell] {
						if v -= noise[cell][k]; !near(v, want[cell][k], 1e-6) {
							t.Errorf("%s, round %d: weight %d of cell %d is %g, want %g", name, round, k, cell, v, want[cell][k])
						}
					}
				}
			}
		}
	}
}

// weightsOf are a member's, some of them beyond the clip.
func weightsOf(i, features int) []float64 {
	rng := random.SeedOf(uint64(i)).Stream("weights", 0)
	w := make([]float64, features)
	for k := range w {
		w[k] = rng.NormFloat64() * float64(i+1) / 3
	}
	return w
}

// expected works out, from the formula, what the sum of a round tells without noise,
// and the noise on it. While exploration is divided, a cell whose members are absent
// has noise alone.
func expected(w *world, received []overheard, round uint64, absent []int) (mean, noise [][]float64) {
	spec, clip := settingsOf(w.task), w.task.Privacy.Clip
	features := w.task.Surrogate.Features
	other := Elsewhere((int(round) - 1) * spec.ShareEvery)
	for cell := range spec.Cells {
		m, n, scales := make([]float64, features), make([]float64, features), 0.0
		for i := range w.members {
			if slices.Contains(absent, i) {
				continue
			}
			scale := other
			if i%spec.Cells == cell {
				scale = 1
			}
			scales += scale
			weights := weightsOf(i, features)
			shorter := min(1, clip/math.Sqrt(float64(spec.Cells))/norm(weights))
			for k, v := range weights {
				m[k] += scale * shorter * v
				gave := float64(received[i].given[round][cell*features+k]) * clip / (1 << 30)
				n[k] += gave - scale*shorter*v
			}
		}
		for k := range m {
			m[k] /= scales
			n[k] /= scales
		}
		if scales < 0.01 {
			clear(m)
			clear(n)
		}
		mean, noise = append(mean, m), append(noise, n)
	}
	return mean, noise
}

// The noise that a sum claims to have is what Terms say for its contributors, in
// the unit of the average.
func TestASumKnowsItsNoise(t *testing.T) {
	definition := newTask(t, setting{nodes: 7, features: 2, strategy: "cells: 2, share_every: 30", privacy: "min_contributors: 4, releases: 2"})
	w := newWorld(t, definition, 1)
	w.play(2)
	terms := w.members[0].exchange.ledger.Terms
	for i, scales := range [][2]float64{
		{4 + 2*math.Exp(-15), 2 + 4*math.Exp(-15)}, // members 0, 2, 4 and 6, and 3 and 5
		{4 + 2*math.Exp(-5), 2 + 4*math.Exp(-5)},
	} {
		s := w.members[0].result.Sums[i]
		for cell, scale := range scales {
			if want := terms.Sigma * math.Sqrt(6) / scale; !near(s.Noise[cell], want, 1e-12*want) {
				t.Errorf("round %d: cell %d has noise %g, want %g", s.Round, cell, s.Noise[cell], want)
			}
		}
	}
}

// A cell whose noise is a hundred times as long as an honest average says nothing; one
// whose noise is a little less does.
func TestDrownedCellsSayNothing(t *testing.T) {
	terms := newNode(t, newTask(t, setting{features: 2, strategy: "cells: 2"}), 1).exchange.ledger.Terms
	units := []int64{1 << 30, -1 << 29, 1 << 28, 1 << 27}
	// Of four contributors none is in the second cell: noise of Sigma·√4/(4·other) on
	// each of two weights, against Clip/√2.
	border := terms.Sigma * math.Sqrt(4) * math.Sqrt(2) / (4 * 100 * terms.Clip / math.Sqrt(2))
	for other, says := range map[float64]bool{border * 1.001: true, border * 0.999: false, math.Exp(-15): false, 1: true} {
		s := Sum{}.average(terms, slices.Clone(units), []int{4, 0}, other)
		if got := norm(s.Weights[1]) > 0; got != says || norm(s.Weights[0]) == 0 {
			t.Errorf("others at %g: weights %v, noise %v", other, s.Weights, s.Noise)
		}
	}
}

// No sum that honest nodes make is shortened: their noise is far within the bound,
// beyond which the 200 numbers of a cell get less than once in 10^300 rounds.
func TestHonestSumsAreNotShortened(t *testing.T) {
	definition := newTask(t, setting{features: 200, privacy: "clip: 0.001"})
	n := newNode(t, definition, 1)
	units, _, _, err := n.exchange.ledger.Contribute(make([]float64, 200))
	if err != nil {
		t.Fatal(err)
	}
	terms := n.exchange.ledger.Terms
	got := Sum{}.average(terms, units, []int{1}, 1)
	if want := terms.Weights(units); !slices.Equal(got.Weights[0], want) {
		t.Errorf("norm %g became %g", norm(want), norm(got.Weights[0]))
	}
}

// A member that was away has no say in a round, and no trace of it is left; it comes
// back for the next one.
func TestAMemberComesBack(t *testing.T) {
	definition := newTask(t, setting{nodes: 5, privacy: "min_contributors: 4, committee: 4", strategy: "share_every: 2"})
	w := newWorld(t, definition)
	w.play(1)
	w.crash(3)
	w.play(1)
	w.boot(3)
	w.tick(longest)
	w.play(2)
	for _, i := range []int{0, 1, 2, 4} {
		if len(w.members[i].result.Sums) < 4 {
			t.Errorf("member %d: %s", i, w.members[i].describe())
		}
	}
	last := w.members[0].result.Sums[len(w.members[0].result.Sums)-1]
	if last.Contributors != 5 {
		t.Errorf("the last sum has %d contributors", last.Contributors)
	}
	var rounds []int
	for _, s := range w.members[3].result.Sums {
		rounds = append(rounds, s.Round)
	}
	if rounds[len(rounds)-1] < 4 || !slices.IsSorted(rounds) || len(slices.Compact(slices.Clone(rounds))) != len(rounds) {
		t.Errorf("member 3 has the sums of rounds %v; %s", rounds, w.members[3].describe())
	}
}

// A round for which no committee comes together ends without a sum, and leaves records that
// the next run can read: one that it cannot would end all releases.
func TestACommitteeThatDoesNotMeetLeavesTheLedgerReadable(t *testing.T) {
	definition := newTask(t, setting{})
	w := newWorld(t, definition)
	gone := []int{2, 3}
	for _, i := range gone {
		w.crash(i)
	}
	for _, m := range w.members { // who went may count as present for a while
		m.view.Results = map[string]any{presence.Kind: presence.Result{Present: definition.Privacy.Aggregate.Roster}}
	}
	for range definition.Strategy.InitialDesigns {
		w.observe(0, 1)
	}
	w.tick(3 * longest)
	for _, m := range w.members[:2] {
		if m.result.Failed == 0 || m.spent(definition) != (ledger.State{Planned: definition.Privacy.Releases}) {
			t.Errorf("member %d: %s; by its journal %+v", m.index, m.describe(), m.spent(definition))
		}
	}
}
