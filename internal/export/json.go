package export

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// document is the object that JSON writes.
type document struct {
	ID     string          `json:"id"`
	Task   json.RawMessage `json:"task"` // task.Task.File, a task file with this ID
	Trials []judged        `json:"trials"`

	Items []strategy.StatusItem `json:"items,omitempty"`
}

// judged is a trial in the form that the command history prints. If the task has constraints, it
// includes whether the trial is feasible.
type judged struct {
	strategy.Trial
	Feasible *bool `json:"feasible,omitempty"`
}

// JSON writes one object: the task's ID, the task with all defaults, its trials, and the status
// items of its exchanges.
func JSON(out io.Writer, of *task.Task, trials []strategy.Trial, items []strategy.StatusItem) error {
	d := document{ID: of.ID().String(), Task: of.File(), Trials: []judged{}, Items: items}
	for _, t := range trials {
		d.Trials = append(d.Trials, judged{t, feasible(of, t)})
	}
	return writeLine(out, d)
}

// feasible returns whether a trial is feasible. It returns nil for a trial without an outcome, and
// for a task without constraints.
func feasible(of *task.Task, t strategy.Trial) *bool {
	if t.Outcome == nil || len(of.Constraints) == 0 {
		return nil
	}
	return new(of.Feasible(t.Outcome))
}

// writeLine writes a value as one line of JSON that is safe to display.
func writeLine(out io.Writer, value any) error {
	var b bytes.Buffer
	if err := newEncoder(&b).Encode(value); err != nil {
		return err
	}
	_, err := out.Write(sanitize.JSON(b.Bytes()))
	return err
}

func newEncoder(out io.Writer) *json.Encoder {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return encoder
}
