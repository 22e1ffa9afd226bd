//go:build unix

package main_test

import (
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/cli/base"
)

// TestStopRegretEndsRun: --stop-regret ends a run before its evaluations are used up, says so, and
// history tells why, of a node that stays too; the same line again evaluates nothing.
func TestStopRegretEndsRun(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", bowlTask), shortTempDir(t)
	line := join(runLine(file, dir, "--evals", "60", "--stop-regret", "1.5", "--seed", "1"), objective("bowl"))
	text := must(t, line...)
	const why = "the best design lacks at most "
	if !strings.Contains(text, "\nstopped: after ") || !strings.Contains(text, why) || !strings.Contains(text, "; --stop-regret 1.5 ended the run\n") {
		t.Errorf("got\n%s", text)
	}
	trials := historyOf(t, dir)
	if len(trials) < 20 || len(trials) >= 60 {
		t.Errorf("%d trials", len(trials))
	}
	if text := must(t, "history", file, "--data-dir", dir); !strings.Contains(text, why) {
		t.Errorf("history prints\n%s", text)
	}
	keeper := start(t, join(runLine(file, dir, "--stop-regret", "1.5", "--keep-after", "--json"), objective("exit"))...)
	keeper.await(t, "its end", isEvent("stop_regret_reached"))
	if text := must(t, "history", file, "--data-dir", dir); !strings.Contains(text, why) {
		t.Errorf("of a node that stays history prints\n%s", text)
	}
	interrupt(t, keeper)
	p := start(t, join(runLine(file, dir, "--stop-regret", "1.5", "--json"), objective("exit"))...)
	if code := p.wait(t); code != base.ExitDone || len(p.of("stop_regret_reached")) != 1 || len(p.of("trial_started")) != 0 {
		t.Errorf("exit code %d, events %+v", code, p.all())
	}
	text = must(t, join(runLine(file, dir, "--evals", "1", "--stop-regret", "1e-9"), objective("bowl"))...)
	if strings.Contains(text, "stopped: ") || !strings.Contains(text, "earlier runs made all 1 evaluations") {
		t.Errorf("for less regret it prints\n%s", text)
	}
}
