package constrainedgp

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/exchange/feasibility"
	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// labelled is the constrained lab of a task in which peers give labels.
func labelled(t *testing.T, low float64) (*lab, strategy.View) {
	t.Helper()
	plain := newLab(t, "maximize", plane, "exact", "none")
	spec := *plain.task
	spec.Strategy.Settings = Settings{strategy.Choice{Share: feasibility.Disclosure("").Share}}
	plain.task = &spec
	return plain.constrained(plain.view([][]float64{{0.1, 0.2}, {0.3, 0.8}, {0.2, 0.5}, {0.4, 0.4}}, bump(0.4)), low)
}

// says is a peer's word for which designs are feasible, after the journey over the wire.
func (l *lab) says(author int, x [][]float64, feasible ...bool) *strategy.Share {
	l.t.Helper()
	f := protocol.Feasibility{Observations: 100}
	for i := range x {
		f.Labels = append(f.Labels, protocol.Label{Point: protocol.PointOf(l.task.Space, l.task.Space.Decode(x[i])), Feasible: feasible[i]})
	}
	payload, err := f.Encode(l.task.Space)
	if err != nil {
		l.t.Fatal(err)
	}
	value, err := feasibility.NewSharing(l.task).Decode(payload)
	if err != nil {
		l.t.Fatal(err)
	}
	return &strategy.Share{Share: protocol.Share{Key: protocol.Key{Author: peerID(author), Kind: protocol.FeasibilityKind}}, Value: value}
}

// A feasible label leads there while nothing feasible is known, an infeasible one away, and
// one that the own posterior contradicts counts for nothing; nor does a peer's design of the
// other form.
func TestFeasibilityLabelsMoveSuggestions(t *testing.T) {
	l, view := labelled(t, 0.62)
	l.checkAlone(view, 9, 1)
	alone := l.suggest(view, 9, 1)

	view.Shares = []*strategy.Share{l.says(1, [][]float64{{0.05, 0.2}, {0.02, 0.6}}, true, true)}
	l.checkAlone(view, 9, 1)
	view.Shares = []*strategy.Share{l.share(1, []float64{0.7, 0.2}, nil)}
	l.checkAlone(view, 9, 1)

	view.Shares = []*strategy.Share{l.says(1, [][]float64{{0.05, 0.2}, {0.7, 0.2}}, true, true), l.says(2, [][]float64{{0.72, 0.25}}, true)}
	got := l.suggest(view, 9, 1)
	if got.Why.Source != "designs" || got.Why.PeerCount != 2 || got.Why.Observations != 200 {
		t.Errorf("%+v", got.Why)
	}
	x := l.task.Space.Encode(got.Design)
	if math.Abs(x[0]-0.7) > 0.2 {
		t.Errorf("%v", got.Design)
	}

	at := l.task.Space.Encode(alone.Design)
	view.Shares = []*strategy.Share{l.says(1, [][]float64{at}, false)}
	known, err := given(view, applyLabels(view, nil).x, applyLabels(view, nil).kept)
	if err != nil {
		t.Fatal(err)
	}
	before, _ := view.Constraints[0].Predict(at)
	if after, _ := known.Constraints[0].Predict(at); after >= before {
		t.Errorf("told to be infeasible: the mean %g became %g", before, after)
	}
}

// Of several constraints nobody says which is broken: only what is feasible counts.
func TestInfeasibleLabelsOfSeveralConstraints(t *testing.T) {
	l, view := labelled(t, 0.62)
	spec := *l.task
	spec.Constraints = append(spec.Constraints, task.Constraint{Output: "second", Low: -1, High: 2})
	view.Task = &spec
	view.Shares = []*strategy.Share{l.says(1, [][]float64{{0.8, 0.2}, {0.7, 0.3}}, false, true)}
	if got := applyLabels(view, nil); len(got.x) != 1 || !got.kept[0] || got.peers != 1 {
		t.Errorf("%+v", got)
	}
	both := *view.Constraints[0]
	both.High = both.Low + 1
	view.Task, view.Constraints = l.task, []*surrogate.Constraint{&both}
	view.Shares = []*strategy.Share{l.says(1, [][]float64{{0.8, 0.2}}, false)}
	if got := applyLabels(view, nil); len(got.x) != 0 || got.peers != 0 {
		t.Errorf("one constraint of two limits: %+v", got)
	}
}

// Of many labels the newest of each peer count first, 64 in all, and the posterior that
// takes them all stays finite.
func TestFeasibilityLabelsAreLimitedToTheNewest(t *testing.T) {
	l, view := labelled(t, 0.62)
	view.Shares = nil
	for author := range 5 {
		var x [][]float64
		var feasible []bool
		for i := range protocol.MaxLabels {
			x = append(x, []float64{0.45 + 0.5*float64(i)/64, float64((i*7+author)%64) / 64})
			feasible = append(feasible, x[i][0] >= 0.62)
		}
		view.Shares = append(view.Shares, l.says(author, x, feasible...))
	}
	got := applyLabels(view, nil)
	if len(got.x) != maxLabels || got.peers != 5 {
		t.Fatalf("%d labels of %d peers", len(got.x), got.peers)
	}
	if got.x[0][0] < got.x[maxLabels-1][0] {
		t.Error("the oldest come first")
	}
	crowd := view
	for author := 5; author < 200; author++ {
		crowd.Shares = append(crowd.Shares, l.says(author, [][]float64{{0.7, float64(author) / 200}}, true))
	}
	if some := applyLabels(crowd, random.SeedOf(1).Stream("t", 0)); len(some.x) != maxLabels || some.peers > maxLabellers {
		t.Errorf("%d labels of %d peers among 200", len(some.x), some.peers)
	}
	known, err := given(view, got.x, got.kept)
	if err != nil {
		t.Fatal(err)
	}
	wrong := 0
	for i := range got.x {
		mean, variance := known.Constraints[0].Predict(got.x[i])
		if math.IsNaN(mean) || math.IsNaN(variance) {
			t.Fatalf("%g ± %g", mean, variance)
		}
		if (mean >= known.Constraints[0].Low) != got.kept[i] {
			wrong++
		}
	}
	if wrong > 3 {
		t.Errorf("%d of %d labels are told wrong", wrong, len(got.x))
	}
}

// While the agent is blind, a feasible label of a peer leads, and infeasible ones do not.
func TestBlindAgentsFollowLabels(t *testing.T) {
	l, view := labelled(t, 0.62)
	spec := *l.task
	spec.Constraints = []task.Constraint{task.TruthOf("sound")}
	l.task, l.strategy = &spec, newStrategy(t, &spec)
	l.alone = l.strategy.alone
	view.Task = &spec
	obs := surrogate.Observations{}
	for i := range view.Trials {
		outcome := *view.Trials[i].Outcome
		outcome.Constraints = map[string]task.Reading{"sound": task.Truth(false)}
		view.Trials[i].Outcome = &outcome
		obs.X, obs.Y = append(obs.X, spec.Space.Encode(view.Trials[i].Design)), append(obs.Y, 0)
	}
	model, err := surrogate.NewConstraint(&spec, spec.Constraints[0])
	if err != nil {
		t.Fatal(err)
	}
	h, err := model.Fit(t.Context(), obs, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := model.Condition(obs, h, nil)
	if err != nil {
		t.Fatal(err)
	}
	view.Constraints = []*surrogate.Constraint{p.(*surrogate.Constraint)}
	view.Shares = []*strategy.Share{l.says(1, [][]float64{{0.8, 0.2}}, false)}
	l.checkAlone(view, 9, 1)
	view.Shares = []*strategy.Share{l.says(1, [][]float64{{0.8, 0.2}, {0.8, 0.7}}, false, true)}
	got := l.suggest(view, 9, 1)
	if x := spec.Space.Encode(got.Design); got.Why.Source != "designs" || math.Hypot(x[0]-0.8, x[1]-0.7) > 0.3 {
		t.Errorf("%v, %+v", got.Design, got.Why)
	}
}

func TestKeysOfLabels(t *testing.T) {
	const head = "name: test\ngoal: minimize\nparameters: [" + plane + "]\n"
	const limit = "constraints: [{name: gap, high: 1}]\n"
	for lines, want := range map[string]string{
		limit + "strategy: {type: constrained-gp, share: feasibility, threshold: open}": "threshold applies only with share: best",
		limit + "strategy: {type: constrained-gp, share: feasibility, confidence: 2}":   "confidence applies only with share: best",
		limit + "strategy: {type: constrained-gp, share: all}":                          "share must be one of " + strategytest.ShareValues(Register()),
		"strategy: {type: constrained-gp, share: feasibility}":                          "share feasibility applies only to tasks with constraints",
	} {
		if _, err := (strategy.Set{Register()}).Parse("test", []byte(head+lines)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", lines, err)
		}
	}
	ids := map[string]string{}
	for _, keys := range []string{"", ", share: best", ", share: feasibility"} {
		parsed, err := (strategy.Set{Register()}).Parse("test", fmt.Appendf(nil, "%s%sstrategy: {type: constrained-gp%s}", head, limit, keys))
		if err != nil {
			t.Fatal(err)
		}
		ids[keys] = parsed.ID().String()
	}
	if ids[""] != ids[", share: best"] || ids[""] == ids[", share: feasibility"] {
		t.Errorf("%v", ids)
	}
}
