package taskcmd

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/cli/clitest"
	"github.com/fbo-node/fbo/strategy/all"
)

func TestFairTasksAreDescribed(t *testing.T) {
	for keys, wants := range map[string][]string{
		"": {
			"3 random designs, then in each round a batch with a design for each of 2 parties, chosen by one of them in turn, the others checking: " +
				"who has gained least being served first, weights exponential with rho 0.8, exploration varying; a round waits up to 300 seconds for late results (fair)\n",
			"Every one of the 2 parties sees all designs and raw results of every party, this node's among them.\n",
		},
		", mediator: " + clitest.PartyA: {
			"chosen by the mediator " + clitest.PartyA + ": who has gained least",
			"The mediator " + clitest.PartyA + " sees all designs and raw results of this node; the other parties see neither, but learn by how much",
		},
		", rho: 1":                       {"the largest sum for all, with no regard to who has gained least"},
		", weights: linear, rho: 3":      {"weights linear with rho 3"},
		", batch: ifu, round_timeout: 1": {"the order of the gains deciding who gets the best", "waits up to 1 second for"},
		", batch: two-step, c1: 0.2":     {"the largest sum, dealt out so that who has gained least gets the best, exploration varying"},
		", exploration: fixed, c2: 4":    {"exploration fixed"},
	} {
		parsed, err := all.Strategies().Parse("task.yaml", []byte(clitest.FairTask([]string{clitest.PartyA, clitest.PartyB}, keys)))
		if err != nil {
			t.Fatal(err)
		}
		promised, err := planOf(parsed)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		describeTask(&out, parsed)
		describePrivacy(&out, parsed, promised)
		for _, want := range wants {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%q is not in\n%s", want, out.String())
			}
		}
		if n := len(parsed.Roster()); n != 2 {
			t.Errorf("%d nodes on the roster", n)
		}
	}
	if n := len(clitest.MixedTask(t).Roster()); n != 0 {
		t.Errorf("%d nodes on the roster of a task that is open", n)
	}
}

// What is wrong with a section fair is said in one line.
func TestMistakesInFairTasks(t *testing.T) {
	both := []string{clitest.PartyA, clitest.PartyB}
	for _, c := range []struct {
		roster []string
		keys   string
		want   string
	}{
		{both, ", rho: 0", "task.yaml:8:139: strategy: rho 0 must be from 0.001 to 1"},
		{both, ", rho: 1.5", "task.yaml:8:139: strategy: rho 1.5 must be from 0.001 to 1"},
		{both, ", mediator: " + clitest.PartyC, "task.yaml:8:144: strategy: mediator " + clitest.PartyC + " must be one of the 2 nodes of the roster"},
		{both, ", mediator: bob", "strategy: mediator must be a peer ID, as `fbo-node peer-id` prints it, not the text \"bob\""},
		{both, ", batch: fiar", `strategy: batch must be one of fair, ifu, two-step, not the text "fiar"`},
		{both, ", batch: fiar, rho: 0.5", `strategy: batch must be one of fair, ifu, two-step, not the text "fiar"`},
		{both, ", batch: two-step, rho: 0.5", "strategy: rho applies only with batch: fair or ifu"},
		{both, ", round_timeout: 0", "strategy: round_timeout 0 must be a whole number from 1 to 604800"},
		{both, ", roster: []", `strategy: key "roster" is repeated`},
		{both[:1], "", "strategy: roster must name 2 to 64 nodes, not 1"},
		{[]string{clitest.PartyA, clitest.PartyA}, "", "strategy: roster: entry 2 repeats entry 1, " + clitest.PartyA},
		{[]string{clitest.PartyA, "bob"}, "", "strategy: roster: entry 2 must be a peer ID, as `fbo-node peer-id` prints it, not the text \"bob\""},
	} {
		_, err := all.Strategies().Parse("task.yaml", []byte(clitest.FairTask(c.roster, c.keys)))
		if got := fmt.Sprint(err); !strings.Contains(got, c.want) || strings.Contains(got, "\n") {
			t.Errorf("%s: got %q, want %q", c.keys, got, c.want)
		}
	}
	for replace, want := range map[[2]string]string{
		{"roster: [" + clitest.PartyA + ", " + clitest.PartyB + "]", "rho: 0.5"}: `strategy: missing key "roster"`,
		{"features: 64", "features: 64, type: rff"}:                              "strategy: type fair needs surrogate type exact, not rff",
		{"surrogate:", "constraints: [{name: c, high: 1}]\nsurrogate:"}:          "strategy: type fair takes no constraints, which the task has",
	} {
		_, err := all.Strategies().Parse("task.yaml", []byte(strings.Replace(clitest.FairTask(both, ""), replace[0], replace[1], 1)))
		if got := fmt.Sprint(err); !strings.Contains(got, want) || strings.Contains(got, "\n") {
			t.Errorf("%s: got %q, want %q", replace[1], got, want)
		}
	}
}
