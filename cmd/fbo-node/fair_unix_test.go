//go:build unix

package main_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/clitest"
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
// A round waits for a party for at most timeout.
func newFairFleet(t *testing.T, mediator bool, timeout time.Duration) *fleet {
	t.Helper()
	f := &fleet{evals: fairEvals, script: writeFile(t, "objective.sh", commonObjective), flags: []string{"--keep-after"}}
	roster := f.enrol(t, fairParties)
	keys := fmt.Sprintf(", round_timeout: %g", timeout.Seconds())
	if mediator {
		keys += ", mediator: " + roster[0]
	}
	f.read(t, clitest.FairTask(roster, keys))
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

// Who is not on the roster hears it in one line, and nothing has begun.
func TestNotOnTheRoster(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", clitest.FairTask([]string{clitest.PartyA, clitest.PartyB}, "")), shortTempDir(t)
	id := strings.TrimSpace(must(t, "peer-id", "--data-dir", dir))
	e := call(t, join(runLine(file, dir), objective("steady"))...)
	want := "fbo-node: task \"together\": this node, " + id + ", is not on the task's roster: only nodes on it can take part in its rounds; the node's key is in " + dir + "\n"
	if e.code != base.ExitFailed || e.stdout != "" || e.stderr != want {
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
	f.read(t, clitest.FairTask([]string{two[0].id.String(), two[1].id.String()}, ", initial_designs: 2, round_timeout: 120"))
	other := start(t, join(runLine(f.file, two[1].dir, "--json"), objective("steady"))...)
	command := nodeCommand(join(runLine(f.file, two[0].dir, "--evals", "12", "--peer", other.address(t)), objective("steady"))...)
	e := finish(t, command)
	for _, want := range []string{
		"\nOnly the 2 nodes on the roster can take part", "\nEvery one of the 2 parties sees all designs and raw results of every party",
		"evaluations  best", "…" + strategy.ShortID(two[0].id) + " (this node)  12 ", "\n…" + strategy.ShortID(two[1].id),
		"\nrewards: alone this node would have reached a sum of about ", " in its first 10 evaluations (an estimate from the model)",
	} {
		if e.code != base.ExitDone || !strings.Contains(e.stdout, want) {
			t.Errorf("%q is missing in\n%s%s", want, e.stdout, e.stderr)
		}
	}
	if strings.Contains(e.stdout, "published 0 shares") || strings.Contains(e.stdout, "is open") {
		t.Errorf("it says what is not so:\n%s", e.stdout)
	}
	if text := must(t, "status", "--data-dir", two[1].dir); !strings.Contains(text, "…"+strategy.ShortID(two[1].id)+" (this node)") {
		t.Errorf("status:\n%s", text)
	}
	var rewards []partyReward
	for began := time.Now(); (len(rewards) == 0 || rewards[0].Evaluations < 11) && time.Since(began) < patienceOfTests; time.Sleep(100 * time.Millisecond) {
		rewards, _ = strategy.StatusValue[[]partyReward](statusOf(t, two[1].dir).Items, "rewards")
	}
	if len(rewards) != 2 || rewards[0].Party != two[0].id || rewards[0].Evaluations < 11 || rewards[0].Alone != nil {
		t.Errorf("status --json: %+v", rewards)
	}
}

// partyReward is an entry of the status item "rewards".
type partyReward struct {
	Party       peer.ID
	Evaluations int
	Sum         float64
	Alone       *struct{ Sum float64 }
}
