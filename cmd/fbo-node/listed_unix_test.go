//go:build unix

package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/cli/base"
)

// listedTask names a table of twelve designs on a circle road.
const listedTask = `name: listed
goal: minimize
parameters:
  - {name: x, type: float, low: -2, high: 2}
  - {name: y, type: float, low: -2, high: 2}
designs:
  file: tables/roads.csv
surrogate: {features: 64}
strategy: {type: logei}
`

func circle() string {
	var b strings.Builder
	b.WriteString("x,y,neighbors\n")
	for i := range 12 {
		fmt.Fprintf(&b, "%g,%g,%d;%d\n", float64(i%4)/2-0.7, float64(i/4)/2-0.3, (i+11)%12+1, (i+1)%12+1)
	}
	return b.String()
}

// writeListed writes a task file and its table; it returns the path of the file.
func writeListed(t *testing.T, text, table string) string {
	t.Helper()
	file := writeFile(t, "task.yaml", text)
	path := filepath.Join(filepath.Dir(file), "tables", "roads.csv")
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(table), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// A node evaluates all listed designs and no others, goes on after a restart, and its
// history is read without the table.
func TestNodeKeepsToListedDesigns(t *testing.T) {
	t.Parallel()
	file, dir := writeListed(t, listedTask, circle()), shortTempDir(t)
	if out := must(t, "task", "check", file); !strings.Contains(out, "\ndesigns     12 designs of tables/roads.csv\n") {
		t.Errorf("%s", out)
	}
	for _, evaluations := range []string{"7", "12"} {
		must(t, join(runLine(file, dir, "--json", "--seed", "1", "--evals", evaluations), objective("bowl"))...)
	}
	if err := os.Remove(filepath.Join(filepath.Dir(file), "tables", "roads.csv")); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, trial := range historyOf(t, dir) {
		design := string(trial.Parameters)
		if seen[design] {
			t.Errorf("%s twice", design)
		}
		seen[design] = true
	}
	if len(seen) != 12 {
		t.Errorf("%d designs were evaluated: %v", len(seen), seen)
	}
	must(t, "best", "--data-dir", dir)
	must(t, "status", "--data-dir", dir)
}

// What a user reads when table and task do not go together: one line, exit code 2.
func TestListedDesignsErrors(t *testing.T) {
	t.Parallel()
	good := writeListed(t, listedTask, circle())
	var checked struct{ Task json.RawMessage }
	decode(t, must(t, "task", "check", "--json", good), &checked)
	canonical := writeFile(t, "canonical.json", string(checked.Task))
	outside := writeFile(t, "first.csv", "x,y\n0,0\n")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"task", "check", writeFile(t, "task.yaml", listedTask)}, `.*task.yaml:7:9: designs: file "tables/roads.csv": no such file or directory`},
		{[]string{"task", "id", writeListed(t, listedTask, "x,y\n0,0\n0,3\n")}, `.*tables/roads.csv:3:3: parameter "y": 3 is not accepted; .*`},
		{[]string{"task", "id", writeListed(t, listedTask, "x,y,neighbors\n0,0,2\n0,1,\n")}, ".*tables/roads.csv:2:1: neighbor 2 does not name row 1 as its neighbor\n.*tables/roads.csv:3:1: the design has no neighbor; every design needs at least one"},
		{[]string{"task", "id", writeListed(t, strings.Replace(listedTask, "  file", "  max_moves: 1\n  file", 1), circle())}, ".*task.yaml:10:18: strategy: type logei goes to any design at once, .*"},
		{[]string{"run", canonical, "--", os.Args[0]}, ".*canonical.json: it has the digest of a table of 12 designs and not the table, which a node needs to choose: take the task file that names it"},
		{append(runLine(good, shortTempDir(t), "--enqueue", outside), "--", os.Args[0]), `enqueue: .*first.csv: line 2: .*x=0 y=0 is none of the 12 listed designs`},
	} {
		e := call(t, c.args...)
		if e.code != base.ExitUsage || !regexp.MustCompile(`\Afbo-node: `+c.want+`\n\z`).MatchString(e.stderr) {
			t.Errorf("%q: exit code %d, got\n%swant\n%s", c.args, e.code, e.stderr, c.want)
		}
	}
	if id, other := must(t, "task", "id", good), must(t, "task", "id", canonical); id != other {
		t.Errorf("the canonical form has ID %s, want %s", other, id)
	}
	if out := must(t, "task", "check", canonical); !strings.Contains(out, "\ndesigns     12 designs of a table that is not here: shares can be kept and passed on, no design can be chosen\n") {
		t.Errorf("%s", out)
	}
}
