package show

import (
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/past"
	"github.com/fbo-node/fbo/internal/cli/render"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/internal/taskref"
	"github.com/fbo-node/fbo/strategy"
)

// writeSummaries prints a line for each task.
func writeSummaries(out io.Writer, s past.Summaries, asJSON bool) error {
	if asJSON {
		return base.PrintJSON(out, s)
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "task\tid\tdone\tfailed\tstopped\trunning\tbest\tlast change\tnode")
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
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", sanitize.Text(t.Name, 40), taskref.Short(t.ID),
			count(strategy.Done), count(strategy.Failed), count(strategy.StoppedEarly), count(strategy.Running), best, changed, runs)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "data directory %s: %s\n", s.DataDir, map[bool]string{true: "a node runs", false: "no node runs"}[s.Running])
	return err
}
