package base

import (
	"io"
	"os"
	"path/filepath"

	"github.com/fbo-node/fbo/internal/bounded"
	"github.com/fbo-node/fbo/internal/privacy/ledger"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// ReadTask reads a task file; "-" is standard input. A table of designs must be beside the file, or
// in the working directory. Errors are the user's.
func ReadTask(path string) (*task.Task, error) {
	var data []byte
	var err error
	folder := filepath.Dir(path)
	if path == "-" {
		data, err = io.ReadAll(io.LimitReader(os.Stdin, task.MaxFileBytes+1))
	} else {
		data, err = bounded.ReadFile(path, task.MaxFileBytes)
	}
	if err != nil {
		return nil, Usagef("task file: %w", err)
	}
	t, err := all.Strategies().ParseBeside(os.DirFS(folder), path, data)
	if err != nil {
		return nil, BadUsage(err)
	}
	if t.Privacy != nil {
		if _, err := ledger.NewTerms(t); err != nil {
			return nil, Usagef("%s: %w", path, err)
		}
	}
	return t, nil
}

// RegistrationOf returns the registration of the strategy of a task that ReadTask has read.
func RegistrationOf(t *task.Task) strategy.Registration {
	r, err := all.Strategies().Of(t)
	if err != nil {
		panic(err) // tasks are read by the same set
	}
	return r
}

// FileTask reads the task of a file; nil if the argument names no file. "-" is standard input.
func FileTask(wanted string) (*task.Task, error) {
	if info, err := os.Stat(wanted); wanted != "-" && (err != nil || info.IsDir()) {
		return nil, nil
	}
	return ReadTask(wanted)
}

// UnusableReason returns why other nodes cannot use the shares of nodes that have ended; empty if
// they can.
func UnusableReason(t *task.Task) string {
	if outdated := RegistrationOf(t).Disclosure(t).Outdated; outdated != nil {
		return outdated(t)
	}
	return ""
}
