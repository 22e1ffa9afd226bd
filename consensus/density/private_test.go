package density

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/internal/privacy/designvector"
	"github.com/fbo-node/fbo/internal/privacy/ledger"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

const boolean = "{name: b, type: bool}"

func privateTask(t testing.TB, parameters, keys, promise string) *task.Task {
	t.Helper()
	return strategytest.PrivateTask(t, Register(), parameters, "initial_designs: 3"+keys, promise)
}

func mustRelease(t testing.TB, spec *task.Task, entropy *rand.ChaCha8) strategy.Exchange {
	t.Helper()
	return strategytest.PrivateExchange(t, Register(), spec, entropy)
}

// 200 runs find half of the due noise, or less, in each of 4,000 simulated audits, and two thirds
// of it in 47 %.
func TestAuditOfReleases(t *testing.T) {
	checkAudit(t, 200, 0.3, line, map[string]bool{"epsilon: 4, releases: 1": true, "epsilon: 4, releases: 1, adjacency: zero-out": false})
}

// checkAudit audits the published bytes. In the two worlds the optimum is at opposite ends of the
// space, and the attacker guesses the end that is nearer to the share. For a single number no test
// is better, also for a clipped one. The keys of privacy map to whether they keep the guarantee.
func checkAudit(t *testing.T, runs int, power float64, parameters string, kept map[string]bool) {
	strategytest.CheckAudit(t, Register(), parameters, runs, power, kept, func(spec *task.Task, e strategy.Exchange, world int) int {
		ends := [2]protocol.Point{{Coordinates: []float64{0}}, {Coordinates: []float64{1}}}
		if len(spec.Space.Blocks()) == 1 && spec.Space.Blocks()[0].Kind == task.Categorical {
			ends = [2]protocol.Point{{Choices: []int{0}}, {Choices: []int{1}}}
		}
		centre := strategytest.Released[protocol.Density](t, e, designvector.Vector(spec.Space, ends[world])).Components[0].Center
		if len(centre.Choices) > 0 && centre.Choices[0] == 1 || len(centre.Coordinates) > 0 && centre.Coordinates[0] > 0.5 {
			return 1
		}
		return 0
	})
}

// What is told is as wide as the noise and the task's spread together, and receivers take
// nothing else.
func TestWidthOfReleases(t *testing.T) {
	spec := privateTask(t, mixed, ", share_every: 4", "epsilon: 20, releases: 3")
	e := mustRelease(t, spec, rand.NewChaCha8([32]byte{1}))
	const runs = 3
	for release := 1; release <= runs; release++ {
		d := strategytest.Released[protocol.Density](t, e, nil)
		if d.Release != release || d.Observations != 2+4*release || len(d.Components) != 1 {
			t.Fatalf("release %d: %+v", release, d)
		}
	}
	if out := e.Step(strategy.View{Observations: 100}, strategy.TrialsEnded{}); len(out) != 0 {
		t.Errorf("after the last release: %+v", out)
	}
	terms, err := ledger.NewTerms(spec)
	if err != nil {
		t.Fatal(err)
	}
	d := strategytest.Released[protocol.Density](t, mustRelease(t, spec, rand.NewChaCha8([32]byte{2})), nil)
	if want := math.Hypot(0.2, terms.Sigma); math.Abs(d.Components[0].Std/want-1) > 1e-6 {
		t.Errorf("a spread of %g with noise of %g", d.Components[0].Std, terms.Sigma)
	}
	for name, change := range map[string]func(*protocol.Density){
		"a narrow one":       func(d *protocol.Density) { d.Components[0].Std = 0.2 },
		"no release":         func(d *protocol.Density) { d.Release = 0 },
		"a release too many": func(d *protocol.Density) { d.Release = 4 },
		"two": func(d *protocol.Density) {
			half := d.Components[0]
			half.Weight = 0.5
			d.Components = []protocol.Component{half, half}
		},
	} {
		wrong := d
		wrong.Components = append([]protocol.Component{}, d.Components...)
		change(&wrong)
		payload, err := wrong.Encode(spec.Space)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := e.Decode(payload); !errors.Is(err, protocol.ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	open := newTask(t, mixed, "exact", "")
	payload, err := d.Encode(open.Space)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newSharing(open).Decode(payload); !errors.Is(err, protocol.ErrMalformed) {
		t.Errorf("a private release on a task without a promise: %v", err)
	}
}

// The spread that a share claims is what the noise comes to.
func TestSpreadIsThatOfTheNoise(t *testing.T) {
	spec := privateTask(t, line, ", spread: 0.001", "epsilon: 100, releases: 1")
	source := rand.NewChaCha8([32]byte{5})
	square, claimed := 0.0, 0.0
	const runs = 2000
	for range runs {
		c := strategytest.Released[protocol.Density](t, mustRelease(t, spec, source), nil).Components[0]
		claimed = c.Std
		square += (c.Center.Coordinates[0] - 0.5) * (c.Center.Coordinates[0] - 0.5) / runs
	}
	if got := math.Sqrt(square); math.Abs(got/claimed-1) > 5/math.Sqrt(2*runs) {
		t.Errorf("a deviation of %g, claimed is %g", got, claimed)
	}
}

// The place that is released is the one that would be shared without a promise.
func TestReleasedVectorIsTheBelievedPlace(t *testing.T) {
	spec := privateTask(t, plane, "", "epsilon: 4")
	view := viewOf(t, spec, [][]float64{{0.1, 0.1}, {0.7, 0.3}, {0.9, 0.9}}, func(x []float64) float64 { return math.Hypot(x[0]-0.7, x[1]-0.3) })
	e := mustRelease(t, spec, rand.NewChaCha8([32]byte{1}))
	want, err := sampleOptimum(t.Context(), spec, view, random.SeedOf(1))
	if err != nil {
		t.Fatal(err)
	}
	view.Results = map[string]any{presence.Kind: presence.Result{Present: []peer.ID{"b", "me"}, Agreed: true}}
	vector := strategytest.DueVector(t, e, view)
	if got, want := vector(view), designvector.Vector(spec.Space, want.Components[0].Center); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	blind := view
	blind.Posterior = nil
	if got := vector(blind); got != nil {
		t.Errorf("without a model: %v", got)
	}
}
