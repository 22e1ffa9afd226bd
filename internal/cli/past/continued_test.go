package past

import (
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// Before the first start on a task that continues another one, the trials that it will carry over
// count as trials of both: the warnings about joint disclosure are those of after the start. With
// the bounds as they were the grid is the same, and there is no warning.
func TestCarriedTrialsAreOfBothTasks(t *testing.T) {
	const head = "name: a\ngoal: minimize\nparameters:\n"
	former := strategytest.Task(t, all.Strategies(), "%s", head+"  - {name: x, type: float, low: 0, high: 8}\n")
	d, err := former.Space.NewDesign(task.FloatValue(0.5))
	if err != nil {
		t.Fatal(err)
	}
	histories := []History{{Task: former, Trials: []strategy.Trial{{ID: 1, Design: d, State: strategy.Done, Outcome: &strategy.Outcome{Value: 1}}}}}
	for high, warned := range map[string]bool{"8": false, "16": false, "1": true} {
		current := strategytest.Task(t, all.Strategies(), "%s",
			head+"  - {name: x, type: float, low: 0, high: "+high+"}\n  - {name: k, value: 3}\ncontinues: "+former.ID().String()+"\n")
		found := DisclosuresOf(current, histories, nil)
		if warned != (found != nil) {
			t.Errorf("high %s: %+v", high, found)
		}
		if found != nil && (found.Tasks[0].Trials != 1 || !strings.Contains(found.Lines()[0], "narrower bounds")) {
			t.Errorf("high %s: %+v", high, found.Tasks)
		}
	}
}
