package sim_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/sim"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// Every strategy that needs no roster keeps to listed designs, repeats none of them as
// long as there are others (of 60 without noise, 20 are tried), and finds the best.
func TestStrategiesKeepToAList(t *testing.T) {
	box, err := all.Strategies().Parse("box", []byte("name: box\ngoal: minimize\nparameters: "+cornerSpaces["categories"]))
	if err != nil {
		t.Fatal(err)
	}
	rng := random.SeedOf(7).Stream("list", 0)
	rows := [][]task.Value{box.Space.Decode(make([]float64, box.Space.Dim())).Values()} // the corner
	for range 59 {
		u := make([]float64, box.Space.Dim())
		for i := range u {
			u[i] = rng.Float64()
		}
		rows = append(rows, box.Space.Decode(u).Values())
	}
	space, err := task.NewListed(box.Space.Parameters(), rows, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all.Strategies() {
		if r.Private || r.Moves {
			continue
		}
		t.Run(r.Name, func(t *testing.T) {
			t.Parallel()
			definition, err := all.Strategies().NewTask(task.Spec{Name: "list", Goal: task.Minimize, Parameters: space.Parameters(), Listing: space.Listing(),
				Surrogate: task.Settings{"features": 64}, Strategy: task.Strategy{Type: r.Name}})
			if err != nil {
				t.Fatal(err)
			}
			s := sim.Scenario{Task: definition, Seed: random.SeedOf(1), Network: sim.Network{Delay: 50 * time.Millisecond}}
			for range 2 {
				s.Members = append(s.Members, sim.Member{Objective: slope(definition.Space), Evaluations: 20, Duration: evaluation})
			}
			views := make([]strategy.View, 2)
			s.Watch = func(member int, view strategy.View) { views[member] = view }
			run(t, s)
			for member, view := range views {
				seen := map[int]bool{}
				for _, trial := range view.Trials {
					i, ok := definition.Space.Listing().Index(trial.Design)
					if !ok || seen[i] && trial.Why.RepeatOf == 0 {
						t.Errorf("member %d: %v is listed (%t), was tried (%t), %+v", member, trial.Design, ok, seen[i], trial.Why)
					}
					seen[i] = true
				}
				if len(view.Trials) != 20 || !seen[0] {
					t.Errorf("member %d: after %d trials the best was found (%t)", member, len(view.Trials), seen[0])
				}
			}
		})
	}
}

// Members that can evaluate designs of their own alone keep to these, whatever their peers
// share: 3 members have 40 of 60 designs each, of which no two have the same. All hear of
// designs that they cannot evaluate, and find the best of their own.
func TestMembersKeepToTheirOwnDesigns(t *testing.T) {
	box, err := all.Strategies().Parse("box", []byte("name: box\ngoal: minimize\nparameters: "+cornerSpaces["categories"]))
	if err != nil {
		t.Fatal(err)
	}
	rng := random.SeedOf(7).Stream("list", 0)
	var rows [][]task.Value
	for range 60 {
		u := make([]float64, box.Space.Dim())
		for i := range u {
			u[i] = rng.Float64()
		}
		rows = append(rows, box.Space.Decode(u).Values())
	}
	for _, r := range all.Strategies() {
		if r.Private || r.Moves {
			continue
		}
		t.Run(r.Name, func(t *testing.T) {
			t.Parallel()
			definition, err := all.Strategies().NewTask(task.Spec{Name: "list", Goal: task.Minimize, Parameters: box.Space.Parameters(),
				Surrogate: task.Settings{"features": 64}, Strategy: task.Strategy{Type: r.Name}})
			if err != nil {
				t.Fatal(err)
			}
			s := sim.Scenario{Task: definition, Seed: random.SeedOf(1), Network: sim.Network{Delay: 50 * time.Millisecond}}
			for k := range 3 {
				part, err := definition.Space.Within(slices.Concat(rows[20*k:20*k+20], rows[20*((k+1)%3):20*((k+1)%3)+20]))
				if err != nil {
					t.Fatal(err)
				}
				s.Members = append(s.Members, sim.Member{Objective: slope(definition.Space), Evaluations: 20, Duration: evaluation, Space: part})
			}
			result := run(t, s)
			for k, member := range s.Members {
				lowest, found := math.Inf(1), math.Inf(1)
				for i := range member.Space.Listing().Len() {
					lowest = min(lowest, member.Objective(member.Space.Listing().Design(i), 0))
				}
				for _, trial := range result.Members[k].Trials {
					if err := member.Space.Check(trial.Design); err != nil {
						t.Errorf("member %d: %v", k, err)
					}
					found = min(found, trial.Outcome.Value)
				}
				if found > lowest {
					t.Errorf("member %d has found %g, not %g", k, found, lowest)
				}
			}
		})
	}
}

// A space that is no part of the task's would be another task.
func TestSpaceOfAMemberIsOfTheTask(t *testing.T) {
	s := sim.Scenario{Task: newTask(t, "ts"), Seed: random.SeedOf(1)}
	other, err := task.NewSpace([]task.Parameter{{Name: "elsewhere", Kind: task.Float, Low: 0, High: 1}})
	if err != nil {
		t.Fatal(err)
	}
	s.Members = []sim.Member{{Objective: func(task.Design, uint64) float64 { return 0 }, Evaluations: 1, Duration: evaluation, Space: other}}
	if _, err := sim.Run(t.Context(), s); err == nil || !strings.Contains(err.Error(), "member 0: Space is no part of the task's") {
		t.Errorf("error %v", err)
	}
}
