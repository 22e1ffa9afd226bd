package agent

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// counting counts the most observations that a model has learned from.
type counting struct {
	surrogate.Model
	most atomic.Int64
}

func (c *counting) Fit(ctx context.Context, obs surrogate.Observations, previous *surrogate.Hyperparameters, rng *rand.Rand) (surrogate.Hyperparameters, error) {
	c.most.Store(max(c.most.Load(), int64(len(obs.Y))))
	return c.Model.Fit(ctx, obs, previous, rng)
}

func (c *counting) Condition(obs surrogate.Observations, h surrogate.Hyperparameters, previous surrogate.Posterior) (surrogate.Posterior, error) {
	c.most.Store(max(c.most.Load(), int64(len(obs.Y))))
	return c.Model.Condition(obs, h, previous)
}

// TestCostIsBounded: with thousands of results and a peer, neither the model nor the experts
// build a matrix of all results.
func TestCostIsBounded(t *testing.T) {
	const results, most = 3000, 24
	for _, share := range []string{"coarse", "exact"} {
		spec := bowlTask(t, share)
		counter := &counting{Model: bowlModel(t, spec)}
		d := bowlDrivers(t, spec, counter, []int{results, 20}, most)[0]
		suggestOnce(t, d) // which also computes what the task alone determines
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		suggestOnce(t, d)
		runtime.ReadMemStats(&after)
		if got := counter.most.Load(); got == 0 || got > most {
			t.Errorf("%s: the model learned from %d observations, want 1 to %d", share, got, most)
		}
		if bytes, limit := after.TotalAlloc-before.TotalAlloc, uint64(results*results*8/2); bytes > limit {
			t.Errorf("%s: %d bytes allocated, want at most half of a matrix of all results, %d", share, bytes, limit)
		}
		trials := d.agent.Trials()
		if first, second := trials[results].Why, trials[results+1].Why; first.PeerCount+second.PeerCount == 0 {
			t.Errorf("%s: no design rests on a peer: %v, %v", share, first, second)
		}
		if got := d.agent.view(d.now).Observations; got != results+2 {
			t.Errorf("%s: %d observations, want %d", share, got, results+2)
		}
	}
}

// TestChoiceSurvivesRestart: a restarted agent suggests what it would have suggested.
func TestChoiceSurvivesRestart(t *testing.T) {
	spec := bowlTask(t, "exact")
	model := bowlModel(t, spec)
	d := bowlDrivers(t, spec, model, []int{150}, 40)[0]
	suggestOnce(t, d)
	want := d.ask()
	again := bowlDrivers(t, spec, model, []int{150}, 40)[0]
	suggestOnce(t, again)
	again.start()
	if got := again.ask(); got.Design.Key() != want.Design.Key() {
		t.Errorf("after a restart the agent suggests %s, want %s", got.Design.Key(), want.Design.Key())
	}
	if most := again.cfg.MaxObservations; most != 40 || len(strategy.Modelled(again.cfg.Task, again.agent.Trials(), "", most)) > most {
		t.Errorf("the agent models by at most %d, want 40", most)
	}
}

// TestLearnedStatesTheModel covers what status states: the number of results before and beyond the
// limit, and of random features all.
func TestLearnedStatesTheModel(t *testing.T) {
	spec := bowlTask(t, "coarse")
	model := bowlModel(t, spec)
	for results, want := range map[int]string{
		0:  "<nil>",
		12: "exact, all 12 results",
		99: "exact, 21 of 99 results: the best, the newest and others across the space, at most 24",
	} {
		d := bowlDrivers(t, spec, model, []int{results}, 24)[0]
		if got := fmt.Sprint(d.agent.Learned()); got != want {
			t.Errorf("%d results: %s, want %s", results, got, want)
		}
	}
	diverged := Learned{Surrogate: "rff", Observations: 990, Available: 1000, Diverged: 10}
	if got, want := diverged.String(), "rff, 990 of 1000 results, without 10 that diverged"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	cfg := configOf(t, spec, 1)
	cfg.MaxObservations = 19
	if _, err := New(cfg, nil, epochStart); err == nil || !strings.Contains(err.Error(), "expected 20 or more") {
		t.Errorf("a limit of 19: %v", err)
	}
}

func bowlTask(t testing.TB, share string) *task.Task {
	t.Helper()
	spec, err := all.Strategies().Parse("bowls", fmt.Appendf(nil, `
name: bowls
goal: minimize
parameters:
  - {name: a, type: float, low: 0, high: 1}
  - {name: b, type: float, low: 0, high: 1}
  - {name: c, type: float, low: 0, high: 1}
  - {name: d, type: float, low: 0, high: 1}
  - {name: e, type: float, low: 0, high: 1}
  - {name: f, type: float, low: 0, high: 1}
strategy: {type: peer-prior, share: %s}`, share))
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

func bowlModel(t testing.TB, spec *task.Task) surrogate.Model {
	t.Helper()
	model, err := surrogate.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	return model
}

// bowlDrivers are agents with so many results each, a tenth of them near the optimum, that
// have received what the others share.
func bowlDrivers(t testing.TB, spec *task.Task, model surrogate.Model, results []int, most int) (drivers []*driver) {
	t.Helper()
	for i, count := range results {
		cfg := configOf(t, spec, byte(i+1))
		cfg.MaxObservations, cfg.Model = most, model
		d := newDriver(t, cfg)
		if _, err := d.agent.Import(d.now, pastBowls(spec, random.SeedOf(uint64(i)), count)); err != nil {
			t.Fatal(err)
		}
		d.carryOut()
		drivers = append(drivers, d)
	}
	exchange(drivers...)
	return drivers
}

func pastBowls(spec *task.Task, seed random.Seed, count int) (past []Past) {
	rng := seed.Stream("past", 0)
	for i := range count {
		x := make([]float64, spec.Space.Dim())
		for k := range x {
			x[k] = rng.Float64()
			if i%10 == 0 {
				x[k] = 0.3 + 0.1*x[k]
			}
		}
		design := spec.Space.Decode(x)
		past = append(past, Past{Design: design, Outcome: strategy.Outcome{Value: smoothBowl(design)}})
	}
	return past
}

func smoothBowl(d task.Design) (value float64) {
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		x := d.Float(name) - 0.35
		value += x*x + 0.05*math.Sin(20*x)*math.Sin(20*x)
	}
	return value
}

func suggestOnce(t testing.TB, d *driver) {
	trial := d.ask()
	if err := d.agent.Tell(d.now, trial.ID, strategy.Outcome{Value: smoothBowl(trial.Design)}); err != nil {
		t.Fatal(err)
	}
	d.carryOut()
}
