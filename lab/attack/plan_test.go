package attack

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/sim"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// newTask has so many floats.
func newTask(t testing.TB, dimensions int, sections string) *task.Task {
	t.Helper()
	var parameters []string
	for i := range dimensions {
		parameters = append(parameters, fmt.Sprintf("{name: x%d, type: float, low: 0, high: 1}", i))
	}
	return strategytest.Task(t, all.Strategies(), "name: attacked\ngoal: minimize\nparameters: [%s]\n%s\n", strings.Join(parameters, ", "), sections)
}

func report(t testing.TB, p Plan) Report {
	t.Helper()
	r, err := p.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range r.Lines {
		t.Logf("noise %g, %d: %s", line.Noise, line.Observations, line.Text())
	}
	return r
}

// lineOf is the line of an attack.
func (r Report) lineOf(t *testing.T, attack string) Line {
	t.Helper()
	for _, line := range r.Lines {
		if line.Attack == attack {
			return line
		}
	}
	t.Fatalf("no line of the attack %q", attack)
	return Line{}
}

// docs/privacy.md says that whoever gets a node's exact means and knows the task computes its
// observations, designs and values, almost exactly.
func TestObservationsAreComputedFromShares(t *testing.T) {
	p := Plan{Task: newTask(t, 2, exactMeans), Observations: []int{10}, Repeats: 1, Seed: 1, Noises: []float64{0.1}, Filter: "inversion of all shares"}
	r := report(t, p)
	line := r.lineOf(t, "inversion of all shares")
	if f := line.Found; f.Found != 10 || f.Distance > 1e-3 || f.Values != 10 || f.ValueError > 1e-3 {
		t.Errorf("%s", line.Text())
	}
	if b := line.Baseline; b.Found > 5 {
		t.Errorf("who knows only the best design finds %g of 10 inputs: the attack shows nothing", b.Found)
	}
	p.Filter = boundName
	if line := report(t, p).lineOf(t, boundName); line.Found.Found != 10 || line.Found.Distance > 1e-5 {
		t.Errorf("%s", line.Text())
	}
}

// The report of density and constrained-gp has some shared designs, and no values.
func TestSharedDesignsAreSomeOfThose(t *testing.T) {
	for _, strategy := range []string{"density", "constrained-gp"} {
		r := report(t, Plan{Task: newTask(t, 2, "surrogate: {features: 64}\nstrategy: {type: "+strategy+"}"), Observations: []int{10}, Repeats: 2, Seed: 1, Noises: []float64{0}, Filter: "the shared designs"})
		for _, line := range r.Lines {
			if line.Found.HasValues || line.Found.Found > 7 {
				t.Errorf("%s: %s", strategy, line.Text())
			}
		}
		if line := r.lineOf(t, "the shared designs"); line.Found.Found < 1 || line.Found.BestInput > 0.1 {
			t.Errorf("%s: %s", strategy, line.Text())
		}
	}
}

// With labels the newest 64 designs are shared.
func TestLabelsAreAllDesigns(t *testing.T) {
	labelled := newTask(t, 2, "constraints: [{name: memory, high: 3}]\nsurrogate: {features: 64}\nstrategy: {type: density, share: feasibility}")
	r := report(t, Plan{Task: labelled, Observations: []int{8}, Repeats: 1, Seed: 1, Noises: []float64{0}, Filter: "the shared designs"})
	if line := r.lineOf(t, "the shared designs"); line.Found.Found != 8 || line.Found.HasValues {
		t.Errorf("%s", line.Text())
	}
}

// With share: results all designs and values are shared as they are.
func TestResultsAreAllObservations(t *testing.T) {
	r := report(t, Plan{Task: newTask(t, 2, "strategy: {share: results}"), Observations: []int{6}, Repeats: 1, Seed: 1, Noises: []float64{0.1}, Filter: "the shared results"})
	line := r.lineOf(t, "the shared results")
	if f := line.Found; f.Found != 6 || f.Distance > 1e-6 || f.Values != 6 || f.ValueError > 1e-12 {
		t.Errorf("%s", line.Text())
	}
}

// Private releases disclose no more than the best design itself, and by the bound no attack finds
// more. With eight inputs a random guess for each, which covers a sixth of a percent of the square,
// finds three in one federation of 10,000.
func TestPrivateReleasesDiscloseNothing(t *testing.T) { checkPrivateReleases(t, 1) }

func checkPrivateReleases(t *testing.T, repeats int) {
	private := newTask(t, 2, "surrogate: {features: 64}\nstrategy: {type: fts}\nprivacy: {mechanism: local, epsilon: 4, releases: 6}")
	r := report(t, Plan{Task: private, Observations: []int{8}, Repeats: repeats, Seed: 1, Noises: []float64{0}})
	for _, line := range r.Lines {
		switch {
		case line.Attack == "peers that lead the node to places of their choice": // which need no share of the node
		case line.Bound && (line.Found.Found > 0 || line.Found.Values > 0), line.Found.Found > max(line.Baseline.Found, 2):
			t.Errorf("%s", line.Text())
		}
	}
	r.lineOf(t, boundName)
}

func TestNothingIsShared(t *testing.T) {
	r := report(t, Plan{Task: newTask(t, 2, "strategy: {type: logei}"), Observations: []int{5}, Repeats: 1, Seed: 1, Noises: []float64{0}})
	if len(r.Kinds) != 0 || len(r.Lines) != 0 {
		t.Errorf("%+v", r)
	}
}

// Another run with the same plan gives the same report, another seed another one; ints,
// categories and listed designs can be attacked too.
func TestReportsAreRepeatable(t *testing.T) {
	mixed, err := all.Strategies().Parse("mixed", []byte(`
name: mixed
goal: maximize
parameters: [{name: x, type: float, low: 1, high: 100, scale: log}, {name: n, type: int, low: 1, high: 9}, {name: c, type: categorical, choices: [a, b, c]}]
surrogate: {features: 64}
strategy: {type: constrained-gp}`))
	if err != nil {
		t.Fatal(err)
	}
	p := Plan{Task: mixed, Observations: []int{5}, Repeats: 1, Seed: 1, Noises: []float64{0.1}}
	first := report(t, p)
	if again := report(t, p); !reflect.DeepEqual(first, again) {
		t.Errorf("%+v, and again %+v", first, again)
	}
	p.Seed = 2
	if other := report(t, p); reflect.DeepEqual(first.Lines, other.Lines) {
		t.Error("another seed gives the same")
	}
}

func TestPlansThatAreRefused(t *testing.T) {
	ids, err := sim.Roster(random.SeedOf(1), 2)
	if err != nil {
		t.Fatal(err)
	}
	good := Plan{Task: newTask(t, 1, ""), Observations: []int{5}, Repeats: 1, Noises: []float64{0}}
	for text, change := range map[string]func(*Plan){
		"Task":            func(p *Plan) { p.Task = nil },
		"repeats":         func(p *Plan) { p.Repeats = 0 },
		"3 to 200":        func(p *Plan) { p.Observations = []int{5, 2} },
		"no noise":        func(p *Plan) { p.Noises = nil },
		"noise -1":        func(p *Plan) { p.Noises = []float64{-1} },
		"hyperparameters": func(p *Plan) { p.Task = newTask(t, 1, "surrogate: {hyperparameters: shared}") },
		"learning curves": func(p *Plan) { p.Task = newTask(t, 1, "stop: {type: asha, share: quartiles}") },
		"roster": func(p *Plan) {
			p.Task = newTask(t, 1, fmt.Sprintf("strategy: {type: fair, roster: [%v, %v]}", ids[0], ids[1]))
		},
	} {
		p := good
		change(&p)
		if _, err := p.Run(t.Context()); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
}

// exactMeans are the sections of a task whose nodes share exact means.
const exactMeans = "surrogate: {features: 64}\nstrategy: {type: peer-prior, share: exact}"

// With six parameters they are computed as well, which takes longer.
func BenchmarkObservationsAreComputedFromShares(b *testing.B) {
	for b.Loop() {
		report(b, Plan{Task: newTask(b, 6, exactMeans), Observations: []int{10}, Repeats: 1, Seed: 1, Noises: []float64{0}, Filter: "inversion of all shares"})
	}
}
