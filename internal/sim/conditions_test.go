package sim_test

import (
	"math"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/sim"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// dependent has spaces in which parameters depend on others: three levels of conditions, constraints
// that a fifth of the combinations satisfies, and fixed parameters.
func dependent() map[string]task.Spec {
	return map[string]task.Spec{
		"conditions": {Parameters: []task.Parameter{
			{Name: "model", Kind: task.Categorical, Choices: []string{"svc", "forest", "net"}},
			{Name: "kernel", Kind: task.Categorical, Choices: []string{"linear", "rbf"}, When: []task.Condition{task.Equals("model", task.ChoiceValue("svc"))}},
			{Name: "gamma", Kind: task.Float, Low: 1e-5, High: 10, Scale: task.Log, When: []task.Condition{task.Equals("kernel", task.ChoiceValue("rbf"))}},
			{Name: "layers", Kind: task.Int, Low: 1, High: 3, When: []task.Condition{task.Equals("model", task.ChoiceValue("net"))}},
			{Name: "second", Kind: task.Int, Low: 8, High: 512, Scale: task.Log, When: []task.Condition{task.Between("layers", 2, math.Inf(1))}},
			{Name: "bias", Kind: task.Bool, When: []task.Condition{task.Between("second", 64, 256)}},
		}},
		"parameter constraints": {Parameters: []task.Parameter{
			{Name: "x", Kind: task.Float, High: 1},
			{Name: "y", Kind: task.Float, High: 1},
			{Name: "n", Kind: task.Int, Low: 1, High: 8},
			{Name: "c", Kind: task.Categorical, Choices: []string{"a", "b", "d"}},
		}, ParameterConstraints: []string{"x + y <= 0.8", "n <= 8 * (x + y)", "c != 'a' or x < y"}},
		"fixed": {Parameters: []task.Parameter{
			{Name: "x", Kind: task.Float, High: 1},
			{Name: "rate", Kind: task.Float, Fixed: task.FloatValue(0.25)},
			{Name: "batch", Kind: task.Int, Fixed: task.IntValue(64)},
			{Name: "on", Kind: task.Bool, Fixed: task.BoolValue(true)},
			{Name: "solver", Kind: task.Categorical, Choices: []string{"adam"}},
			{Name: "units", Kind: task.Int, Low: 1, High: 100},
		}},
		"all of these": {Parameters: []task.Parameter{
			{Name: "model", Kind: task.Categorical, Choices: []string{"a", "b"}},
			{Name: "x", Kind: task.Float, High: 1, When: []task.Condition{task.Equals("model", task.ChoiceValue("a"))}},
			{Name: "y", Kind: task.Float, High: 1, When: []task.Condition{task.Equals("model", task.ChoiceValue("a"))}},
			{Name: "z", Kind: task.Float, Low: 1, High: 2},
			{Name: "k", Kind: task.Int, Fixed: task.IntValue(3), When: []task.Condition{task.Between("z", 1.5, 2)}},
		}, ParameterConstraints: []string{"x + y <= z - 1"}},
	}
}

// uneven is an objective on any space. It is smooth in each coordinate.
func uneven(space *task.Space) func(d task.Design, _ uint64) float64 {
	return func(d task.Design, _ uint64) float64 {
		sum := 0.0
		for i, u := range space.Encode(d) {
			sum += math.Cos(float64(i) + 3*u)
		}
		return sum
	}
}

// Every strategy with every choice of what nodes share evaluates only designs of the space, and
// nodes decode each other's shares. A warning or a panic ends a run with an error.
// The statistical level has the other spaces.
func TestEveryStrategyOnDependentParameters(t *testing.T) {
	checkDependents(t, "conditions", "all of these")
}

func checkDependents(t *testing.T, spaces ...string) {
	for _, name := range spaces {
		spec := dependent()[name]
		for _, r := range all.Strategies() {
			disclosures := r.Disclosures
			if len(disclosures) == 0 {
				disclosures = []strategy.Disclosure{{}}
			}
			for _, d := range disclosures {
				spec := spec
				spec.Name, spec.Goal = "dependent", task.Minimize
				spec.Strategy = task.Strategy{Type: r.Name, InitialDesigns: 3}
				settings := task.Settings{}
				if d.Share != "" {
					settings["share"] = d.Share
				}
				nodes := 3
				if d.Roster { // of sums without noise
					nodes = 5
				}
				roster, err := sim.Roster(random.SeedOf(1), nodes)
				if err != nil {
					t.Fatal(err)
				}
				switch {
				case r.Mechanism == task.MechanismAggregate:
					spec.Privacy = task.Settings{"mechanism": r.Mechanism, "epsilon": 100, "roster": roster}
				case d.Release != nil:
					spec.Privacy = task.Settings{"mechanism": r.Mechanism, "epsilon": 100}
				case r.Roster || d.Roster:
					settings["roster"] = roster
				}
				if d.Constrained {
					spec.Constraints = []task.Constraint{{Output: "limit", Low: math.Inf(-1), High: 1}}
				}
				if r.Name != "fair" { // fair refuses it
					spec.Surrogate = task.Settings{"features": 64}
				}
				spec.Strategy.Settings = settings
				private := ""
				if d.Release != nil {
					private = " private"
				}
				t.Run(name+"/"+r.Name+" "+d.Share+private, func(t *testing.T) {
					t.Parallel()
					checkDependent(t, spec)
				})
			}
		}
	}
}

// dependentTrials is the number of trials of each member: two after the starting designs, so that shares
// are used.
const dependentTrials = 5

func checkDependent(t *testing.T, spec task.Spec) {
	definition, err := all.Strategies().NewTask(spec)
	if err != nil {
		t.Fatal(err)
	}
	s := sim.Scenario{Task: definition, Seed: random.SeedOf(1), Network: sim.Network{Delay: 50 * time.Millisecond}}
	for range max(3, len(definition.Roster())) {
		s.Members = append(s.Members, sim.Member{
			Objective: uneven(definition.Space), Evaluations: dependentTrials, Duration: evaluation,
			Constraints: func(d task.Design, _ uint64) map[string]task.Reading {
				return map[string]task.Reading{"limit": task.Number(uneven(definition.Space)(d, 0))}
			},
		})
	}
	for i, m := range run(t, s).Members {
		if len(m.Trials) != dependentTrials {
			t.Errorf("member %d made %d trials", i, len(m.Trials))
		}
		for _, trial := range m.Trials {
			if err := definition.Space.Check(trial.Design); err != nil {
				t.Errorf("member %d, trial %d: %v", i, trial.ID, err)
			}
		}
	}
}
