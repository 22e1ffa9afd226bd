package search_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

// starts returns so many starting designs of one node.
func starts(t *testing.T, definition *task.Task, seed random.Seed, count int) []task.Design {
	t.Helper()
	s, view := search.New(definition), strategy.View{Task: definition}
	var all []task.Design
	for id := range count {
		got, err := s.Start(view, uint64(id+1), seed)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, got.Design)
		view = with(view, got.Design, strategy.Done)
	}
	return all
}

// Of six starting designs without the centre each is in another sixth of every range, on a
// logarithmic scale of its logarithm, and choices, false and true and the values of an int are
// taken equally often.
func TestStartsAreALatinHypercube(t *testing.T) {
	const n = 6
	definition := private(t, n, `{name: x, type: float, low: -3, high: 8}, {name: rate, type: float, low: 1.0e-6, high: 1, scale: log},
		{name: layers, type: int, low: 1, high: 3}, {name: kind, type: categorical, choices: [a, b]}, {name: on, type: bool}, {name: colour, type: categorical, choices: [a, b, c, d, e, f]}`)
	for seed := range uint64(50) {
		parts := map[string]int{}
		for _, design := range starts(t, definition, random.SeedOf(seed), n) {
			u := definition.Space.Encode(design)
			for i, block := range definition.Space.Blocks() {
				part := int(n * u[block.Start])
				switch block.Kind {
				case task.Int:
					part = int(definition.Space.Number(i, u[block.Start]))
				case task.Categorical:
					part = slices.Index(u[block.Start:block.Start+block.Len], 1)
				}
				parts[fmt.Sprintf("%s %d", definition.Space.Parameters()[i].Name, part)]++
			}
		}
		for i, values := range []int{6, 6, 3, 2, 2, 6} {
			for part := range values {
				name := fmt.Sprintf("%s %d", definition.Space.Parameters()[i].Name, part)
				if parts[name] != n/values {
					t.Errorf("seed %d: %s is taken %d times, want %d", seed, name, parts[name], n/values)
				}
			}
		}
	}
}

// private is parse for a task with a promise of privacy, whose nodes start nowhere in common.
func private(t testing.TB, initial int, parameters string) *task.Task {
	t.Helper()
	return strategytest.Task(t, all.Strategies(), "name: search\ngoal: maximize\nparameters: [%s]\nstrategy: {type: fts, initial_designs: %d}\nprivacy: {mechanism: local, epsilon: 4, releases: 10}", parameters, initial)
}

// The first starting design is the centre of all numbers, or of listed designs the nearest to
// it, and a choice of the seed. The others, and all of private tasks, are of the seed.
func TestFirstStartIsTheCentre(t *testing.T) {
	definition := parse(t, "maximize", 3, `{name: x, type: float, low: -3, high: 8}, {name: rate, type: float, low: 1.0e-6, high: 1, scale: log},
		{name: layers, type: int, low: 1, high: 9}, {name: kind, type: categorical, choices: [a, b, c]}`)
	kinds := map[string]bool{}
	for seed := range uint64(20) {
		first := starts(t, definition, random.SeedOf(seed), 1)[0]
		kinds[first.Choice("kind")] = true
		if first.Float("x") != 2.5 || first.Float("rate") != 1e-3 || first.Int("layers") != 5 {
			t.Errorf("seed %d begins at %v", seed, first)
		}
		apart, err := search.New(definition).WithoutCentre().Start(strategy.View{Task: definition}, 1, random.SeedOf(seed))
		if err != nil || apart.Design.Float("x") == 2.5 || apart.Design.Choice("kind") != first.Choice("kind") {
			t.Errorf("seed %d: apart from others it begins at %v, %v", seed, apart.Design, err)
		}
	}
	if len(kinds) != 3 {
		t.Errorf("the first choices are %v, expected each of three", kinds)
	}
	listed := newListedTask(t)
	got, err := search.New(listed).Start(strategy.View{Task: listed}, 1, random.SeedOf(1))
	if want := listed.Space.Decode([]float64{0.5, 0.5}); err != nil || !got.Design.Equal(want) {
		t.Errorf("of listed designs the first is %v, %v; expected %v", got.Design, err, want)
	}
	secret := private(t, 3, spaces["floats"])
	if a, b := starts(t, secret, random.SeedOf(1), 1)[0], starts(t, secret, random.SeedOf(2), 1)[0]; a.Equal(b) {
		t.Errorf("two nodes of a private task begin at %v", a)
	}
}

// Each starting design that is not the centre is uniform by itself: over 4000 seeds each quarter
// of the range and each choice has its part within five standard deviations.
func TestEachStartIsUniform(t *testing.T) {
	const seeds = 4000
	parameters := "{name: x, type: float, low: 0, high: 1}, {name: n, type: int, low: 0, high: 4}, {name: c, type: categorical, choices: [a, b, c, d]}"
	for id, definition := range []*task.Task{private(t, 3, parameters), parse(t, "maximize", 3, parameters), parse(t, "maximize", 3, parameters)} {
		counts := map[string]int{}
		for seed := range uint64(seeds) {
			got, err := search.New(definition).Start(strategy.View{Task: definition}, uint64(id+1), random.SeedOf(seed))
			if err != nil {
				t.Fatal(err)
			}
			counts[fmt.Sprintf("x %d", int(4*got.Design.Float("x")))]++
			u := definition.Space.Encode(got.Design)
			counts[fmt.Sprintf("n %d", definition.Space.Number(1, u[1]))]++
			counts[fmt.Sprintf("c %d", slices.Index(u[2:], 1))]++
		}
		if len(counts) != 13 {
			t.Errorf("start %d: %v, want 13 parts", id+1, counts)
		}
		for part, count := range counts {
			p := 0.25
			if part[0] == 'n' {
				p = 0.2
			}
			if off := math.Abs(float64(count) - p*seeds); off > 5*math.Sqrt(p*(1-p)*seeds) {
				t.Errorf("start %d: %s is taken %d of %d times, want %g of them", id+1, part, count, seeds, p)
			}
		}
	}
}

// The starts of one node, and those of all nodes of a fleet, fill the space more evenly than
// independent ones: the square of the centred discrepancy in L2 (Hickernell, "A generalized
// discrepancy and quadrature error bound", Mathematics of Computation, 1998, equation 1.4) is
// at most the stated part of what it is expected to be for these, ((5/4)^d - (13/12)^d)/n of
// n designs. Of 100 fleets the mean for independent designs would be 1 within 0.3, three
// standard errors with one parameter, and nearer with more. One node that begins with the centre
// fills the space less evenly by at most a quarter of that.
func TestStartsAreMoreEvenThanIndependentOnes(t *testing.T) { checkStarts(t, 20) }

// checkStarts averages over that many fleets.
func checkStarts(t *testing.T, fleets int) {
	for _, c := range []struct {
		dim, each int
		most      float64
	}{{1, 3, 0.45}, {1, 10, 0.2}, {2, 3, 0.5}, {2, 10, 0.25}, {4, 3, 0.6}, {4, 10, 0.4}, {6, 3, 0.7}, {6, 10, 0.5}} {
		var parameters []string
		for i := range c.dim {
			parameters = append(parameters, fmt.Sprintf("{name: x%d, type: float, low: 0, high: 1}", i))
		}
		uniform, centre := private(t, c.each, strings.Join(parameters, ", ")), parse(t, "maximize", c.each, strings.Join(parameters, ", "))
		for _, part := range []struct {
			definition *task.Task
			nodes      int
			most       float64
		}{{uniform, 1, c.most}, {uniform, 5, c.most}, {uniform, 20, c.most}, {centre, 1, c.most + 0.25}} {
			definition, nodes, sum := part.definition, part.nodes, 0.0
			for fleet := range fleets {
				var points [][]float64
				for node := range nodes {
					for _, design := range starts(t, definition, random.SeedOf(uint64(fleet)).Derive("node", uint64(node)), c.each) {
						points = append(points, definition.Space.Encode(design))
					}
				}
				sum += centred(points) / independent(c.dim, len(points)) / float64(fleets)
			}
			t.Logf("%d parameters, %d starts of each of %d nodes: %.2f of independent ones", c.dim, c.each, nodes, sum)
			if sum > part.most {
				t.Errorf("%d parameters, %d starts of each of %d nodes: %g of independent ones, want %g at most", c.dim, c.each, nodes, sum, part.most)
			}
		}
	}
}

// centred is the square of the centred discrepancy in L2.
func centred(points [][]float64) float64 {
	n, d := float64(len(points)), len(points[0])
	single, pairs := 0.0, 0.0
	for _, x := range points {
		product := 1.0
		for _, u := range x {
			a := math.Abs(u - 0.5)
			product *= 1 + a/2 - a*a/2
		}
		single += product
		for _, y := range points {
			product := 1.0
			for k, u := range x {
				product *= 1 + math.Abs(u-0.5)/2 + math.Abs(y[k]-0.5)/2 - math.Abs(u-y[k])/2
			}
			pairs += product
		}
	}
	return math.Pow(13./12, float64(d)) - 2*single/n + pairs/(n*n)
}

func independent(d, n int) float64 {
	return (math.Pow(5./4, float64(d)) - math.Pow(13./12, float64(d))) / float64(n)
}

// Nothing public decides a start of a private task: nodes with other seeds have other starts.
func TestStartsAreOfTheSeed(t *testing.T) {
	definition := private(t, 3, spaces["floats"])
	seen := map[string]uint64{}
	for seed := range uint64(100) {
		for id, design := range starts(t, definition, random.SeedOf(seed), 3) {
			if first, ok := seen[design.Key()]; ok {
				t.Errorf("start %d with seed %d is one with seed %d too", id+1, seed, first)
			}
			seen[design.Key()] = seed
		}
	}
}

// Designs that a user had evaluated first take the places of starting designs, and where one
// of these has been tried there is another. Later trials are not of the hypercube.
func TestStartsBesideOtherTrials(t *testing.T) {
	definition := parse(t, "maximize", 3, spaces["floats"])
	s, seed := search.New(definition), random.SeedOf(4)
	own := starts(t, definition, seed, 4)
	given := definition.Space.Decode([]float64{0.5, 0.5})
	view := with(strategy.View{Task: definition}, given, strategy.Done)
	if got, err := s.Start(view, 2, seed); err != nil || !got.Design.Equal(own[1]) {
		t.Errorf("trial 2 is %v, %v; want %v, whatever the first was", got.Design, err, own[1])
	}
	view = with(strategy.View{Task: definition}, own[1], strategy.Failed)
	if got, err := s.Start(view, 2, seed); err != nil || got.Design.Equal(own[1]) {
		t.Errorf("trial 2 is %v again, %v", got.Design, err)
	}
	anywhere := func([]float64) bool { return true }
	if got, err := s.StartWithin(strategy.View{}, 4, seed, anywhere); err != nil || !got.Design.Equal(own[3]) {
		t.Errorf("trial 4 is %v, want %v, %v", own[3], got.Design, err)
	}
}
