package density

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"
	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/exchange/feasibility"
	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/internal/optprior/pooling"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/internal/surrogate/gp"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/alone"
	"github.com/fbo-node/fbo/task"
)

// parse reads a task with these sections beside the name, goal and parameters.
func parse(parameters, rest string) (*task.Task, error) {
	return strategy.Set{Register()}.Parse("test", fmt.Appendf(nil,
		"name: test\ngoal: minimize\nparameters: [%s]\n%s\n", parameters, rest))
}

// sharingLabels is a task whose agents share labels of what is to be true.
func sharingLabels(t testing.TB, parameters, keys string) *task.Task {
	t.Helper()
	spec, err := parse(parameters, "constraints: [{name: ok, type: bool}]\nstrategy: {type: density, share: feasibility, initial_designs: 3"+keys+"}")
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// measured adds to a view what is measured of the constraint, and its model.
func measured(t testing.TB, spec *task.Task, view strategy.View, feasible func(x []float64) bool) strategy.View {
	t.Helper()
	var obs surrogate.Observations
	for i := range view.Trials {
		trial := &view.Trials[i]
		x := spec.Space.Encode(trial.Design)
		trial.Outcome.Constraints = map[string]task.Reading{"ok": task.Truth(feasible(x))}
		value, _ := trial.Measured("ok")
		obs.X, obs.Y = append(obs.X, x), append(obs.Y, value)
	}
	if len(obs.X) > 0 {
		view.Constraints = []*surrogate.Constraint{modelOf(t, spec, "ok", obs)}
	}
	return view
}

func modelOf(t testing.TB, spec *task.Task, output task.Output, obs surrogate.Observations) *surrogate.Constraint {
	t.Helper()
	model, err := surrogate.NewConstraint(spec, task.TruthOf(output))
	if err != nil {
		t.Fatal(err)
	}
	p, err := model.Condition(obs, surrogate.OfProcess(gp.PriorMode(surrogate.ProcessSpec(spec))), nil)
	if err != nil {
		t.Fatal(err)
	}
	return p.(*surrogate.Constraint)
}

func never([]float64) bool { return false }

// saying is a share of labels after its journey.
func saying(t testing.TB, spec *task.Task, author string, f protocol.Feasibility) *strategy.Share {
	t.Helper()
	payload, err := f.Encode(spec.Space)
	if err != nil {
		t.Fatal(err)
	}
	value, err := feasibility.NewSharing(spec).Decode(payload)
	if err != nil {
		t.Fatal(err)
	}
	return &strategy.Share{Share: protocol.Share{Key: protocol.Key{Author: peer.ID(author), Kind: protocol.FeasibilityKind}}, Value: value}
}

// labelsOf are those of a peer that has tried these encoded designs.
func labelsOf(spec *task.Task, x [][]float64, feasible func(x []float64) bool) protocol.Feasibility {
	f := protocol.Feasibility{Observations: len(x)}
	for _, one := range x {
		design := spec.Space.Decode(one)
		f.Labels = append(f.Labels, protocol.Label{Point: protocol.PointOf(spec.Space, design), Feasible: feasible(spec.Space.Encode(design))})
	}
	return f
}

// randomLabels may be anything that a peer can send: some designs many times, with labels
// that contradict each other.
func randomLabels(spec *task.Task, rng *rand.Rand) protocol.Feasibility {
	x := designs(spec, 1+rng.IntN(protocol.MaxLabels), rng)
	if rng.IntN(2) == 0 {
		for i := range x {
			x[i] = x[rng.IntN(1+i/4)]
		}
	}
	part := rng.Float64()
	return labelsOf(spec, x, func([]float64) bool { return rng.Float64() < part })
}

// learnedOf are the densities of labels.
func learnedOf(t interface{ Fatal(...any) }, spec *task.Task, all ...protocol.Feasibility) (found []acquisition.Function) {
	var view strategy.View
	for _, f := range all {
		view.Shares = append(view.Shares, &strategy.Share{Value: f})
	}
	view.Task = spec
	for _, p := range feasibility.Of(view) {
		l, err := learn(spec, p, uniform(spec))
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, l)
	}
	return found
}

func TestSettingsOfTheShare(t *testing.T) {
	const ok = "constraints: [{name: ok, type: bool}]\n"
	for strategyKeys, want := range map[string]map[string]any{
		"{type: density, share: best}":                 {"beta": 5.0, "components": 1, "spread": 0.2},
		"{type: density}":                              {"beta": 5.0, "components": 1, "spread": 0.2},
		"{type: density, share: feasibility, beta: 2}": {"beta": 2.0, "share": "feasibility"},
	} {
		spec, err := parse(line, ok+"strategy: "+strategyKeys)
		if err != nil {
			t.Fatal(err)
		}
		if got := spec.Strategy.Settings.Keys(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v", strategyKeys, got)
		}
		again, err := strategy.Set{Register()}.ParseCanonical("again", spec.Canonical())
		if err != nil || again.ID() != spec.ID() {
			t.Errorf("%s: the canonical form is another task: %v", strategyKeys, err)
		}
	}
	if _, err := parse(line, "failures: constraint\nstrategy: {type: density, share: feasibility}"); err != nil {
		t.Errorf("failures alone: %v", err)
	}
	for rest, want := range map[string]string{
		"strategy: {type: density, share: feasibility}":                     "test:4:34: strategy: share feasibility applies only to tasks with constraints, or with failures: constraint; expected best",
		ok + "strategy: {type: density, share: all}":                        "strategy: share must be one of " + strategytest.ShareValues(Register()) + ", not the text \"all\"",
		ok + "strategy: {type: density, share: feasibility, components: 2}": "strategy: components applies only with share: best",
		ok + "strategy: {type: density, share: feasibility, spread: 0.2}":   "strategy: spread applies only with share: best or coarse",
		ok + "strategy: {type: density, share: feasibility, rounds: 1}":     "unknown key \"rounds\"; accepted: type, beta, pooling, share, initial_designs",
	} {
		if _, err := parse(line, rest); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", rest, err, want)
		}
	}
}

// With nothing to hear every trial is the one of LogEI, before a feasible design is known
// and after.
func TestWithoutLabelsItIsLogEI(t *testing.T) {
	for _, parameters := range []string{plane, mixed} {
		spec := sharingLabels(t, parameters, "")
		f := bowl(spec, 0.3)
		for name, feasible := range map[string]func(x []float64) bool{"never": never, "half": func(x []float64) bool { return x[0] < 0.5 }} {
			var x [][]float64
			for id := uint64(1); id <= 8; id++ {
				view := measured(t, spec, viewOf(t, spec, x, f), feasible)
				got, want := suggest(t, New(spec), view, id, random.SeedOf(2)), suggest(t, alone.NewLogEI(spec).WithoutCentre(), view, id, random.SeedOf(2))
				if !reflect.DeepEqual(got, want) {
					t.Fatalf("%s, trial %d: %+v, alone %+v", name, id, got, want)
				}
				x = append(x, spec.Space.Encode(got.Design))
			}
		}
	}
}

// A density averages 1: over other designs than those that it was averaged over, to within
// four standard errors of the two averages of 256 and 4096.
func TestLearnedDensitiesAverageOne(t *testing.T) {
	for _, parameters := range []string{plane, mixed, small} {
		spec := sharingLabels(t, parameters, "")
		rng := random.SeedOf(3).Stream("labels", 0)
		for range 5 {
			l := learnedOf(t, spec, randomLabels(spec, rng))[0]
			sum, squares, n := 0.0, 0.0, 4096.0
			for range int(n) {
				v := math.Exp(l.Value(acquisition.Sample(spec.Space, rng)))
				sum, squares = sum+v/n, squares+v*v/n
			}
			deviation := math.Sqrt(max(squares-sum*sum, 0))
			if most := 4*deviation*math.Sqrt(1/n+1.0/averaged) + 1e-9; math.Abs(sum-1) > most {
				t.Errorf("%s: on average %g, expected 1 ± %g", parameters, sum, most)
			}
		}
	}
}

func TestGradientOfLearnedDensities(t *testing.T) {
	spec := sharingLabels(t, mixed, "")
	rng := random.SeedOf(4).Stream("gradient", 0)
	for range 20 {
		all := learnedOf(t, spec, randomLabels(spec, rng), randomLabels(spec, rng))
		d := randomDensity(spec, rng)
		for i := range d.Components {
			d.Components[i].Std = max(d.Components[i].Std, 0.05)
		}
		p := pooling.New(append(all, mixtureOf(spec, d)), pooling.Even(), 0.7)
		x := acquisition.Sample(spec.Space, rng)
		grad := slices.Repeat([]float64{17}, len(x)) // what was there before does not count
		if value := p.Gradient(grad, x); math.Abs(value-p.Value(x)) > 1e-9 {
			t.Fatalf("%g with the gradient, %g without", value, p.Value(x))
		}
		fbotest.CheckGradient(t, grad, x, p.Value, 1e-4)
	}
}

// Whatever labels a peer sends, its density has the bounds of package pooling.
func TestInfluenceOfLabelsIsBounded(t *testing.T) {
	spec := sharingLabels(t, mixed, "")
	rapid.Check(t, func(rt *rapid.T) {
		rng := random.SeedOf(rapid.Uint64().Draw(rt, "seed")).Stream("labels", 0)
		labels := randomLabels(spec, rng)
		x := acquisition.Sample(spec.Space, rng)
		if rapid.Bool().Draw(rt, "at a design") {
			x = labels.Labels[0].Point.Encoded(spec.Space)
		}
		p := pooling.New(learnedOf(rt, spec, labels), pooling.Only(pooling.Product), 1)
		if got := p.Value(x); !(got >= math.Log(pooling.UniformShare) && got <= math.Log(pooling.Ceiling)) {
			rt.Fatalf("ln π̂ = %g, expected a value between %g and %g", got, math.Log(pooling.UniformShare), math.Log(pooling.Ceiling))
		}
	})
}

// Who knows the half that is feasible leads there, who knows where nothing is leads away.
func TestFeasibilityLabelsMoveSuggestions(t *testing.T) {
	spec := sharingLabels(t, plane, "")
	feasible := func(x []float64) bool { return x[0] > 0.7 }
	p := pooling.New(learnedOf(t, spec, labelsOf(spec, designs(spec, 40, random.SeedOf(5).Stream("designs", 0)), feasible)), pooling.Only(pooling.Geometric), 1)
	if in, out := p.Value([]float64{0.9, 0.5}), p.Value([]float64{0.2, 0.5}); !(in > math.Log(1.5) && out < math.Log(0.5)) {
		t.Errorf("ln π̂ is %g where designs are feasible and %g where not", in, out)
	}
	seen := [][]float64{{0.1, 0.1}, {0.2, 0.2}, {0.1, 0.3}}
	p = pooling.New(learnedOf(t, spec, labelsOf(spec, seen, never)), pooling.Only(pooling.Geometric), 1)
	if near, far := p.Value([]float64{0.15, 0.2}), p.Value([]float64{0.9, 0.8}); !(near < 0 && far > 0) {
		t.Errorf("ln π̂ is %g where nothing is feasible and %g far from there", near, far)
	}
}

// Peers that know no feasible design count while nobody knows one, and for an agent that
// has never seen the truth not even then.
func TestWhichPeersCount(t *testing.T) {
	spec := sharingLabels(t, plane, "")
	x := designs(spec, 8, random.SeedOf(6).Stream("designs", 0))
	right := func(x []float64) bool { return x[0] > 0.5 }
	none, some := labelsOf(spec, x, never), labelsOf(spec, x, right)
	if !slices.ContainsFunc(x, right) {
		t.Fatal("no design is feasible: the test tests nothing")
	}
	for _, c := range []struct {
		own          func(x []float64) bool
		peers        []protocol.Feasibility
		want         int
		observations int
	}{
		{right, []protocol.Feasibility{none, none}, 2, 16},
		{right, []protocol.Feasibility{none, some, none}, 1, 8},
		{right, []protocol.Feasibility{some, some}, 2, 16},
		{never, []protocol.Feasibility{none, none}, 0, 0},
		{never, []protocol.Feasibility{none, some}, 1, 8},
	} {
		view := measured(t, spec, viewOf(t, spec, x[:5], bowl(spec, 0.3)), c.own)
		for i, f := range c.peers {
			view.Shares = append(view.Shares, saying(t, spec, fmt.Sprint("peer", i), f))
		}
		received, why := New(spec).listen(view, 6, random.SeedOf(1))
		if len(received.densities) != c.want || why.PeerCount != c.want || why.Observations != c.observations {
			t.Errorf("%d of %d peers: %+v; want %d", len(received.densities), len(c.peers), why, c.want)
		}
	}
	var many []*strategy.Share
	for i := range 3 * maxPeers {
		many = append(many, saying(t, spec, fmt.Sprint("peer", i), some))
	}
	view := strategy.View{Task: spec, Shares: many}
	if received := labelled(view, 1, random.SeedOf(1)); len(received) != maxPeers {
		t.Errorf("the strategy uses %d peers", len(received))
	}
}

// An agent that has never seen the truth follows its peers with every second design, and
// searches at random with the others, however many there have been: of 40 designs 10 to 30
// follow (one seed in 800 is outside), all of them to the half where designs are feasible.
func TestBlindAgentsFollowEverySecondTime(t *testing.T) {
	for _, failing := range []bool{false, true} {
		spec := sharingLabels(t, plane, "")
		output := task.Output("ok")
		x := designs(spec, 12, random.SeedOf(7).Stream("designs", 0))
		view := measured(t, spec, viewOf(t, spec, x, bowl(spec, 0.3)), never)
		if failing { // nothing has an outcome, so that nothing is known of the objective
			var err error
			if spec, err = parse(plane, "failures: constraint\nstrategy: {type: density, share: feasibility, initial_designs: 3}"); err != nil {
				t.Fatal(err)
			}
			output = task.Completion
			view = strategy.View{Task: spec}
			for i := range x {
				view.Trials = append(view.Trials, strategy.Trial{ID: uint64(i + 1), Design: spec.Space.Decode(x[i]), State: strategy.Failed})
			}
			view.Constraints = []*surrogate.Constraint{modelOf(t, spec, output, surrogate.Observations{X: x, Y: make([]float64, len(x))})}
		}
		known := labelsOf(spec, designs(spec, 30, random.SeedOf(8).Stream("designs", 0)), func(x []float64) bool { return x[0] > 0.6 })
		view.Shares = []*strategy.Share{saying(t, spec, "peer", known)}
		follows := 0
		for trial := uint64(13); trial < 53; trial++ {
			got := suggest(t, New(spec), view, trial, random.SeedOf(9))
			switch got.Why.Source {
			case "density":
				follows++
				if at := got.Design.Float("x"); at < 0.5 {
					t.Errorf("failing %v, trial %d: follows to %v", failing, trial, got.Design)
				}
			case strategy.Initial:
			default:
				t.Errorf("failing %v, trial %d: %+v", failing, trial, got.Why)
			}
		}
		if follows < 10 || follows > 30 {
			t.Errorf("failing %v: %d of 40 designs follow", failing, follows)
		}
	}
}

// Peers that say whatever they can stop nobody, and the same view and seed give the same
// design.
func TestHostileLabelsStopNobody(t *testing.T) {
	for _, parameters := range []string{mixed, small} {
		spec := sharingLabels(t, parameters, "")
		rng := random.SeedOf(10).Stream("labels", 0)
		for i := range 10 {
			view := measured(t, spec, viewOf(t, spec, points(spec, 5), bowl(spec, 0.3)), func(x []float64) bool { return x[0] < 0.5 })
			for j := range 4 {
				view.Shares = append(view.Shares, saying(t, spec, fmt.Sprint("peer", j), randomLabels(spec, rng)))
			}
			got := suggest(t, New(spec), view, 6, random.SeedOf(uint64(i)))
			if err := spec.Space.Check(got.Design); err != nil || got.Why.PeerCount == 0 {
				t.Errorf("%+v: %v", got, err)
			}
			if again := suggest(t, New(spec), view, 6, random.SeedOf(uint64(i))); !reflect.DeepEqual(got, again) {
				t.Errorf("first %+v, then %+v", got, again)
			}
		}
	}
}

func TestForgeKeepsLabelsWellFormed(t *testing.T) {
	spec := sharingLabels(t, mixed, "")
	f := labelsOf(spec, points(spec, 30), never)
	payload, err := f.Encode(spec.Space)
	if err != nil {
		t.Fatal(err)
	}
	forged, err := Register().Disclosure(spec).Forge(spec, protocol.FeasibilityKind, payload, strategy.Forgery{Rand: random.SeedOf(1).Stream("forge", 0)})
	if err != nil {
		t.Fatal(err)
	}
	value, err := feasibility.NewSharing(spec).Decode(forged)
	if err != nil || reflect.DeepEqual(value, f) || len(value.(protocol.Feasibility).Labels) != 30 {
		t.Errorf("%+v, %v", value, err)
	}
}

// What people are told names what is shared.
func TestLabelsAreDescribed(t *testing.T) {
	spec := sharingLabels(t, plane, "")
	r := Register()
	if got := r.Summary(spec); !strings.Contains(got, "up to 64 designs and whether each was feasible") {
		t.Error(got)
	}
	if got := r.Disclosure(spec).Reveals(spec); !strings.Contains(got, "which were feasible, but no results. This is no privacy guarantee") {
		t.Error(got)
	}
}

func BenchmarkSuggestWithLabels(b *testing.B) {
	spec := sharingLabels(b, mixed, "")
	half := func(x []float64) bool { return x[0] < 0.5 }
	view := measured(b, spec, viewOf(b, spec, points(spec, 50), bowl(spec, 0.3)), half)
	for _, peers := range []int{0, 1, 10, maxPeers} {
		view.Shares = nil
		for i := range peers {
			x := designs(spec, protocol.MaxLabels, random.SeedOf(uint64(i)).Stream("designs", 0))
			view.Shares = append(view.Shares, saying(b, spec, fmt.Sprint("peer", i), labelsOf(spec, x, half)))
		}
		b.Run(fmt.Sprint(peers), func(b *testing.B) {
			for b.Loop() {
				suggest(b, New(spec), view, 51, random.SeedOf(1))
			}
		})
	}
}
