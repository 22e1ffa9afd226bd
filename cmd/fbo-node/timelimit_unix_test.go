//go:build unix

package main_test

import (
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/cli/base"
)

// TestForEndsRun checks that --for ends a run with exit code 0 and a line about it, that the
// evaluation which runs then has its outcome, and that the next run has the whole time again.
func TestForEndsRun(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", bowlTask), shortTempDir(t)
	started := 0
	for run := 1; run <= 2; run++ {
		p := start(t, join(runLine(file, dir, "--for", "2s", "--evals", "50", "--wait-for-peers", "0", "--json"), []string{"--", "sh", "-c", "sleep 3; echo 1"})...)
		if code := p.wait(t); code != base.ExitDone || len(p.of("time_limit_reached")) != 1 || len(p.of("summary")) != 1 {
			t.Fatalf("run %d: exit code %d, events %+v, %s", run, code, p.all(), p.stderr.String())
		}
		now := len(p.of("trial_started")) // none, if the machine needs two seconds for a design
		started += now
		if s := statusOf(t, dir); now > 1 || s.Trials["done"] != started || len(s.Trials) > 1 {
			t.Fatalf("after run %d, which started %d evaluations: %+v", run, now, s.Trials)
		}
	}
	text := must(t, join(runLine(file, dir, "--for", "1h", "--evals", "3", "--wait-for-peers", "0"), objective("bowl"))...)
	if strings.Contains(text, "--for") || !strings.Contains(text, "best ") {
		t.Errorf("--evals ended this run, it prints\n%s", text)
	}
	text = must(t, join(runLine(file, dir, "--for", "1ms"), []string{"--", "sh", "-c", "sleep 1; echo 1"})...)
	if !strings.Contains(text, "\n--for 1ms ended the run; the same command begins with the whole time again\nbest ") {
		t.Errorf("without --evals it prints\n%s", text)
	}
}
