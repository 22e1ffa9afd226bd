//go:build unix

package main

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fbo-node/fbo/strategy"
)

// commonObjective is what all parties evaluate: 0 at its minimum. The first argument is
// not used. Every other result has the second one added, which is a lie unless it is 0.
const commonObjective = `sleep 0.3
awk "BEGIN { print ($FBO_PARAM_X - 0.4)^2 + ($FBO_PARAM_Y + 0.3)^2 + $2 * ($FBO_TRIAL % 2) }"
`

const (
	fairParties  = 5
	fairEvals    = 10 // of each
	startDesigns = 3

	// A killed party is passed over soon. Where none is, a slow machine is no reason to.
	impatient = 3 * time.Second
	patient   = 2 * time.Minute
)

// newFairFleet makes the parties of a task: with a mediator, the first of them, or without.
// Nobody waits longer than deadline for a party.
func newFairFleet(t *testing.T, mediator bool, deadline time.Duration) *fleet {
	t.Helper()
	f := &fleet{evals: fairEvals, script: writeFile(t, "objective.sh", commonObjective), flags: []string{"--stay"}}
	roster := f.enrol(t, fairParties)
	keys := fmt.Sprintf(", deadline: %g", deadline.Seconds())
	if mediator {
		keys += ", mediator: " + roster[0]
	}
	f.read(t, fairTask(roster, keys))
	return f
}

// fairWays are the two ways to run a task.
var fairWays = map[string]bool{"mediator": true, "none": false}

// assigned counts trials that batches had for a node.
func assigned(trials []trialJSON) (n int) {
	for _, trial := range trials {
		if trial.Why.Source == "assigned" {
			n++
		}
	}
	return n
}

// checkGains waits until those who see all results hold every party's, and the others
// their own: as many, and of the same sum, as the parties' histories have.
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
	last := map[*fleetNode][]strategy.Gain{}
	defer func() {
		if t.Failed() {
			for _, n := range f.nodes {
				t.Logf("%s: %+v", strategy.ShortID(n.id), last[n])
			}
			t.Logf("%v", sums)
		}
	}()
	eventually(t, "all results", f.nodes, func(n *fleetNode) bool {
		last[n] = n.status(t).Gains
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

// end waits until all have spent their budgets, checks what they hold, and ends them.
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
		if code := n.process().wait(t); code != exitDone || n.process().stderr.Len() > 0 {
			t.Errorf("%s: exit code %d, %s", n.id, code, n.process().stderr.String())
		}
	}
}

// begun awaits the evaluation of a trial.
func (n *fleetNode) begun(t *testing.T, trial uint64) {
	t.Helper()
	n.process().await(t, fmt.Sprintf("its trial %d", trial), func(e event) bool { return e.Event == "trial_started" && e.Trial.ID == trial })
}

// Five parties over real sockets. One of them is killed while it evaluates, and so is, a few
// rounds later, the mediator or whoever has the next turn to propose; both are started again.
// All spend their budgets, nearly all of it on assigned designs, and nothing that a party was told
// to be on disk is lost: neither to itself nor to those who see it.
func TestFairPartiesAreKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("twice five processes")
	}
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

			// Without a mediator whoever has the turn in the round after one that it
			// evaluates a design of.
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

// Parties that end by themselves, the mediator like all: everybody spends its budget, the whole of
// it on assigned designs after the start, and nobody warns of anybody in a round of the budget.
// Whoever ends last may have begun the round after it, and see that others have left.
func TestFairPartiesRunToTheEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("twice five processes")
	}
	for name, mediator := range fairWays {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFairFleet(t, mediator, patient)
			f.flags = nil
			f.startAll(t)
			for _, n := range f.nodes {
				if code := n.process().wait(t); code != exitDone || n.process().stderr.Len() > 0 {
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

// saysThatOneHasLeft tells whether a warning is that a party cannot be reached which had made
// all its evaluations by then.
func (f *fleet) saysThatOneHasLeft(warning event) bool {
	return strings.HasPrefix(warning.Message, "cannot reach peer ") && slices.ContainsFunc(f.nodes, func(n *fleetNode) bool {
		finished := n.process().of("trial_finished")
		return strings.Contains(warning.Message, n.id.String()) && len(finished) == f.evals && finished[len(finished)-1].at.Before(warning.at)
	})
}

// One party reports values that are far off in every other evaluation. All the others warn
// of it by name, with a mediator because that tells them; and nobody warns of anybody else.
func TestFairPartiesNameALiar(t *testing.T) {
	if testing.Short() {
		t.Skip("twice five processes")
	}
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
						t.Errorf("%s names somebody else: %s", n.id, e.Message)
					}
				}
				told := slices.ContainsFunc(n.process().of("warning"), func(e event) bool {
					return strings.Contains(e.Message, "the results of party "+liar.id.String()+" do not fit")
				})
				if n != liar && !told {
					t.Errorf("%s does not name the liar", n.id)
				}
				if trials := historyOf(t, n.dir); assigned(trials) != f.evals-startDesigns {
					t.Errorf("%s: %d designs were assigned to it, want %d", n.id, assigned(trials), f.evals-startDesigns)
				}
			}
		})
	}
}

// Who is not on the roster hears it in one line, and nothing has begun.
func TestNotOnTheRoster(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", fairTask([]string{partyA, partyB}, "")), shortTempDir(t)
	id := strings.TrimSpace(must(t, "key", "--data-dir", dir))
	e := call(t, join(runLine(file, dir), objective("steady"))...)
	want := "fbo-node: task \"together\": this node, " + id + ", is not on the task's roster: only those that are can take part in its rounds; the node's key is in " + dir + "\n"
	if e.code != exitFailed || e.stdout != "" || e.stderr != want {
		t.Errorf("exit code %d, %q%q, want %q", e.code, e.stdout, e.stderr, want)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 || left[0].Name() != "identity.key" {
		t.Errorf("in the data directory %v, %v", left, err)
	}
}

// What a run and status say of gains, to people, and of who can take part.
func TestFairRunTellsGains(t *testing.T) {
	t.Parallel()
	f := newFairFleet(t, false, patient)
	two := f.nodes[:2]
	f.read(t, fairTask([]string{two[0].id.String(), two[1].id.String()}, ", initial_designs: 2, deadline: 120"))
	other := start(t, join(runLine(f.file, two[1].dir, "--json"), objective("steady"))...)
	command := nodeCommand(join(runLine(f.file, two[0].dir, "--evals", "12", "--peer", other.address(t)), objective("steady"))...)
	e := finish(t, command)
	for _, want := range []string{
		"\nOnly the 2 nodes on the roster can take part", "\nEvery one of the 2 parties sees all designs and raw results of every party",
		"evaluations  best", "…" + strategy.ShortID(two[0].id) + " (this node)  12 ", "\n…" + strategy.ShortID(two[1].id),
		"\nalone this node would have got a sum of about ", " in its first 10 evaluations (an estimate from the model)",
	} {
		if e.code != exitDone || !strings.Contains(e.stdout, want) {
			t.Errorf("%q is missing in\n%s%s", want, e.stdout, e.stderr)
		}
	}
	if strings.Contains(e.stdout, "published 0 shares") || strings.Contains(e.stdout, "is open") {
		t.Errorf("it says what is not so:\n%s", e.stdout)
	}
	if text := must(t, "status", "--data-dir", two[1].dir); !strings.Contains(text, "…"+strategy.ShortID(two[1].id)+" (this node)") {
		t.Errorf("status:\n%s", text)
	}
	var s struct {
		Gains []strategy.Gain
	}
	for began := time.Now(); (len(s.Gains) == 0 || s.Gains[0].Evaluations < 11) && time.Since(began) < patienceOfTests; time.Sleep(100 * time.Millisecond) {
		s.Gains = nil
		decode(t, must(t, "status", "--json", "--data-dir", two[1].dir), &s)
	}
	if len(s.Gains) != 2 || s.Gains[0].Party != two[0].id || s.Gains[0].Evaluations < 11 || s.Gains[0].Alone != nil {
		t.Errorf("status --json: %+v", s)
	}
}
