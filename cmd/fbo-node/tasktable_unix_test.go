//go:build unix

package main_test

import (
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/fbo-node/fbo/internal/cli/past"
	"github.com/fbo-node/fbo/internal/taskref"
)

// status without a task lists all tasks, also those that the running node does not work on.
func TestStatusListsAllTasks(t *testing.T) {
	t.Parallel()
	dir := shortTempDir(t)
	first := writeFile(t, "first.yaml", strings.Replace(bowlTask, "bowl", "first", 1))
	second := writeFile(t, "second.yaml", bowlTask)
	must(t, join(runLine(first, dir, "--evals", "2"), objective("bowl"))...)
	g := newGate(t)
	p := start(t, join(runLine(second, dir, "--json"), objective("gate", g.address, "4"))...)
	h := g.next(t) // three trials are done, the fourth runs
	check := func(when, node, running, end string) {
		t.Helper()
		table := must(t, "status", "--data-dir", dir)
		date := `\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`
		for _, want := range []string{
			`(?m)^task +id +done +failed +stopped +running +best +last change +node$`,
			`(?m)^first +` + taskref.Short(idOf(t, first)) + ` +2 +0 +0 +0 +[\d.e-]+ +` + date + ` +-$`,
			`(?m)^bowl +` + taskref.Short(idOf(t, second)) + ` +3 +0 +0 +` + running + ` +[\d.e-]+ +` + date + ` +` + node + `$`,
			end + `\n$`,
		} {
			if !regexp.MustCompile(want).MatchString(table) {
				t.Errorf("%s: %s is missing in\n%s", when, want, table)
			}
		}
		var s past.Summaries
		decode(t, must(t, "status", "--json", "--data-dir", dir), &s)
		if len(s.Tasks) != 2 || s.Tasks[0].Name != "bowl" || s.Tasks[0].Trials["done"] != 3 || s.Running != (node == "running") || s.Tasks[0].Running != s.Running || s.Tasks[1].Running {
			t.Errorf("%s: %+v", when, s)
		}
	}
	check("while a node runs", "running", "1", "a node runs")
	p.signal(t, syscall.SIGINT)
	h.waitGone(t)
	p.wait(t)
	check("after it", "-", "0", "no node runs")
}

func idOf(t *testing.T, file string) string {
	t.Helper()
	return strings.TrimSpace(must(t, "task", "id", file))
}
