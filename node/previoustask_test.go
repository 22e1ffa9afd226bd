package node_test

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// A program whose task file has changed is warned once that the previous task's trials are not used.
func TestChangedTaskWarnsOfTheFormerOne(t *testing.T) {
	t.Parallel()
	const text = "name: line\ngoal: minimize\nparameters:\n  - {name: x, type: float, low: 0, high: 1}\nstrategy: {type: ts}\n"
	old, changed := parse(t, text), parse(t, strings.Replace(text, "high: 1", "high: 2", 1))
	other := parse(t, strings.Replace(text, "name: line", "name: other", 1))
	var warnings []string
	n := &node.Node{Strategies: all.Strategies(), Dir: t.TempDir(), Listen: loopbackAddresses(), OnWarning: func(message string) { warnings = append(warnings, message) }}
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	one := func(context.Context, task.Design) (float64, error) { return 1, nil }
	for _, of := range []*task.Task{old, other} {
		session, err := n.Join(t.Context(), of, node.JoinOptions{Wait: -1})
		if err != nil {
			t.Fatal(err)
		}
		if err := session.Run(t.Context(), one, node.RunOptions{Evals: 2}); err != nil {
			t.Fatal(err)
		}
	}
	if len(warnings) > 0 {
		t.Errorf("without a change: %q", warnings)
	}
	session, err := n.Join(t.Context(), changed, node.JoinOptions{Wait: -1})
	if err != nil {
		t.Fatal(err)
	}
	short := old.ID().String()[:18]
	if len(warnings) != 1 {
		t.Fatalf("warnings: %q, expected one", warnings)
	}
	for _, want := range []string{`task "line"`, "2 trials of another task of this name, " + short, `changed: parameter "x"`, "`fbo-node history " + short + " --format csv > past.csv`", "docs/changing-a-task.md"} {
		if !strings.Contains(warnings[0], want) {
			t.Errorf("%q is missing in %q", want, warnings[0])
		}
	}
	status, err := session.Status(t.Context())
	want := []node.PreviousTask{{Task: old.ID().String(), Trials: 2, Differences: []string{`parameter "x"`}}}
	if err != nil || !reflect.DeepEqual(status.PreviousTasks, want) {
		t.Errorf("status: %+v, %v, expected %+v", status.PreviousTasks, err, want)
	}
	if err := session.Run(t.Context(), one, node.RunOptions{Evals: 1}); err != nil {
		t.Fatal(err)
	}
	if err := session.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Join(t.Context(), changed, node.JoinOptions{Wait: -1}); err != nil {
		t.Fatal(err)
	}
	if len(warnings) != 1 {
		t.Errorf("with trials of its own: %q", warnings)
	}
}
