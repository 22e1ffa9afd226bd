package agent

import (
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// Whoever has a task without its table can keep what others share, whatever the
// strategy, and cannot choose.
func TestWithoutItsTableATaskIsOnlyKept(t *testing.T) {
	space, err := task.NewListed([]task.Parameter{{Name: "x", Kind: task.Float, Low: 0, High: 1}},
		[][]task.Value{{task.FloatValue(0.25)}, {task.FloatValue(0.5)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all.Strategies() {
		if r.Private || r.Moves {
			continue // which need more keys
		}
		known, err := all.Strategies().NewTask(task.Spec{Name: "list", Goal: task.Minimize, Parameters: space.Parameters(), Listing: space.Listing(),
			Surrogate: task.Settings{"features": 64}, Strategy: task.Strategy{Type: r.Name}})
		if err != nil {
			t.Fatal(err)
		}
		absent, err := all.Strategies().ParseCanonical("journal", known.Canonical())
		if err != nil {
			t.Fatal(err)
		}
		config := Config{Task: absent, Strategies: all.Strategies(), Key: fbotest.Key(t, 1), Seed: random.SeedOf(1), Keep: true}
		if _, err := New(config, nil, epochStart); err != nil {
			t.Errorf("%s: %v", r.Name, err)
		}
		config.Keep = false
		if _, err := New(config, nil, epochStart); err == nil || !strings.Contains(err.Error(), "read without its table of 2 designs") {
			t.Errorf("%s: %v", r.Name, err)
		}
	}
}
