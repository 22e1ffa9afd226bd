package show

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/cli/past"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy/all"
)

// TestCurvesOfANode: the journal of a node has values by step and stopped trials, which its exports
// have too, and so do its views.
func TestCurvesOfANode(t *testing.T) {
	of, err := all.Strategies().Parse("task", []byte("name: curves\ngoal: minimize\nparameters: [{name: x, type: float, low: 0, high: 1}]\nsurrogate: {features: 32}\nstrategy: {type: logei}\n"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	n := &node.Node{Strategies: all.Strategies(), Dir: dir, Listen: []string{"/ip4/127.0.0.1/tcp/0"}}
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	session, err := n.Join(t.Context(), of, node.JoinOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		trial, err := session.Ask(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := session.Report(t.Context(), trial.ID, node.Step{Step: 1, Value: 0.5}, node.Step{Step: 2, Value: float64(i)}); err != nil {
			t.Fatal(err)
		}
		switch i {
		case 0:
			err = session.Tell(t.Context(), trial.ID, 0.25)
		case 1:
			err = session.EndStopped(t.Context(), trial.ID, "the loss rose")
		case 2:
			err = session.Fail(t.Context(), trial.ID, "out of memory")
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	p, err := past.Read(t.Context(), dir, of.ID().String())
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	for _, c := range []struct{ format, want string }{
		{"csv", `,2,1,program,2,the loss rose,"[[1,0.5],[2,1]]"`},
		{"steps", "trial,step,value\n1,1,0.5\n1,2,0\n2,1,0.5\n2,2,1\n3,1,0.5\n3,2,2\n"},
		{"json", `"state":"stopped"`},
		{"optuna-journal", `"state":2,"value":1.0,`},
	} {
		file := filepath.Join(out, c.format)
		command := NewExport()
		command.SetArgs([]string{of.ID().String(), file, "--format", c.format, "--data-dir", dir})
		var said strings.Builder
		command.SetOut(&said)
		if err := command.ExecuteContext(t.Context()); err != nil {
			t.Fatalf("%s: %v", c.format, err)
		}
		text, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(text), c.want) || !strings.Contains(said.String(), "3 trials") {
			t.Errorf("%s, %v: %s\n%s", c.format, err, said.String(), text)
		}
	}
	var table strings.Builder
	if err := writeTable(&table, p); err != nil || !strings.Contains(table.String(), "stopped  (1 at step 2)") {
		t.Errorf("%v\n%s", err, table.String())
	}
}
