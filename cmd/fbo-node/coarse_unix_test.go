//go:build unix

package main_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
)

// A task file whose edit makes a node disclose more of its optimum has a warning in task check
// and run. Other edits have none.
func TestEditsThatDiscloseMore(t *testing.T) {
	t.Parallel()
	const file = "name: %s\ngoal: minimize\nparameters:\n  - {name: %s, type: float, low: %s, high: 2}\n  - {name: y, type: float, low: -2, high: 2}\nsurrogate: {features: 64}\n"
	dir := shortTempDir(t)
	must(t, join(runLine(writeFile(t, "first.yaml", fmt.Sprintf(file, "first", "x", "-2")), dir, "--wait-for-peers", "0", "--evals", "2"), objective("bowl"))...)
	for edited, want := range map[string]string{
		fmt.Sprintf(file, "second", "x", "-2"):  "",
		fmt.Sprintf(file, "first", "x", "-3"):   "",
		fmt.Sprintf(file, "first", "x", "1.5"):  "narrower bounds disclose more of the optimum than before: x to 0.17",
		fmt.Sprintf(file, "first", "x1", "-2"):  "1 parameter of another name or scale has cells of its own",
		fmt.Sprintf(file, "first", "x1", "-30"): "", // another shape and no trial in common: other data
	} {
		out := must(t, "task", "check", "--data-dir", dir, writeFile(t, "edited.yaml", edited))
		if warned := strings.Contains(out, "has shared coarse designs"); warned != (want != "") || !strings.Contains(out, want) {
			t.Errorf("%s: expected %q in\n%s", edited, want, out)
		}
	}
	p, _ := startServe(t, dir)
	client := socketClient(dir)
	mustRequest(t, 201, client, "POST", "/v1/tasks", object{"text": fmt.Sprintf(file, "wider", "x", "-3")})
	mustRequest(t, 201, client, "POST", "/v1/tasks", object{"text": fmt.Sprintf(file, "narrower", "x", "1.5")})
	p.await(t, "a warning of the narrower bounds", func(e event) bool { return strings.Contains(e.Message, "narrower bounds disclose more") })
	for _, e := range p.of("warning") {
		if strings.Contains(e.Message, "has shared coarse designs") && !strings.Contains(e.Message, "narrower bounds disclose more") {
			t.Errorf("serve warns: %s", e.Message)
		}
	}
	p.signal(t, syscall.SIGTERM)
	p.wait(t)

	out := must(t, join(runLine(writeFile(t, "renamed.yaml", fmt.Sprintf(file, "first", "x1", "-2")), dir, "--wait-for-peers", "0", "--evals", "1"), objective("steady"))...)
	if !strings.Contains(out, "warning: task \"first\"") || !strings.Contains(out, "has cells of its own") {
		t.Errorf("run does not warn:\n%s", out)
	}
}
