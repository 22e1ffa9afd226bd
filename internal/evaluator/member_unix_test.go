//go:build unix

package evaluator

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestMemberIsToldOf(t *testing.T) {
	member := &Member{Number: 3, Federation: 1 << 31}
	command, design := helper(t, "environment")
	command.Env = []string{"FBO_MEMBER=1", quickExit}
	if _, err := command.EvaluateOf(t.Context(), member, 12, design); err != nil {
		t.Fatal(err)
	}
	if got := outputOf(t, command.dir, 12); !strings.Contains(got, "FBO_MEMBER=3\nFBO_FEDERATION=2147483648\n") || strings.Contains(got, "FBO_MEMBER=1") {
		t.Errorf("the command learns\n%s", got)
	}

	line, err := workerRequest(12, design, member)
	if err != nil {
		t.Fatal(err)
	}
	var of struct{ Trial, Member, Federation uint64 }
	if err := json.Unmarshal(line, &of); err != nil || of.Trial != 12 || of.Member != 3 || of.Federation != 1<<31 {
		t.Errorf("%v: a worker reads %s", err, line)
	}
	alone, err := workerRequest(12, design, nil)
	if err != nil || strings.Contains(string(alone), "member") {
		t.Errorf("%v: without a member a worker reads %s", err, alone)
	}
}
