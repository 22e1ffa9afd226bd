package sim_test

import (
	"testing"
	"time"

	"github.com/fbo-node/fbo/task"
)

// In rounds a member asks for as many designs as it evaluates at a time, and for none before all
// of these have ended. Else it asks whenever one has ended.
func TestRoundsAndSlots(t *testing.T) {
	for _, inRounds := range []bool{true, false} {
		s := scenario(t, "ts", 1, 10)
		var at []int // trials that have ended when each is asked for
		ended := 0
		s.Members[0].Parallel, s.Members[0].InRounds = 4, inRounds
		s.Members[0].Objective = func(d task.Design, trial uint64) float64 {
			ended++
			return valley(d, trial)
		}
		s.Members[0].Lasts = func(trial uint64) time.Duration {
			at = append(at, ended)
			return time.Duration(1+(trial*7)%4) * time.Second
		}
		result := run(t, s)
		if len(result.Members[0].Trials) != 10 || ended != 10 {
			t.Fatalf("%d trials, %d have ended", len(result.Members[0].Trials), ended)
		}
		for i, before := range at {
			if want := i / 4 * 4; inRounds && before != want || !inRounds && before < i-3 {
				t.Errorf("in rounds %v: %d trials had ended before trial %d: %v", inRounds, before, i+1, at)
			}
		}
	}
}

// What a member recommends after so many evaluations is there although its model never knows
// exactly as many.
func TestRecommendationsBetweenRounds(t *testing.T) {
	s := scenario(t, "ts", 1, 10)
	s.Members[0].Parallel, s.Members[0].InRounds, s.Recommend = 4, true, []int{5, 6}
	got := run(t, s).Members[0].Recommended
	for _, at := range []int{5, 6, 10} {
		if d, ok := got[at]; !ok || d.IsZero() {
			t.Errorf("after %d evaluations: %v", at, got)
		}
	}
	if !got[5].Equal(got[6]) {
		t.Errorf("after 5 and 6 evaluations, with the same model: %v", got)
	}
}
