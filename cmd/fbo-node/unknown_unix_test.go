//go:build unix

package main_test

import (
	"context"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/taskref"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/strategy/alone"
	"github.com/fbo-node/fbo/task"
)

// tuneByOwn is an embedding program with a strategy of its own: it evaluates one
// design of a task and returns the task's ID.
func tuneByOwn(t *testing.T, dir string) string {
	t.Helper()
	strategies := append(all.Strategies(), strategy.Registration{
		StrategyType: task.StrategyType{Name: "own-strategy"},
		New:          func(t *task.Task) (strategy.Strategy, error) { return alone.NewTS(t), nil },
		Describe:     func(*task.Task) string { return "Thompson sampling alone" },
	})
	spec, err := strategies.Parse("task.yaml", []byte(strings.Replace(bowlTask, "fts", "own-strategy", 1)))
	if err != nil {
		t.Fatal(err)
	}
	n := &node.Node{Dir: dir, Listen: []string{"/ip4/127.0.0.1/tcp/0"}, Strategies: strategies}
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	session, err := n.Join(t.Context(), spec, node.JoinOptions{})
	if err != nil {
		t.Fatal(err)
	}
	one := func(context.Context, task.Design) (float64, error) { return 1, nil }
	if err := session.Run(t.Context(), one, node.RunOptions{Evals: 1}); err != nil {
		t.Fatal(err)
	}
	return spec.ID().String()
}

// The task of another program in the data directory is neither damage nor in the way
// of the others.
func TestTaskWithAnUnknownStrategy(t *testing.T) {
	t.Parallel()
	dir := shortTempDir(t)
	id := tuneByOwn(t, dir)
	d := diagnose(t, "--data-dir", dir)
	d.expect(t, "journal", "ok", `^whole: 0 trials on 0 tasks; 1 task of another program, by a strategy unknown to this one: "own-strategy"$`)
	for _, command := range []string{"status", "history"} {
		for _, args := range [][]string{{command, "--data-dir", dir}, {command, id, "--data-dir", dir}} {
			e := call(t, args...)
			want := `strategy "own-strategy" is unknown to this program; the program that wrote it can read it`
			if e.code != base.ExitFailed || !strings.HasSuffix(e.stderr, want+"\n") || strings.Count(e.stderr, "\n") != 1 {
				t.Errorf("%q: exit code %d, %s", args, e.code, e.stderr)
			}
		}
	}

	file := writeFile(t, "task.yaml", bowlTask)
	must(t, join([]string{"run", file, "--data-dir", dir, "--mdns=false", "--evals", "2"}, objective("bowl"))...)
	diagnose(t, "--data-dir", dir).expect(t, "journal", "ok", "^whole: 2 trials on 1 task; 1 task of another program, ")
	e := call(t, "history", "--data-dir", dir)
	if e.code != base.ExitUsage || !strings.Contains(e.stderr, `strategy "own-strategy", unknown to this program (`+taskref.Short(id)+")") || !strings.Contains(e.stderr, ", bowl (") {
		t.Errorf("exit code %d, %s", e.code, e.stderr)
	}
	must(t, "history", file, "--data-dir", dir)
}
