package past

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/fbo-node/fbo/internal/continuation"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/internal/store"
	"github.com/fbo-node/fbo/internal/taskref"
	"github.com/fbo-node/fbo/task"
)

// Continuation describes what a node on a data directory can use of the task that another one
// continues.
type Continuation struct {
	Task    string               `json:"task"`              // ID of the former task
	Problem string               `json:"problem,omitempty"` // why nothing can be used
	Changes []string             `json:"changes,omitempty"`
	Trials  int                  `json:"trials"` // that can be carried over
	Dropped continuation.Dropped `json:"dropped_trials,omitempty"`
	Shares  int                  `json:"peer_shares"` // of peers on the former task; some may be dropped
}

// FindContinuation reads a data directory; nil if t continues no task.
func FindContinuation(ctx context.Context, dir string, t *task.Task) *Continuation {
	if !t.Continues.Defined() {
		return nil
	}
	found := &Continuation{Task: t.Continues.String()}
	h, err := Read(ctx, dir, found.Task)
	if err != nil {
		found.Problem = err.Error()
		return found
	}
	c, err := task.Continue(h.Task, t)
	if err != nil {
		found.Problem = err.Error()
		return found
	}
	past, dropped := continuation.Trials(c, t, h.Trials)
	found.Changes, found.Trials, found.Dropped = c.Changes(), len(past), dropped
	if found.Shares, err = store.CachedShares(dir, found.Task); err != nil && !errors.Is(err, fs.ErrNotExist) {
		found.Problem = err.Error()
	}
	return found
}

// Write writes the description.
func (c *Continuation) Write(out io.Writer) {
	if c == nil {
		return
	}
	fmt.Fprintf(out, "continues   task %s\n", taskref.Short(c.Task))
	for _, change := range c.Changes {
		fmt.Fprintf(out, "change      %s\n", change)
	}
	if c.Problem != "" {
		fmt.Fprintf(out, "warning: nothing of the former task is used: %s\n", c.Problem)
		return
	}
	text := sanitize.Count(c.Trials, "trial")
	if dropped := c.Dropped.Total(); dropped > 0 {
		text += fmt.Sprintf(", %d dropped: %s", dropped, c.Dropped)
	}
	fmt.Fprintf(out, "carries     %s; %s of peers, as far as they are estimated optima\n", text, sanitize.Count(c.Shares, "stored share"))
}
