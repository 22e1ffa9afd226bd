//go:build unix

package evaluator

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestACommandGetsItsMember(t *testing.T) {
	member := &Member{Number: 3, Federation: 1 << 31}
	command, design := helper(t, "environment")
	command.Env = []string{"FBO_MEMBER=1", quickExit}
	if _, err := command.Evaluate(t.Context(), Trial{ID: 12, Design: design, Member: member}, nil); err != nil {
		t.Fatal(err)
	}
	got := strings.Split(outputOf(t, command.dir, 12), "\n") // lines of the two streams come in any order
	for _, line := range []string{"FBO_MEMBER=3", "FBO_FEDERATION=2147483648"} {
		if !slices.Contains(got, line) {
			t.Errorf("the command gets no %s: %q", line, got)
		}
	}
	if slices.Contains(got, "FBO_MEMBER=1") {
		t.Errorf("the command gets the member of its own environment too: %q", got)
	}

	line, err := workerRequest(Trial{ID: 12, Design: design, Member: member})
	if err != nil {
		t.Fatal(err)
	}
	var of struct{ Trial, Member, Federation uint64 }
	if err := json.Unmarshal(line, &of); err != nil || of.Trial != 12 || of.Member != 3 || of.Federation != 1<<31 {
		t.Errorf("%v: a worker reads %s", err, line)
	}
	alone, err := workerRequest(Trial{ID: 12, Design: design})
	if err != nil || strings.Contains(string(alone), "member") {
		t.Errorf("%v: without a member a worker reads %s", err, alone)
	}
}
