package sums

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// TestUnitsAreRobust checks level and scale with an outlier, with ties and without a spread.
func TestUnitsAreRobust(t *testing.T) {
	for name, c := range map[string]struct {
		y     []float64
		level float64
		scale float64 // 0: invalid
	}{
		"an outlier":    {[]float64{1, 2, 3, 4, 1e9}, 3, 1.4826},
		"ties":          {[]float64{5, 5, 5, 9}, 5, 2},
		"constant":      {[]float64{5, 5, 5, 5}, 5, 0},
		"too few":       {[]float64{1, 2}, 0, 0},
		"huge":          {[]float64{-1e308, 0, 1e308}, 0, 1.4826e308},
		"huge and tied": {[]float64{0, 0, 0, 1e308}, 0, 0},
	} {
		u := unitsOf(c.y)
		if valid := u.valid(); valid != (c.scale > 0) || valid && (u.Level != c.level || math.Abs(u.Scale/c.scale-1) > 1e-9) {
			t.Errorf("%s: %+v, expected level %g, scale %g", name, u, c.level, c.scale)
		}
	}
}

// TestVectorsAreWithinTheirBound draws outcomes of any size. A vector is the rounded sum of clipped
// numbers, and no number exceeds the bound that receivers check.
func TestVectorsAreWithinTheirBound(t *testing.T) {
	w := newWorld(t, 5, "")
	definition := strategytest.Task(t, strategy.Set{register()}, `
name: summed
goal: minimize
parameters: [{name: x, type: float, low: 0, high: 1}, {name: c, type: categorical, choices: [a, b]}]
surrogate: {features: 8}
strategy: {type: summing, share: sum, share_every: 3, roster: [%s]}`, fbotest.Roster(t, 5))
	statistic, err := NewStatistic(definition)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		if _, err := NewExchange(strategy.Env{Task: definition, Key: w.keys[0]}, statistic); err == nil {
			t.Fatal("an exchange without a source of random bytes")
		}
		e, err := NewExchange(strategy.Env{Task: definition, Key: w.keys[0], Entropy: zeros{}}, statistic)
		if err != nil {
			t.Fatal(err)
		}
		view := strategy.View{Task: definition}
		for i, y := range rapid.SliceOfN(rapid.Float64Range(-1e300, 1e300), 3, 9).Draw(t, "y") {
			x := []float64{rapid.Float64Range(0, 1).Draw(t, "x"), 1, 0}
			view.Trials = append(view.Trials, strategy.Trial{ID: uint64(i + 1), State: strategy.Done, Design: definition.Space.Decode(x), Outcome: &strategy.Outcome{Value: y}})
		}
		exchange := e.(*Exchange)
		if exchange.available(view) == 0 {
			return
		}
		b := exchange.next(view)
		if !slices.Equal(b.trials, []uint64{1, 2, 3}) || len(b.vector) != statistic.Numbers() {
			t.Fatalf("trials %v, %d numbers", b.trials, len(b.vector))
		}
		limit := maxUnits(statistic, 3)
		for i, v := range b.vector {
			if v > limit || v < -limit {
				t.Fatalf("number %d is %d, the bound is %d", i, v, limit)
			}
		}
	})
}

// TestBoundsFitTheField checks that the largest contributions of the largest roster can be added up.
func TestBoundsFitTheField(t *testing.T) {
	if limit := maxUnits(largest{}, strategy.MaxShareEvery); limit > (1<<60)/1024 {
		t.Errorf("a number may be %d, and the sum of 1024 of them would exceed the field", limit)
	}
}

type largest struct{ Statistic }

func (largest) Limit() float64 { return MaxLimit }

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// FuzzDecodeState checks that a state that can be decoded has one encoding.
func FuzzDecodeState(f *testing.F) {
	for _, s := range []State{{}, {1, 1, true}, {3, 900, false}, {MaxRounds, MaxRounds, true}} {
		f.Add(s.Encode())
	}
	f.Add([]byte{0x81, 0, 1, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := DecodeState(data)
		if err == nil && !slices.Equal(s.Encode(), data) {
			t.Errorf("%+v has two encodings, %x and %x", s, data, s.Encode())
		}
	})
}

// FuzzDecodeTotal checks the same for sums that members send on request.
func FuzzDecodeTotal(f *testing.F) {
	f.Add(total{Round: 1, Contributors: []int{0, 2, 8}, Vector: []int64{-5, 7}}.encode(9))
	f.Add([]byte{1, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, data []byte) {
		sum, ok := decodeTotal(data, 9, 2)
		if ok && !slices.Equal(sum.encode(9), data) {
			t.Errorf("%+v has two encodings", sum)
		}
	})
}

// FuzzMessagesAndRecords feeds an exchange with messages, records and states of others. It must not
// panic, and must not contribute without a round.
func FuzzMessagesAndRecords(f *testing.F) {
	w := newWorld(f, 5, "")
	w.observe(4, w.all()...)
	w.tick(longest)
	for _, data := range w.members[0].journal {
		f.Add(data, true)
	}
	for _, data := range w.members[1].deals {
		f.Add(append([]byte{ofRound}, data...), false)
	}
	f.Add([]byte("q\x02\x01\x02"), false)
	f.Add(append([]byte("t"), total{Round: 1, Contributors: []int{0, 1, 2, 3}, Vector: make([]int64, 5*trialsEach)}.encode(5)...), false)
	f.Fuzz(func(t *testing.T, data []byte, journal bool) {
		e, err := NewExchange(strategy.Env{Task: w.task, Key: w.keys[0], Entropy: zeros{}}, histogram{w.task.Space, 5 * trialsEach})
		if err != nil {
			t.Fatal(err)
		}
		view := w.view(w.members[0])
		view.Shares, view.Results = nil, nil
		if journal {
			e.Step(view, strategy.Replayed{Data: data})
		}
		outputs := e.Step(view, strategy.Start{})
		if !journal {
			outputs = append(outputs, e.Step(view, strategy.Direct{From: w.members[1].id, Data: data})...)
		}
		for _, output := range outputs {
			if r, ok := output.(strategy.Record); ok && r.Data[0] == ofDealt {
				t.Error("a contribution without present peers")
			}
		}
	})
}

var _ task.StrategySettings = Settings{}
