package run

import (
	"io"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/evaluator/triallog"
	"github.com/fbo-node/fbo/task"
)

// printed returns a function that writes the output of a trial's command, as log does.
func printed(dataDir string) func(of *task.Task, trial uint64, out io.Writer) error {
	return func(of *task.Task, trial uint64, out io.Writer) error {
		reader := triallog.NewReader(base.LogDir(dataDir, of), trial)
		defer reader.Close()
		_, err := reader.CopyTo(out)
		return err
	}
}
