package past

import (
	"context"
	"errors"
	"io/fs"

	"github.com/fbo-node/fbo/internal/cli/control"
	"github.com/fbo-node/fbo/internal/trialserver"
	"github.com/fbo-node/fbo/strategy"
)

// Summaries lists all tasks of a data directory.
type Summaries struct {
	DataDir string                `json:"data_dir"`
	Running bool                  `json:"running"` // a node runs on the directory
	Tasks   []trialserver.Summary `json:"tasks"`
}

// ReadSummaries asks the node that runs on a data directory, or reads its journal. Without a
// journal there are no tasks.
func ReadSummaries(ctx context.Context, dir string) (s Summaries, err error) {
	s.DataDir = dir
	if s.Running, err = control.Ask(ctx, dir, "/v1/known-tasks", &s); err != nil || s.Running {
		return s, err
	}
	j, err := openJournal(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	defer j.Close()
	err = j.each(func(id string, h History, err error) error {
		if unknown, is := errors.AsType[*strategy.UnknownError](err); is {
			s.Tasks = append(s.Tasks, trialserver.Unreadable(id, unknown))
			return nil
		}
		if err == nil {
			s.Tasks = append(s.Tasks, trialserver.Summarise(h.Task, h.Trials))
		}
		return err
	})
	trialserver.SortSummaries(s.Tasks)
	return s, err
}
