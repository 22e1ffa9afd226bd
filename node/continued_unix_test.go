//go:build unix

package node_test

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/store"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
)

// victimContinues in the environment makes the victim work on the task that continues victimTask.
const victimContinues = "FBO_TEST_VICTIM_CONTINUES"

// A node that is killed again and again at the start on a new task carries over each trial once.
func TestKilledWhileItCarriesOver(t *testing.T) { testKilledCarry(t, 8) }

func testKilledCarry(t *testing.T, lives int) {
	dir := t.TempDir()
	former := parse(t, victimTask)
	n, _ := startWarned(t, dir)
	evaluateLine(t, joinTask(t, n, former), 20)
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	current := parse(t, victimText(true))
	rng := rand.New(rand.NewPCG(3, 4))
	carried := func() (count int) {
		archive, err := store.OpenArchive(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer archive.Close()
		history, err := archive.History(current.ID().String(), all.Strategies())
		if err != nil {
			return 0 // it was killed before it began
		}
		seen := map[string]bool{}
		for _, trial := range history.Trials {
			if trial.Why.Source != strategy.Imported {
				continue
			}
			if count++; seen[trial.Design.Key()] {
				t.Errorf("%v is there twice", trial.Design)
			}
			seen[trial.Design.Key()] = true
		}
		return count
	}
	done := 0
	for life := range 10 * lives {
		victim := exec.Command(os.Args[0])
		victim.Env = append(os.Environ(), victimDir+"="+dir, victimContinues+"=1", "GORACE=atexit_sleep_ms=0")
		victim.Stderr = os.Stderr
		if err := victim.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rng.IntN(400+50*life)) * time.Millisecond)
		_ = victim.Process.Kill()
		_ = victim.Wait()
		count := carried()
		if count != 0 && count != 20 || count == 0 && done > 0 {
			t.Fatalf("life %d: %d trials carried over, expected 0 or 20", life, count)
		}
		if count == 20 {
			done++
		}
		if life >= lives && done >= 3 {
			return
		}
	}
	t.Errorf("too little happened to be a test: %d lives with trials", done)
}
