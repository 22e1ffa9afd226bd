package designs

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/audit"
	"github.com/fbo-node/fbo/internal/race"
	"github.com/fbo-node/fbo/privacy/place"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/random"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/exchange/presence"
	"github.com/fbo-node/fbo/strategy/exchange/releases"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

func privateTask(t testing.TB, parameters, keys, promise string) *task.Task {
	t.Helper()
	parsed, err := strategy.Set{Register()}.Parse("test", fmt.Appendf(nil,
		"name: test\ngoal: minimize\nparameters: [%s]\nstrategy: {type: constrained-gp, initial_designs: 3%s}\nprivacy: {mechanism: local, %s}\n", parameters, keys, promise))
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func newReleases(t testing.TB, spec *task.Task, entropy *rand.ChaCha8) *releases.Exchange {
	t.Helper()
	e, err := NewReleases(spec, entropy)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// released is what leaves of a vector.
func released(t testing.TB, e *releases.Exchange, vector []float64) protocol.NearOptimal {
	t.Helper()
	for _, output := range e.Step(strategy.View{}, strategy.WorkDone{Result: vector}) {
		if published, ok := output.(strategy.Publish); ok {
			value, err := e.Decode(published.Payload)
			if err != nil {
				t.Fatal(err)
			}
			return value.(protocol.NearOptimal)
		}
	}
	t.Fatal("nothing was released")
	return protocol.NearOptimal{}
}

// What an audit sees are the bytes that leave, of both releases of a task. In two worlds the
// design is at opposite ends, and in the second release at the other one; the audit adds up
// by which end a share is cut, or where it lies between them, and guesses by the sign.
const (
	auditEpsilon = 4
	auditDelta   = 0.005
	auditRuns    = 2500 // in each world
)

func shownBy(t *testing.T, spec *task.Task) float64 {
	t.Helper()
	source := rand.NewChaCha8([32]byte{3})
	var wrong [2]int
	for world := range wrong {
		for range auditRuns {
			e := newReleases(t, spec, source)
			total := 0.0
			for release := range spec.Privacy.Releases {
				end := float64((world + release) % 2)
				told := released(t, e, place.Vector(spec.Space, protocol.Point{Coordinates: []float64{end}})).Point.Coordinates[0] - 0.5
				if release%2 == 1 {
					told = -told
				}
				total += told
			}
			if (total > 0) != (world == 1) {
				wrong[world]++
			}
		}
	}
	return audit.Epsilon(audit.Distance(wrong, auditRuns), auditDelta)
}

// The promise is kept; less noise than is due is found. Of two releases a part is cut off at
// the ends of the range, so that less is shown.
func TestAuditOfWhatLeaves(t *testing.T) {
	race.Skip(t)
	const x = "{name: x, type: float, low: 0, high: 1}"
	for _, c := range []struct {
		promise string
		kept    bool
	}{
		{fmt.Sprintf("epsilon: %d, delta: %g, releases: 1", auditEpsilon, auditDelta), true},
		{fmt.Sprintf("epsilon: %d, delta: %g, releases: 2", auditEpsilon, auditDelta), true},
		{fmt.Sprintf("epsilon: %d, delta: %g, releases: 1, adjacency: zero-out", auditEpsilon, auditDelta), false}, // half the sensitivity
		{fmt.Sprintf("epsilon: 6, delta: %g, releases: 1", auditDelta), false},
	} {
		shown := shownBy(t, privateTask(t, x, "", c.promise))
		t.Logf("%s: ε ≥ %.2f is shown of %d", c.promise, shown, auditEpsilon)
		if (shown <= auditEpsilon) != c.kept {
			t.Errorf("%s: ε ≥ %.2f where %d is promised", c.promise, shown, auditEpsilon)
		}
		if shown < 0.6*auditEpsilon {
			t.Errorf("%s: the audit has no power: ε ≥ %.2f", c.promise, shown)
		}
	}
}

// Releases come as planned, claim no more than the plan says, and end.
func TestReleasesOfDesigns(t *testing.T) {
	spec := privateTask(t, mixed, ", share_every: 4", "epsilon: 20, releases: 2")
	e := newReleases(t, spec, rand.NewChaCha8([32]byte{1}))
	for release := 1; release <= 2; release++ {
		if n := released(t, e, nil); n.Release != release || n.Observations != 2+4*release || n.Bound != nil {
			t.Fatalf("release %d: %+v", release, n)
		}
	}
	if out := e.Step(strategy.View{Observations: 100}, strategy.Told{}); len(out) != 0 {
		t.Errorf("after the last release: %+v", out)
	}
	bound := 1.0
	n := protocol.NearOptimal{Observations: 3, Point: place.Point(spec.Space, make([]float64, spec.Space.Dim()))}
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
	if _, err := NewSharing(open, nil).Decode(payload); !errors.Is(err, protocol.ErrMalformed) {
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
	e := newReleases(t, spec, rand.NewChaCha8([32]byte{1}))
	out := e.Step(view, strategy.CaughtUp{Peer: "b"})
	i := slices.IndexFunc(out, func(o strategy.Output) bool { _, is := o.(strategy.Work); return is })
	if i < 0 {
		t.Fatalf("no release is due: %+v", out)
	}
	got, err := out[i].(strategy.Work).Run(t.Context(), view, random.SeedOf(1))
	if err != nil || !slices.Equal(got.([]float64), place.Vector(spec.Space, want.Point)) {
		t.Errorf("%v, %v; want the design %+v", got, err, want.Point)
	}
}
