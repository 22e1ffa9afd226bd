package fair

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/fbotest"

	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// cheapTask is one whose batches cost little: its process is known, its designs are few.
func cheapTask(t fbotest.TB, n, mediator int) *task.Task {
	var names []string
	for _, key := range keysOf(n) {
		names = append(names, idOf(key).String())
	}
	keys := ""
	if mediator >= 0 {
		keys = ", mediator: " + names[mediator]
	}
	return strategytest.Task(t, strategy.Set{Register()}, `
name: fair
goal: maximize
parameters:
  - {name: x, type: float, low: 0, high: 1, step: 0.125}
  - {name: y, type: float, low: 0, high: 1, step: 0.125}
surrogate: {features: 32, hyperparameters: fixed, lengthscales: [0.4, 0.4], mean: 6, signal_std: 4, noise_std: 0.1}
strategy: {type: fair, initial_designs: 2, round_timeout: 100, roster: [%s]%s}`, strings.Join(names, ", "), keys)
}

// listedTask is a cheaper one still: its designs are a list.
func listedTask(t fbotest.TB, n, mediator int) *task.Task {
	text := string(cheapTask(t, n, mediator).Canonical())
	table := "x,y\n"
	for i := range 36 {
		table += fmt.Sprintf("%g,%g\n", float64(i%6)/8, float64(i/6)/8)
	}
	text = strings.TrimSuffix(text, "}") + `,"designs":{"file":"grid.csv"}}`
	parsed, err := strategy.Set{Register()}.ParseBeside(fstest.MapFS{"grid.csv": {Data: []byte(table)}}, "fair", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// misfortunes draws what happens to a world: loss, slow parties, cuts, and kills with a
// start from the journal.
func misfortunes(t *rapid.T, w *world) {
	n := len(w.members)
	w.loss = rapid.SampledFrom([]float64{0, 0, 0.1, 0.3, 0.5}).Draw(t, "loss")
	for _, m := range w.members {
		m.duration = time.Duration(rapid.IntRange(1, 150).Draw(t, "duration")) * time.Second
	}
	type cut struct {
		from, until time.Duration
		parts       int
	}
	var cuts []cut
	for range rapid.IntRange(0, 2).Draw(t, "cuts") {
		from := rapid.IntRange(0, 200).Draw(t, "from")
		cuts = append(cuts, cut{
			time.Duration(from) * time.Second,
			time.Duration(from+rapid.IntRange(1, 250).Draw(t, "span")) * time.Second,
			rapid.IntRange(1, 1<<n-2).Draw(t, "part"),
		})
	}
	w.cut = func(a, b int) bool {
		for _, c := range cuts {
			if c.from <= w.now && w.now < c.until && c.parts>>a&1 != c.parts>>b&1 {
				return true
			}
		}
		return false
	}
	for range rapid.IntRange(0, 3).Draw(t, "kills") {
		victim := rapid.IntRange(0, n-1).Draw(t, "victim")
		at := rapid.IntRange(0, 250_000).Draw(t, "at")
		w.after(time.Duration(at)*time.Millisecond, func() { w.crash(victim) })
		down := rapid.IntRange(0, 200_000).Draw(t, "down")
		w.after(time.Duration(at+down)*time.Millisecond, func() {
			if !w.members[victim].alive {
				w.boot(victim)
			}
		})
	}
}

// spent reports whether all members are alive and have spent their budgets.
func (w *world) spent() bool {
	return !slices.ContainsFunc(w.members, func(m *member) bool { return !m.alive || m.ended() < m.budget })
}

// Under any loss of messages and any kills, with honest parties: all spend their budgets, no
// evaluation is lost, no party is accused, and no batch has a wrong value. With a mediator there
// are no warnings at all.
func TestHonestPartiesUnderFaults(t *testing.T) {
	checkFaults(t, func(t *testing.T, property func(*rapid.T)) { fbotest.CheckFew(t, 2, property) })
}

// checkFaults checks the property with a mediator and without.
func checkFaults(t *testing.T, check func(*testing.T, func(*rapid.T))) {
	for name, mediator := range ways() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, func(t *rapid.T) {
				n := rapid.IntRange(2, 4).Draw(t, "parties")
				w := newWorld(t, listedTask(t, n, mediator), rapid.IntRange(3, 6).Draw(t, "budget"))
				misfortunes(t, w)
				for i := range w.members {
					w.after(time.Duration(rapid.IntRange(0, 100).Draw(t, "start"))*time.Second, func() {
						if !w.members[i].alive {
							w.boot(i)
						}
					})
				}
				for w.now < 8*time.Minute || w.now < 12*time.Hour && !w.spent() { // what happens, ends before
					w.settle(time.Minute)
				}
				w.settle(3 * time.Minute)
				w.checkBooks()
				for _, m := range w.members {
					if m.ended() != m.budget {
						t.Errorf("member %d has evaluated %d designs of %d", m.index, m.ended(), m.budget)
					}
					for _, warning := range m.warnings {
						if mediator >= 0 || strings.Contains(warning, "do not fit") && !strings.Contains(warning, "deviations") || strings.Contains(warning, "are worth") {
							t.Errorf("member %d warns: %s", m.index, warning)
						}
					}
				}
			})
		})
	}
}

// Without loss and kills no party is skipped and no batch refused, even if parties take very
// different times and are late at any moment.
func TestLateResultsCauseNoWarning(t *testing.T) {
	checkLateResults(t, func(t *testing.T, property func(*rapid.T)) { fbotest.CheckFew(t, 2, property) })
}

// checkLateResults checks the property with a mediator and without.
func checkLateResults(t *testing.T, check func(*testing.T, func(*rapid.T))) {
	for name, mediator := range ways() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, func(t *rapid.T) {
				w := newWorld(t, listedTask(t, rapid.IntRange(2, 4).Draw(t, "parties"), mediator), rapid.IntRange(4, 6).Draw(t, "budget"))
				w.rng = rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "network"), 1))
				for _, m := range w.members {
					m.duration = time.Duration(rapid.IntRange(1000, 250_000).Draw(t, "duration")) * time.Millisecond
				}
				w.bootAll()
				w.play(24 * time.Hour)
				w.settle(time.Minute)
				w.checkBooks()
				w.checkNoWarnings()
			})
		})
	}
}
