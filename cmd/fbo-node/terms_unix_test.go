//go:build unix

package main_test

import (
	"strings"
	"testing"
)

// The first join of an open task shows in full who can take part and what peers receive; all other
// starts show a line of each, with the page of the manual.
func TestTermsAreShort(t *testing.T) {
	t.Parallel()
	const full, learn = "The task is open: each host that reaches a port", "Peers receive samples"
	file, dir := writeFile(t, "task.yaml", bowlTask), shortTempDir(t)
	run := func(dir string, flags ...string) string {
		return must(t, join(runLine(file, dir, join([]string{"--evals", "1"}, flags)...), objective("bowl"))...)
	}
	if out := run(dir); !strings.Contains(out, full) || !strings.Contains(out, learn) {
		t.Errorf("the first start of an open task:\n%s", out)
	}
	invitation, _ := invite(t, file)
	for _, c := range []struct{ what, out, want string }{
		{"the second start", run(dir), "open: all nodes that reach a port of one of its nodes can take part and read shares (docs/network.md#who-may-take-part)"},
		{"with an invitation", run(shortTempDir(t), "--invite", invitation), "closed: only nodes that have the invitation take part (docs/network.md#who-may-take-part)"},
	} {
		for _, line := range []string{c.want, "shares: `fbo-node task check` shows what peers can learn from them (docs/privacy.md)"} {
			if strings.Count(c.out, line+"\n") != 1 || len(line) > 120 {
				t.Errorf("%s: %q is missing, is there more than once, or is long, in\n%s", c.what, line, c.out)
			}
		}
		if strings.Contains(c.out, full) || strings.Contains(c.out, learn) {
			t.Errorf("%s: the full text is shown\n%s", c.what, c.out)
		}
	}
}
