package fair

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/task"
)

// ways are the two ways to run a task, the mediator being one of the parties.
func ways() map[string]int { return map[string]int{"mediator": 0, "none": noMediator} }

func TestBothWaysChooseTheSame(t *testing.T) {
	designs := map[string][][]string{}
	for name, mediator := range ways() {
		w := newWorld(t, newTask(t, 3, mediator, ""), 8)
		w.bootAll()
		w.play(time.Hour)
		w.settle(time.Minute)
		w.checkBooks()
		w.checkNoWarnings()
		for _, m := range w.members {
			if m.ended() != 8 || m.assigned() != 6 {
				t.Fatalf("%s: member %d has evaluated %d designs, of which %d were assigned; want 8 and 6", name, m.index, m.ended(), m.assigned())
			}
			var own []string
			for _, trial := range m.trials {
				own = append(own, trial.Design.Key())
			}
			designs[name] = append(designs[name], own)
		}
		best := 0.0
		for _, m := range w.members {
			for _, trial := range m.trials {
				best = max(best, trial.Outcome.Value)
			}
		}
		if best < 9.9 {
			t.Errorf("%s: the best result is %g of 10", name, best)
		}
	}
	// The tasks have other IDs, and so other streams for the search; its maxima are the same
	// but for rounding. Starting designs are the parties' own.
	for i, with := range designs["mediator"] {
		if !slices.Equal(with[:2], designs["none"][i][:2]) {
			t.Errorf("party %d starts differently", i)
		}
	}
}

// Who sees what.
func TestPartiesOfAMediatorSeeNothingOfOthers(t *testing.T) {
	w := newWorld(t, newTask(t, 3, 1, ""), 6)
	w.bootAll()
	w.play(time.Hour)
	w.settle(time.Minute)
	for _, m := range w.members {
		for party, list := range m.exchange.book.entries {
			if m.index != 1 && party != m.index && len(list) > 0 {
				t.Errorf("party %d holds evaluations of party %d", m.index, party)
			}
		}
		if got, want := len(m.result.rewards), 1; m.index != 1 && got != want {
			t.Errorf("party %d knows the rewards of %d, want %d", m.index, got, want)
		}
	}
}

func TestLossIsMadeGood(t *testing.T) {
	for name, mediator := range ways() {
		w := newWorld(t, newTask(t, 4, mediator, ""), 7)
		w.loss = 0.4
		w.bootAll()
		w.play(4 * time.Hour)
		w.settle(5 * time.Minute)
		w.checkBooks()
		for _, m := range w.members {
			if m.ended() != 7 {
				t.Errorf("%s: member %d has evaluated %d designs of 7; warnings %q", name, m.index, m.ended(), m.warnings)
			}
		}
	}
}

// A party that never comes costs one deadline.
func TestAPartyThatNeverComes(t *testing.T) {
	for name, mediator := range ways() {
		w := newWorld(t, newTask(t, 3, mediator, ""), 8)
		w.boot(0)
		w.boot(1)
		w.play(30 * time.Minute)
		for _, m := range w.members[:2] {
			if m.ended() != 8 || m.assigned() != 6 {
				t.Errorf("%s: member %d has evaluated %d designs, %d assigned; want 8 and 6; warnings %q", name, m.index, m.ended(), m.assigned(), m.warnings)
			}
		}
	}
}

// Evaluations that are stopped early count as ended without a value, so that no round waits for
// them: also all of a round, and all of a party after its starting designs.
func TestRoundsContinueAfterStoppedEvaluations(t *testing.T) {
	for name, mediator := range ways() {
		w := newWorld(t, newTask(t, 3, mediator, ""), 7)
		for i, m := range w.members {
			m.stops = func(trial uint64) bool { return trial == 4 || i == 1 && trial > 2 || trial%3 == uint64(i) && trial > 3 }
		}
		w.bootAll()
		w.play(time.Hour)
		w.settle(5 * time.Minute)
		w.checkBooks()
		w.checkNoWarnings()
		for i, m := range w.members {
			if m.ended() != 7 || m.assigned() != 5 {
				t.Errorf("%s: member %d has ended %d evaluations, %d assigned; expected 7 and 5", name, i, m.ended(), m.assigned())
			}
			for _, trial := range m.trials {
				entry := w.members[2].exchange.book.entries[i]
				if w.members[2].exchange.chooses() && (entry[trial.ID-1].Value == nil) != (trial.Outcome == nil) {
					t.Errorf("%s: trial %d of member %d is %s, and its entry has the value %v", name, trial.ID, i, trial.State, entry[trial.ID-1].Value)
				}
			}
		}
	}
}

// A kill at any time loses no evaluation, and all parties spend their budgets.
func TestRoundsRecoverFromAKill(t *testing.T) { checkKills(t, []int{0}, 21) }

// checkKills kills each victim at each second, with a mediator and without.
func checkKills(t *testing.T, victims []int, seconds ...int) {
	for name, mediator := range ways() {
		for _, victim := range victims {
			for _, second := range seconds {
				w := newWorld(t, newTask(t, 3, mediator, ""), 6)
				w.bootAll()
				w.after(time.Duration(second)*time.Second, func() { w.crash(victim) })
				w.after(time.Duration(second+45)*time.Second, func() { w.boot(victim) })
				w.play(2 * time.Hour)
				w.settle(5 * time.Minute)
				w.checkBooks()
				for _, m := range w.members {
					if m.ended() != 6 {
						t.Errorf("%s, member %d killed after %d s: member %d has evaluated %d designs of 6; warnings %q", name, victim, second, m.index, m.ended(), m.warnings)
					}
					for _, warning := range m.warnings {
						if !strings.Contains(warning, "is not there") && !strings.Contains(warning, "sent nothing") {
							t.Errorf("%s, member %d killed after %d s: member %d warns %q", name, victim, second, m.index, warning)
						}
					}
				}
				if t.Failed() {
					return
				}
			}
		}
	}
}

// Without a mediator the parties of each part of a network that is cut go on, and all
// results are with everybody in the end.
func TestFairPartitionedNetworkContinues(t *testing.T) {
	w := newWorld(t, newTask(t, 4, noMediator, ""), 12)
	w.cut = func(from, to int) bool {
		return w.now > 40*time.Second && w.now < 400*time.Second && (from < 2) != (to < 2)
	}
	w.bootAll()
	w.play(3 * time.Hour)
	w.settle(5 * time.Minute)
	w.checkBooks()
	for _, m := range w.members {
		if m.ended() != 12 {
			t.Errorf("member %d has evaluated %d designs of 12; warnings %q", m.index, m.ended(), m.warnings)
		}
	}
}

func (m *member) warned(text string) bool {
	return slices.ContainsFunc(m.warnings, func(warning string) bool { return strings.Contains(warning, text) })
}

// Where the mediator ends, parties go on alone.
func TestAMediatorThatEnds(t *testing.T) {
	w := newWorld(t, newTask(t, 3, 0, ""), 8)
	w.bootAll()
	w.after(45*time.Second, func() { w.crash(0) })
	w.play(time.Hour)
	for _, m := range w.members[1:] {
		if m.ended() != 8 {
			t.Errorf("member %d has evaluated %d designs of 8", m.index, m.ended())
		}
		if why := m.trials[7].Why; !strings.Contains(why.Phrase, "the mediator is not there") {
			t.Errorf("member %d chose its last design by %q", m.index, why)
		}
	}
}

// Parties refuse a wrong batch and name its author, and the round continues.
func TestFairRefusesWrongBatches(t *testing.T) {
	checkWrongBatches(t, "worth less", "leaves results out")
}

var wrongBatches = []string{"worth less", "swapped", "leaves out a party", "other results", "other process", "leaves results out", "of nothing", "before it is needed"}

// checkWrongBatches has one party propose each kind of wrong batch.
func checkWrongBatches(t *testing.T, kinds ...string) {
	var liar *member
	for name, c := range map[string]struct {
		alter func(b *protocol.Batch)
		text  string
	}{
		"worth less": {func(b *protocol.Batch) {
			for i := range b.Assigned {
				b.Assigned[i].Point.Coordinates[0] = 1 - b.Assigned[i].Point.Coordinates[0]*0.9
			}
		}, "its designs are worth"},
		"swapped": {func(b *protocol.Batch) {
			b.Assigned[0].Point, b.Assigned[1].Point, b.Assigned[2].Point = b.Assigned[1].Point, b.Assigned[2].Point, b.Assigned[0].Point
		}, "its designs are worth"},
		"leaves out a party": {func(b *protocol.Batch) { b.Assigned = b.Assigned[:2] }, "leaves out party"},
		"other results":      {func(b *protocol.Batch) { b.Heads = slices.Clone(b.Heads); b.Heads[0]++ }, "made from other results"},
		"other process":      {func(b *protocol.Batch) { b.Noise = 2 }, "fit the observations less well"},
		"leaves results out": {func(b *protocol.Batch) {
			b.Counts = slices.Clone(b.Counts)
			b.Counts[2]--
			b.Heads = liar.exchange.book.heads(b.Counts)
			b.Assigned = b.Assigned[:2]
		}, "leaves out the results of party"},
		"of nothing":          {func(b *protocol.Batch) { b.Counts = make([]int, 3); b.Heads = make([]byte, 3*protocol.HeadBytes) }, "does not accept"},
		"before it is needed": {func(b *protocol.Batch) { b.Round += 300 }, ""},
	} {
		if !slices.Contains(kinds, name) {
			continue
		}
		w := newWorld(t, newTask(t, 3, noMediator, ""), 8)
		liar = w.members[1]
		w.liesInBatches(liar, c.alter)
		w.bootAll()
		w.play(3 * time.Hour)
		w.settle(5 * time.Minute)
		w.checkBooks()
		for _, m := range w.members {
			if m.ended() != 8 {
				t.Errorf("%s: member %d has evaluated %d designs of 8; warnings %q", name, m.index, m.ended(), m.warnings)
			}
			if m != liar && c.text != "" && !m.warned(c.text) {
				t.Errorf("%s: member %d warns %q", name, m.index, m.warnings)
			}
		}
	}
}

// A party that signs two results of one evaluation is named to all, who then use the same.
func TestTwoResultsOfOneEvaluation(t *testing.T) {
	w := newWorld(t, newTask(t, 4, noMediator, ""), 8)
	liar := w.members[1]
	w.lies(liar, evaluationKind, func(payload []byte) (int, []byte) {
		e, err := protocol.DecodeEvaluation(payload, w.task.Space)
		if err != nil {
			t.Fatal(err)
		}
		*e.Value += 1e-3
		changed, err := e.Encode(w.task.Space)
		if err != nil {
			t.Fatal(err)
		}
		return e.Number, changed
	}, w.members[3].id)
	w.bootAll()
	w.play(3 * time.Hour)
	w.settle(5 * time.Minute)
	w.checkBooks()
	for _, m := range w.members {
		if m.ended() != 8 {
			t.Errorf("member %d has evaluated %d designs of 8; warnings %q", m.index, m.ended(), m.warnings)
		}
		if m != liar && !m.warned("two different results") {
			t.Errorf("member %d warns %q", m.index, m.warnings)
		}
	}
	counts := []int{7, 7, 7, 7} // no batch has been made from the last
	for _, m := range w.members {
		if !slices.Equal(m.exchange.book.heads(counts), w.members[0].exchange.book.heads(counts)) {
			t.Errorf("members 0 and %d hold different results", m.index)
		}
	}
}

// Who repeatedly reports what does not fit is named to all.
func TestResultsThatDoNotFit(t *testing.T) { checkResultsThatDoNotFit(t, "none") }

func checkResultsThatDoNotFit(t *testing.T, modes ...string) {
	for name, mediator := range ways() {
		if !slices.Contains(modes, name) {
			continue
		}
		w := newWorld(t, newTask(t, 4, mediator, ""), 12)
		liar := w.members[3]
		liar.report = func(d task.Design, value float64) float64 {
			if len(liar.trials)%2 == 0 {
				return value + 25
			}
			return value
		}
		w.bootAll()
		w.play(3 * time.Hour)
		w.settle(5 * time.Minute)
		named := 0
		for _, m := range w.members {
			if m != liar && m.warned("results of party "+liar.id.String()+" do not fit: a tenth") {
				named++
			}
		}
		if named != 3 {
			t.Errorf("%s: %d of 3 others know it; %q", name, named, w.members[0].warnings)
		}
	}
}

// The exchange of a node that is not on the roster does not begin.
func TestOnlyTheRoster(t *testing.T) {
	if _, err := NewExchange(newTask(t, 3, noMediator, ""), keysOf(5)[4]); err == nil || !strings.Contains(err.Error(), "not on the task's roster") {
		t.Errorf("error %v", err)
	}
}
