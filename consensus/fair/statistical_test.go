//go:build statistical

package fair

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
)

func rapidCheck(t *testing.T, property func(*rapid.T)) { rapid.Check(t, property) }

func TestStatisticalHonestPartiesUnderFaults(t *testing.T) { checkFaults(t, rapidCheck) }

func TestStatisticalLateResultsCauseNoWarning(t *testing.T) { checkLateResults(t, rapidCheck) }

func TestStatisticalEstimateIsNearTheTruth(t *testing.T) {
	checkEstimates(t, 10, 0.35, 0.6, "hill", "valley")
}

func TestStatisticalRoundsRecoverFromAKill(t *testing.T) {
	checkKills(t, []int{0, 2}, 3, 12, 21, 30, 39, 48, 57)
}

func TestStatisticalWrongBatches(t *testing.T) { checkWrongBatches(t, wrongBatches...) }

func TestStatisticalFairBlamesAuthorsOfMalformedMessages(t *testing.T) {
	checkNonsense(t, "mediator", "none")
}

func TestStatisticalResultsThatDoNotFit(t *testing.T) {
	checkResultsThatDoNotFit(t, "mediator", "none")
}

// A late party keeps its design, and takes part in the next round.
func TestStatisticalALatePartyComesBack(t *testing.T) {
	for name, mediator := range ways() {
		w := newWorld(t, newTask(t, 3, mediator, ""), 8)
		w.members[2].duration = 170 * time.Second // others wait up to 100
		w.members[0].budget, w.members[1].budget = 25, 25
		w.bootAll()
		w.play(2 * time.Hour)
		w.settle(5 * time.Minute)
		w.checkBooks()
		w.checkNoWarnings()
		for _, m := range w.members {
			if m.ended() != m.budget || m.assigned() != m.budget-2 {
				t.Errorf("%s: member %d has evaluated %d designs, %d assigned; want %d, all but 2", name, m.index, m.ended(), m.assigned(), m.budget)
			}
		}
	}
}

// A party is away after it has sent its results. The others continue with a design for it, then
// without it. When it returns it gets that design, evaluates it, and takes part again.
func TestStatisticalAPartyThatHasMissedItsBatch(t *testing.T) {
	for name, mediator := range ways() {
		w := newWorld(t, newTask(t, 3, mediator, ""), 25)
		w.members[2].budget = 8
		w.bootAll()
		w.after(20900*time.Millisecond, func() { w.crash(2) })
		w.after(260*time.Second, func() { w.boot(2) })
		w.play(2 * time.Hour)
		m := w.members[2]
		if m.ended() != 8 || m.assigned() != 6 {
			t.Errorf("%s: it has evaluated %d designs, %d assigned; want 8 and 6; warnings %q", name, m.ended(), m.assigned(), m.warnings)
		}
		if got := m.trials[2].Why.Round; got != 1 {
			t.Errorf("%s: its first assigned design is of round %d, want 1", name, got)
		}
	}
}

// A party that is present and never proposes causes ever shorter waits.
func TestStatisticalASilentProposer(t *testing.T) {
	w := newWorld(t, newTask(t, 3, noMediator, ""), 14)
	w.members[1].tamper = func(o strategy.Output) []strategy.Output {
		if work, ok := o.(strategy.Work); ok && work.Name == "batch" {
			return nil
		}
		return []strategy.Output{o}
	}
	w.bootAll()
	w.play(3 * time.Hour)
	checkWaits(t, w.members[0], 4)
}

// A batch of a far round does not count for the turn: a party that sends only such batches is
// skipped like a silent one, after ever shorter waits.
func TestStatisticalBatchesOfFarRoundsHoldNoTurn(t *testing.T) {
	w := newWorld(t, newTask(t, 3, noMediator, ""), 14)
	w.liesInBatches(w.members[1], func(b *protocol.Batch) { b.Round += 300 })
	w.bootAll()
	w.play(3 * time.Hour)
	checkWaits(t, w.members[0], 3)
}

// checkWaits expects that m has evaluated all its designs and has waited for a silent party between
// once and limit times.
func checkWaits(t *testing.T, m *member, limit int) {
	t.Helper()
	waits := 0
	for _, warning := range m.warnings {
		if strings.Contains(warning, "sent nothing") {
			waits++
		}
	}
	if m.ended() != 14 || waits < 1 || waits > limit {
		t.Errorf("member 0 has evaluated %d designs and waited %d times, expected 14 designs and 1 to %d waits: %q", m.ended(), waits, limit, m.warnings)
	}
}
