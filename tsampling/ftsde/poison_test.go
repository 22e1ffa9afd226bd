package ftsde

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/internal/privacy/ledger"
	"github.com/fbo-node/fbo/internal/privacy/securesum"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/strategy"
)

// liar is a summer that gives the largest numbers that there are in place of the
// node's vector.
type liar struct {
	summer
	largest int64
}

func (l liar) Contribute(round uint64, vector []int64) ([]strategy.Output, error) {
	for i := range vector {
		vector[i] = l.largest
	}
	return l.summer.Contribute(round, vector)
}

// checkBounded holds a sum against the longest that honest nodes make, noise and
// all.
func checkBounded(t interface {
	Helper()
	Errorf(string, ...any)
}, s Sum, terms ledger.Terms) {
	t.Helper()
	for cell, weights := range s.Weights {
		most := terms.Clip/math.Sqrt(float64(len(s.Weights))) + 4*s.Noise[cell]*math.Sqrt(float64(len(weights)))
		if length := norm(weights); !(length <= most*(1+1e-9)) {
			t.Errorf("cell %d has norm %g, honest ones at most %g", cell, length, most)
		}
		if !(s.Noise[cell] > 0) || math.IsInf(s.Noise[cell], 0) {
			t.Errorf("cell %d has noise %g", cell, s.Noise[cell])
		}
	}
}

// Whatever one contributor gives, the others get a sum that is no longer than honest
// ones, and go on.
func TestAPoisonedSumIsBounded(t *testing.T) {
	definition := newTask(t, setting{features: 4, strategy: "cells: 2, share_every: 1", privacy: "releases: 2, min_contributors: 4"})
	w := newWorld(t, definition)
	w.members[2].exchange.sum = liar{w.members[2].exchange.sum, securesum.MaxSum / 4}
	w.play(2)
	terms := w.members[0].exchange.ledger.Terms
	for _, m := range w.members {
		if len(m.result.Sums) != 2 {
			t.Fatalf("member %d: %s", m.index, m.describe())
		}
		for _, s := range m.result.Sums {
			checkBounded(t, s, terms)
			if norm(s.Weights[0]) < terms.Clip {
				t.Errorf("the liar was not heard at all: norm %g", norm(s.Weights[0]))
			}
		}
	}
	// More than the field can tell apart is refused by the liar's own node.
	w = newWorld(t, definition)
	w.members[2].exchange.sum = liar{w.members[2].exchange.sum, math.MaxInt64}
	w.play(2)
	if m := w.members[2]; len(m.warnings) != 1 || m.exchange.ledger.State().Released != 1 {
		t.Errorf("the liar: %s", m.describe())
	}
}

// crooked is a summer whose every part but that of the first member belongs to other polynomials
// than the checks in its headers, which it signs all the same.
type crooked struct {
	summer
	key        crypto.PrivKey
	index      int // on the roster
	committees func(round uint64) []peer.ID
	threshold  int
}

func (c crooked) Contribute(round uint64, vector []int64) ([]strategy.Output, error) {
	out, err := c.summer.Contribute(round, vector)
	if err != nil {
		return nil, err
	}
	const head, masks, signature = 2 + 32 + 8, 3, 64
	members := c.committees(round)
	checks := head + 32*len(members)
	signed := checks + 8*masks*(c.threshold+1)
	body := signed + signature
	context := func(purpose string, message []byte) []byte {
		return binary.BigEndian.AppendUint64(append([]byte(purpose), message[2:head]...), uint64(c.index))
	}
	var header []byte
	for _, o := range out {
		send, ok := o.(strategy.Send)
		if !ok || send.Data[strategytest.DealKindAt] != strategytest.DealKind {
			continue
		}
		if header == nil {
			header = slices.Clone(send.Data[head:signed])
		}
		rank := slices.Index(members, send.To)
		if rank == 0 {
			continue
		}
		part := send.Data[body:]
		part[len(part)-8*masks-1] ^= 1 // the last number of the vector
		hashed := binary.BigEndian.AppendUint64(context("fbo-securesum-part-1", send.Data), uint64(rank))
		commitment := sha256.Sum256(append(hashed, part...))
		copy(header[32*rank:], commitment[:])
	}
	for _, o := range out {
		if send, ok := o.(strategy.Send); ok && send.Data[strategytest.DealKindAt] == strategytest.DealKind {
			statement := append(context("fbo-securesum-deal-1", send.Data), header...)
			signature, err := c.key.Sign(statement)
			if err != nil {
				return nil, err
			}
			copy(send.Data[head:], append(slices.Clone(header), signature...))
		}
	}
	return out, nil
}

// An insider that deals parts which do not fit together costs the others nothing but its own
// contribution, and all of them name it.
func TestADealerOfWrongPartsIsNamed(t *testing.T) {
	const insider, rounds = 2, 3
	definition := newTask(t, setting{nodes: 6, features: 4, strategy: "share_every: 1", privacy: "releases: 3, min_contributors: 4, committee: 6, max_colluding: 1"})
	w := newWorld(t, definition)
	m := w.members[insider]
	a := definition.Privacy.Aggregate
	m.exchange.sum = crooked{m.exchange.sum, w.keys[insider], insider, func(round uint64) []peer.ID {
		return securesum.Elect(definition.ID(), round, a.Roster, a.Committee)
	}, a.MaxColluding}
	w.play(rounds)
	for _, m := range w.members {
		if m.index == insider {
			continue
		}
		if len(m.result.Sums) != rounds || m.result.Failed > 0 || len(m.warnings) != 1 || !strings.Contains(m.warnings[0], w.members[insider].id.String()) {
			t.Errorf("member %d: %d sums, %s", m.index, len(m.result.Sums), m.describe())
			continue
		}
		for _, s := range m.result.Sums {
			if s.Contributors != 5 {
				t.Errorf("member %d, round %d: %d contributors", m.index, s.Round, s.Contributors)
			}
		}
	}
	if got := w.members[insider].exchange.ledger.State().Released; got != 1 {
		t.Errorf("the insider has given %d times", got)
	}
}

// Whatever numbers a sum has, of whomever: the average is finite, bounded, and can be
// kept.
func TestAveragesAreFinite(t *testing.T) {
	terms := map[int]ledger.Terms{}
	for _, cells := range []int{1, 2, 8} {
		n := newNode(t, newTask(t, setting{nodes: 9, strategy: fmt.Sprintf("cells: %d", cells), privacy: "clip: 1e4"}), 1)
		terms[cells] = n.exchange.ledger.Terms
	}
	rapid.Check(t, func(rt *rapid.T) {
		cells := rapid.SampledFrom([]int{1, 2, 8}).Draw(rt, "cells")
		number := rapid.OneOf(rapid.Int64Range(-securesum.MaxSum, securesum.MaxSum), rapid.SampledFrom([]int64{0, securesum.MaxSum, -securesum.MaxSum}))
		units := rapid.SliceOfN(number, 2*cells, 2*cells).Draw(rt, "units")
		members := rapid.SliceOfN(rapid.IntRange(0, 128), cells, cells).Draw(rt, "members")
		members[0]++
		s := Sum{Round: 1}.average(terms[cells], units, members, Elsewhere(rapid.IntRange(0, 50).Draw(rt, "observations")))
		checkBounded(rt, s, terms[cells])
		var back Sum
		if err := json.Unmarshal(s.encode(), &back); err != nil || fmt.Sprint(back) != fmt.Sprint(s) {
			rt.Fatalf("%v became %v, %v", s, back, err)
		}
	})
}

// regrets plays an optimisation of so many evaluations for each seed and returns how
// far the best of each was from the optimum, which is 1.
func regrets(t testing.TB, s strategy.Strategy, start strategy.View, seeds, evaluations int) (all []float64) {
	t.Helper()
	for seed := range uint64(seeds) {
		view, best := start, math.Inf(-1)
		view.Trials = nil
		for trial := uint64(1); trial <= uint64(evaluations); trial++ {
			got := suggest(t, s, view, trial, random.SeedOf(seed))
			x := view.Task.Space.Encode(got.Design)
			if len(x) != 1 || !(x[0] >= 0 && x[0] <= 1) {
				t.Fatalf("%v is no design of the space", got.Design)
			}
			value := hills(x)
			best = max(best, value)
			observed(t, &view, got.Design, value)
			condition(t, &view)
		}
		all = append(all, 1-best)
	}
	return all
}

// hills has its maximum, which is 1, at 0.83, and a lower one at 0.3.
func hills(x []float64) float64 { return max(0.7*peak(0.3)(x), peak(0.83)(x)) }

// Sums of pure noise and sums that lie, as loudly as they can, cost a node that judges
// them little: over 24 seeds the best of 5 evaluations is on average no worse than alone
// but for 0.05 and two deviations of the difference, which is 0.15 together. That sums are heard at
// all, one that is true shows by what it gains.
func TestPoisonCostsLittle(t *testing.T) {
	const features, seeds, evaluations = 16, 24, 5
	definition := newTask(t, setting{features: features})
	s := newStrategy(t, definition)
	view := strategy.View{Task: definition, Self: definition.Privacy.Aggregate.Roster[0]}
	lone := regrets(t, s, view, seeds, evaluations)
	says := func(f func(x []float64) float64, size, noise float64) Sum {
		weights := s.sumOf(t, 1, func(x []float64) float64 { return size * f(x) }).Weights
		return Sum{Round: 1, Contributors: 4, Observations: 2, Weights: weights, Noise: []float64{noise}}
	}
	elsewhere := func(x []float64) float64 { return peak(0.55)(x) - peak(0.83)(x) }
	for name, sum := range map[string]Sum{
		"true":         says(hills, 1, 0.05),
		"noise":        {Round: 1, Contributors: 4, Observations: 2, Weights: noiseOf(1, features, []float64{0.5}, 1), Noise: []float64{0.5}},
		"lower hill":   says(peak(0.3), 20, 1),
		"far too loud": says(elsewhere, 1e6, 0.05),
	} {
		var cost, square float64
		for i, regret := range regrets(t, s, heard(view, sum), seeds, evaluations) {
			cost += (regret - lone[i]) / seeds
			square += (regret - lone[i]) * (regret - lone[i]) / seeds
		}
		deviation := math.Sqrt((square - cost*cost) / (seeds - 1))
		t.Logf("%s: regret is %+.3f ± %.3f of that alone", name, cost, deviation)
		if cost > 0.05+2*deviation {
			t.Errorf("%s: costs %g ± %g", name, cost, deviation)
		}
		if name == "true" && cost > -2*deviation {
			t.Errorf("a true sum is no gain: %g ± %g", cost, deviation)
		}
	}
}

// By the schedule a poisoned sum is followed as often as a true one; its designs are
// in the space, and a design that was tried is not tried again.
func TestPoisonOnSchedule(t *testing.T) {
	definition := newTask(t, setting{features: 8, parameters: plane + ", " + colours, strategy: "cells: 4, weights: schedule, schedule: constant, own_probability: 0"})
	s := newStrategy(t, definition)
	view := trained(t, definition, definition.Privacy.Aggregate.Roster[0], 3, wave)
	sum := Sum{Round: 1, Contributors: 4, Weights: noiseOf(4, 8, []float64{1e9, 1e-9, 0, 1}, 1), Noise: []float64{1, 1, 1, 1}}
	view = heard(view, sum)
	tried := map[string]bool{}
	for _, trial := range view.Trials {
		tried[trial.Design.Key()] = true
	}
	for trial := uint64(4); trial <= 9; trial++ {
		got := suggest(t, s, view, trial, random.SeedOf(3))
		if back := definition.Space.Decode(definition.Space.Encode(got.Design)); !back.Equal(got.Design) || tried[got.Design.Key()] {
			t.Errorf("trial %d is %v", trial, got)
		}
		tried[got.Design.Key()] = true
		observed(t, &view, got.Design, 0)
	}
}
