package experiment

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/lab/family"
	"github.com/fbo-node/fbo/task"
)

// ring is a kind with 30 listed designs on a circle road; other values would panic.
func ring(t *testing.T, text string) family.Family {
	t.Helper()
	var rows [][]task.Value
	var neighbors [][]int
	for i := range 30 {
		rows = append(rows, []task.Value{task.IntValue(int64(i * i))})
		neighbors = append(neighbors, []int{(i + 29) % 30, (i + 1) % 30})
	}
	space, err := task.NewListed([]task.Parameter{{Name: "n", Kind: task.Int, Low: 0, High: 900}}, rows, neighbors)
	if err != nil {
		t.Fatal(err)
	}
	value := func(d task.Design) float64 {
		root := math.Sqrt(float64(d.Int("n")))
		if root != math.Trunc(root) {
			panic(fmt.Sprintf("%v is not listed", d))
		}
		return -math.Abs(root - 17)
	}
	kind := family.Kind{
		Info: family.Info{Name: "ring", About: "a circle", Keys: []family.Key{{Name: "max_moves", Type: family.Whole, Default: "1", High: 2, Meaning: "moves"}}},
		Build: func(family.Values) (*task.Space, family.DrawFunc, error) {
			return space, func(_ random.Seed, agents int) (family.Federation, error) {
				f := family.Federation{Space: space, Goal: task.Maximize}
				for range agents {
					f.Members = append(f.Members, family.Member{Objective: family.Objective{Value: value}, Counts: true})
				}
				return f, nil
			}, nil
		},
		MaxMoves: func(v family.Values) int { return v.Whole("max_moves") },
	}
	f, err := family.Catalogue{kind}.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Strategies and baselines are played on the listed designs of a family and no others.
// After 20 of 30 evaluations all but random search have found the best one.
func TestListedFamiliesArePlayed(t *testing.T) {
	p := tiny(t, func(p *Plan) {
		p.Family, p.Evaluations = ring(t, "ring:max_moves=0"), 20
		p.Strategies = specsOf(t, "ts,fts,consensus,random,rgpe,pooled")
	})
	f, err := p.draw(0)
	if err != nil {
		t.Fatal(err)
	}
	for name, record := range playAll(t, p, f) {
		for _, m := range record.Members {
			if curve := m.simple(); len(m.Regret) != 20 || name != "random" && curve[19] != 0 {
				t.Errorf("%s: regrets %v", name, m.Regret)
			}
		}
	}
}

// TestStepsOfAFamily checks that max_moves becomes part of the task, and that strategies which do
// not move along a graph reject it.
func TestStepsOfAFamily(t *testing.T) {
	p := Plan{Agents: 3, Evaluations: 6, Repeats: 2, Seed: 1, Family: ring(t, "ring")}
	for strategies, want := range map[string]string{
		"ts":     "--strategy ts: strategy: type ts goes to any design at once, and nodes of this task move along a graph",
		"random": "--strategy random: the baseline random moves along no graph, as --family ring asks for; accepted: the family with max_moves=0, or a strategy that moves",
	} {
		p.Strategies = specsOf(t, strategies)
		if _, err := p.Complete(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", strategies, err)
		}
	}
	drawn, err := p.Family.Draw(random.SeedOf(1), 2)
	if err != nil || drawn.MaxMoves != 1 {
		t.Errorf("%+v, %v", drawn, err)
	}
	_, err = Plan{Initial: 1, Surrogate: Spec{Name: "exact"}}.taskOf("ring", drawn, Spec{Name: "ts"}, nil)
	if err == nil || !strings.Contains(err.Error(), "goes to any design at once") {
		t.Errorf("the task is without max_moves: %v", err)
	}
}

// sweeps is a kind whose members know designs of their own alone: 12 each, of which four
// are those of the one before. Values at others would panic. Every third design is unsound.
func sweeps(t *testing.T, constrained bool) family.Family {
	t.Helper()
	space, err := task.NewSpace([]task.Parameter{{Name: "n", Kind: task.Int, Low: 0, High: 900}, {Name: "c", Kind: task.Categorical, Choices: []string{"a", "b"}}})
	if err != nil {
		t.Fatal(err)
	}
	kind := family.Kind{
		Info: family.Info{Name: "sweeps", About: "lists"},
		Build: func(family.Values) (*task.Space, family.DrawFunc, error) {
			return space, func(_ random.Seed, agents int) (family.Federation, error) {
				f := family.Federation{Space: space, Goal: task.Minimize}
				if constrained {
					f.Constraints = []task.Constraint{task.TruthOf("sound")}
				}
				for k := range agents {
					var rows [][]task.Value
					for i := range 12 {
						rows = append(rows, []task.Value{task.IntValue(int64(20*(8*k+i) + 1)), task.ChoiceValue([]string{"a", "b"}[i%2])})
					}
					part, err := space.Within(rows)
					if err != nil {
						return f, err
					}
					number := func(d task.Design) int {
						i, ok := part.Listing().Index(d)
						if !ok {
							panic(fmt.Sprintf("%v is none of member %d", d, k))
						}
						return i
					}
					m := family.Member{Space: part, Counts: true, Objective: family.Objective{Optimum: 0, Value: func(d task.Design) float64 {
						return math.Abs(float64(number(d) - 5))
					}}}
					if constrained {
						m.Objective.Optimum, m.Objective.Range = 1, 6
						m.Constraints = []family.Measure{{Value: func(d task.Design) float64 { return float64(min((number(d)+1)%3, 1)) }}}
					}
					f.Members = append(f.Members, m)
				}
				return f, nil
			}, nil
		},
		Constraints: func(family.Values) []task.Constraint {
			if constrained {
				return []task.Constraint{task.TruthOf("sound")}
			}
			return nil
		},
	}
	f, err := family.Catalogue{kind}.Parse("sweeps")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Every strategy and baseline that needs no roster plays members with designs of their own.
// Their budget is longer than the lists: by then all have found the best that there is.
func TestMembersWithDesignsOfTheirOwn(t *testing.T) {
	for _, constrained := range []bool{false, true} {
		names := "ts,fts,peer-prior,consensus,constrained-gp,density,logei,random,rgpe,taf,pooled,multitask,dp-fts-de"
		if constrained {
			names = "ts,constrained-gp,density,logei,mes,random"
		}
		p := tiny(t, func(p *Plan) {
			p.Family, p.Evaluations, p.Strategies = sweeps(t, constrained), 15, specsOf(t, names)
		})
		f, err := p.draw(0)
		if err != nil {
			t.Fatal(err)
		}
		for name, record := range playAll(t, p, f) {
			for i, m := range record.Members {
				if curve := m.simple(); len(m.Regret) != 15 || curve[14] != 0 {
					t.Errorf("constrained %t, %s, member %d: regrets %v", constrained, name, i, m.Regret)
				}
			}
		}
	}
}

// Who chooses for others would choose what they cannot evaluate.
func TestRostersNeedTheSameDesigns(t *testing.T) {
	for strategy, who := range map[string]string{"fair": "agents of a roster choose for each other", "global": "the baseline global chooses for all"} {
		p := tiny(t, func(p *Plan) { p.Family, p.Strategies = sweeps(t, false), specsOf(t, strategy) })
		f, err := p.draw(0)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.checkTogether(p.Strategies[0], f); err == nil || !strings.Contains(err.Error(), "list of designs of its own, and "+who) {
			t.Errorf("%s: error %v", strategy, err)
		}
	}
}
