package base

import (
	"path/filepath"

	"github.com/fbo-node/fbo/task"
)

// LogDir returns the directory with the output of a task's trials.
func LogDir(dataDir string, t *task.Task) string {
	return filepath.Join(dataDir, "trials", t.ID().String())
}
