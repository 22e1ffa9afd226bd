package constrainedgp

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/internal/privacy/designvector"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

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
	checkAudit(t, 200, 0.3, map[string]bool{"epsilon: 4, releases: 1": true, "epsilon: 4, releases: 1, adjacency: zero-out": false})
}

// checkAudit audits the published bytes of all releases of a task. In the two worlds the design is
// at opposite ends, and in the second release at the other one. The attacker adds up the signed
// distances from the middle, and guesses by the sign. The keys of privacy map to whether they keep
// the guarantee.
func checkAudit(t *testing.T, runs int, power float64, kept map[string]bool) {
	strategytest.CheckAudit(t, Register(), "{name: x, type: float, low: 0, high: 1}", runs, power, kept, func(spec *task.Task, e strategy.Exchange, world int) int {
		total := 0.0
		for release := range spec.Privacy.Releases {
			end := float64((world + release) % 2)
			signed := strategytest.Released[protocol.NearOptimal](t, e, designvector.Vector(spec.Space, protocol.Point{Coordinates: []float64{end}})).Point.Coordinates[0] - 0.5
			if release%2 == 1 {
				signed = -signed
			}
			total += signed
		}
		if total > 0 {
			return 1
		}
		return 0
	})
}

// Releases come as planned, claim no more than the plan says, and end.
func TestReleasesOfDesigns(t *testing.T) {
	spec := privateTask(t, mixed, ", share_every: 4", "epsilon: 20, releases: 2")
	e := mustRelease(t, spec, rand.NewChaCha8([32]byte{1}))
	for release := 1; release <= 2; release++ {
		if n := strategytest.Released[protocol.NearOptimal](t, e, nil); n.Release != release || n.Observations != 2+4*release || n.Bound != nil {
			t.Fatalf("release %d: %+v", release, n)
		}
	}
	if out := e.Step(strategy.View{Observations: 100}, strategy.TrialsEnded{}); len(out) != 0 {
		t.Errorf("after the last release: %+v", out)
	}
	bound := 1.0
	n := protocol.NearOptimal{Observations: 3, Point: designvector.Point(spec.Space, make([]float64, spec.Space.Dim()))}
	for name, wrong := range map[string]protocol.NearOptimal{
		"no release":         n,
		"a release too many": {Observations: 3, Point: n.Point, Release: 3},
		"a bound":            {Observations: 3, Point: n.Point, Release: 1, Bound: &bound},
	} {
		payload, err := wrong.Encode(spec.Space)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Decode(payload); !errors.Is(err, protocol.ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	n.Release = 1
	payload, err := n.Encode(spec.Space)
	if err != nil {
		t.Fatal(err)
	}
	open := newLab(t, "minimize", mixed, "exact", none).task
	if _, err := newSharing(open, nil).Decode(payload); !errors.Is(err, protocol.ErrMalformed) {
		t.Errorf("a private release on a task without a promise: %v", err)
	}
}

// The design that is released is the one that would be shared without a promise.
func TestReleasedVectorIsTheSharedDesign(t *testing.T) {
	l := newLab(t, "maximize", plane, "exact", none)
	view := l.view(l.designs(6, 1), func(x []float64) float64 { return -(x[0]-0.7)*(x[0]-0.7) - (x[1]-0.3)*(x[1]-0.3) })
	spec := privateTask(t, plane, "", "epsilon: 4")
	want, ok, err := nearOptimal(t.Context(), spec, search.New(spec), view, random.SeedOf(1))
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	view.Results = map[string]any{presence.Kind: presence.Result{Present: []peer.ID{"b", "me"}, Agreed: true}}
	e := mustRelease(t, spec, rand.NewChaCha8([32]byte{1}))
	if got, want := strategytest.DueVector(t, e, view)(view), designvector.Vector(spec.Space, want.Point); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
