package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/control"
	"github.com/fbo-node/fbo/internal/cli/render"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/internal/taskref"
	"github.com/fbo-node/fbo/internal/trialserver"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
)

// summaries are all tasks of a data directory.
type summaries struct {
	DataDir string                `json:"data_dir"`
	Running bool                  `json:"running"` // a node runs on the directory
	Tasks   []trialserver.Summary `json:"tasks"`
}

// readSummaries asks the node that runs on a data directory, or reads its journal. No journal
// has no tasks.
func readSummaries(ctx context.Context, dir string) (s summaries, err error) {
	s.DataDir = dir
	if s.Running, err = control.Ask(ctx, dir, "/v1/known-tasks", &s); err != nil || s.Running {
		return s, err
	}
	archive, err := node.OpenArchive(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	defer archive.Close()
	ids, err := archive.Tasks()
	if err != nil {
		return s, err
	}
	for _, id := range ids {
		h, err := archive.History(id, all.Strategies())
		if unknown, is := errors.AsType[*strategy.UnknownError](err); is {
			s.Tasks = append(s.Tasks, trialserver.Unreadable(id, unknown))
			continue
		}
		if err != nil {
			return s, err
		}
		markInterrupted(h.Trials)
		s.Tasks = append(s.Tasks, trialserver.Summarise(h.Task, h.Trials))
	}
	trialserver.SortSummaries(s.Tasks)
	return s, nil
}

// write prints a line for each task.
func (s summaries) write(out io.Writer, asJSON bool) error {
	if asJSON {
		return base.PrintJSON(out, s)
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "task\tid\tdone\tfailed\trunning\tbest\tlast change\tnode")
	for _, t := range s.Tasks {
		best, changed, runs := "-", "-", "-"
		if t.Best != nil {
			best = render.Number(*t.Best)
		}
		if !t.Changed.IsZero() {
			changed = t.Changed.Local().Format(time.DateTime)
		}
		if t.Running {
			runs = "running"
		}
		count := func(state strategy.State) string { return strconv.Itoa(t.Trials[string(state)]) }
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", sanitize.Text(t.Name, 40), taskref.Short(t.ID),
			count(strategy.Done), count(strategy.Failed), count(strategy.Running), best, changed, runs)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "data directory %s: %s\n", s.DataDir, map[bool]string{true: "a node runs", false: "no node runs"}[s.Running])
	return err
}
