//go:build long && unix

package main_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/strategy"
)

// Five parties over real sockets. One is killed during an evaluation. A few rounds later the
// mediator, or the next proposer, is killed too. Both are restarted. All parties spend their
// budgets, nearly all on assigned designs, and no acknowledged result is lost: neither for the
// party nor for those that see it.
func TestLongFairPartiesAreKilled(t *testing.T) {
	for name, mediator := range fairWays {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFairFleet(t, mediator, impatient)
			f.startAll(t)
			// While it evaluates its first assigned design, that of round 1.
			party := f.nodes[2]
			party.begun(t, startDesigns+1)
			party.kill(t)
			printed := map[*fleetNode]map[uint64]float64{party: finished(party.process())}
			time.Sleep(2 * time.Second)
			f.start(t, party, f.evals)

			// Without a mediator: the proposer of the next round, during its evaluation.
			chief, at := f.nodes[0], startDesigns+4
			if !mediator {
				chief = f.nodes[(at-startDesigns+1)%len(f.nodes)]
			}
			chief.begun(t, uint64(at))
			chief.kill(t)
			printed[chief] = finished(chief.process())
			time.Sleep(2 * time.Second)
			f.start(t, chief, f.evals)

			f.end(t, mediator)
			for n, values := range printed {
				trials := historyOf(t, n.dir)
				for id, value := range values {
					if trials[id-1].Outcome.Value != value {
						t.Errorf("%s, trial %d: printed %g, in the history %+v", n.id, id, value, trials[id-1].Outcome)
					}
				}
			}
			for _, n := range f.nodes {
				if trials := historyOf(t, n.dir); assigned(trials) < f.evals-startDesigns-1 {
					t.Errorf("%s: %d designs were assigned to it, want %d or one less", n.id, assigned(trials), f.evals-startDesigns)
				}
			}
		})
	}
}

// One party reports outliers in every other evaluation. All others warn and name that party, and
// no other. With a mediator they warn because the mediator reports it.
func TestLongFairPartiesNameALiar(t *testing.T) {
	for name, mediator := range fairWays {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFairFleet(t, mediator, patient)
			f.evals = 18 // each party is examined once when it has made ten
			liar := f.nodes[3]
			liar.shift = 30
			f.startAll(t)
			f.end(t, mediator)
			for _, n := range f.nodes {
				for _, e := range n.process().of("warning") {
					if strings.Contains(e.Message, "do not fit") && !strings.Contains(e.Message, liar.id.String()) {
						t.Errorf("%s names another party: %s", n.id, e.Message)
					}
				}
				named := slices.ContainsFunc(n.process().of("warning"), func(e event) bool {
					return strings.Contains(e.Message, "the results of party "+liar.id.String()+" do not fit")
				})
				if n != liar && !named {
					t.Errorf("%s does not name the liar", n.id)
				}
				if trials := historyOf(t, n.dir); assigned(trials) != f.evals-startDesigns {
					t.Errorf("%s: %d designs were assigned to it, want %d", n.id, assigned(trials), f.evals-startDesigns)
				}
			}
		})
	}
}

// All parties, the mediator included, exit when their budgets are spent. After the starting designs
// all designs are assigned, and no party warns in a round of the budget. The last party may have
// begun a further round, and see that others have left.
func TestLongFairPartiesRunToTheEnd(t *testing.T) {
	for name, mediator := range fairWays {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFairFleet(t, mediator, patient)
			f.flags = nil
			f.startAll(t)
			for _, n := range f.nodes {
				if code := n.process().wait(t); code != base.ExitDone || n.process().stderr.Len() > 0 {
					t.Errorf("%s: exit code %d, %s", n.id, code, n.process().stderr.String())
				}
				trials := historyOf(t, n.dir)
				if len(trials) != f.evals || assigned(trials) != f.evals-startDesigns {
					t.Errorf("%s has made %d evaluations, %d of them assigned; want %d and %d", n.id, len(trials), assigned(trials), f.evals, f.evals-startDesigns)
				}
				after := fmt.Sprintf("round %d:", f.evals-startDesigns+1)
				for _, e := range n.process().of("warning") {
					late := strings.HasPrefix(e.Message, after) && strings.Contains(e.Message, "is not there")
					if !late && !f.saysThatOneHasLeft(e) {
						t.Errorf("%s warns: %s", n.id, e.Message)
					}
				}
			}
		})
	}
}

// saysThatOneHasLeft reports whether a warning is about an unreachable party that had spent its
// budget by then.
func (f *fleet) saysThatOneHasLeft(warning event) bool {
	return strings.HasPrefix(warning.Message, "cannot reach peer ") && slices.ContainsFunc(f.nodes, func(n *fleetNode) bool {
		finished := n.process().of("trial_finished")
		return strings.Contains(warning.Message, n.id.String()) && len(finished) == f.evals && finished[len(finished)-1].at.Before(warning.at)
	})
}

// begun waits until the evaluation of a trial begins.
func (n *fleetNode) begun(t *testing.T, trial uint64) {
	t.Helper()
	n.process().await(t, fmt.Sprintf("its trial %d", trial), func(e event) bool { return e.Event == "trial_started" && e.Trial.ID == trial })
}

// end waits until all budgets are spent, checks the results that the nodes hold, and stops them.
func (f *fleet) end(t *testing.T, mediator bool) {
	t.Helper()
	for _, n := range f.nodes {
		n.process().await(t, "the end of its evaluations", isEvent("summary"))
	}
	f.checkGains(t, mediator)
	for _, n := range f.nodes {
		n.process().signal(t, syscall.SIGINT)
	}
	for _, n := range f.nodes {
		if code := n.process().wait(t); code != base.ExitDone || n.process().stderr.Len() > 0 {
			t.Errorf("%s: exit code %d, %s", n.id, code, n.process().stderr.String())
		}
	}
}

// checkGains waits until the nodes that see all results hold those of every party, and the others
// their own: the same count and sum as the histories of the parties.
func (f *fleet) checkGains(t *testing.T, mediator bool) {
	t.Helper()
	sums := map[string]float64{}
	for _, n := range f.nodes {
		trials := historyOf(t, n.dir)
		for _, trial := range trials {
			if trial.Outcome == nil || trial.State != "done" {
				t.Errorf("%s, trial %d: %s", n.id, trial.ID, trial.State)
				continue
			}
			sums[n.id.String()] += trial.Outcome.Value
		}
		if len(trials) != f.evals {
			t.Errorf("%s has made %d evaluations of %d", n.id, len(trials), f.evals)
		}
		t.Logf("%s: %d of %d designs assigned", strategy.ShortID(n.id), assigned(trials), len(trials))
	}
	last := map[*fleetNode][]partyReward{}
	defer func() {
		if t.Failed() {
			for _, n := range f.nodes {
				t.Logf("%s: %+v", strategy.ShortID(n.id), last[n])
			}
			t.Logf("%v", sums)
		}
	}()
	eventually(t, "all results", f.nodes, func(n *fleetNode) bool {
		last[n], _ = strategy.StatusValue[[]partyReward](n.status(t).Items, "rewards")
		want := 1
		if !mediator || n == f.nodes[0] {
			want = len(f.nodes)
		}
		for _, g := range last[n] {
			if g.Evaluations != f.evals || math.Abs(g.Sum-sums[g.Party.String()]) > 1e-9*(1+math.Abs(g.Sum)) {
				return false
			}
		}
		return len(last[n]) == want
	})
}
