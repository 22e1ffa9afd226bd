package democmd

import (
	"strings"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/cli/clitest"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// TestReportAsksTheTask: which of two results is better is the task's matter.
func TestReportAsksTheTask(t *testing.T) {
	summaries := func(values ...float64) (all []nodeSummary) {
		for _, v := range values {
			all = append(all, nodeSummary{Best: &nodeTrial{Outcome: &strategy.Outcome{Value: v}}, curve: []float64{v}})
		}
		return all
	}
	up := clitest.MixedTask(t) // bigger is better
	down := *up
	down.Goal = task.Minimize
	for want, spec := range map[string]*task.Task{
		"Better together: 2 of 4 nodes, worse: 1.": up,
		"Better together: 1 of 4 nodes, worse: 2.": &down,
	} {
		var out strings.Builder
		newReport(spec, 1, time.Second, summaries(2, 5, 5, 1), summaries(1, 4, 5, 3)).write(&out)
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s\nwant %q", out.String(), want)
		}
	}
}
