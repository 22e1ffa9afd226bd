package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/fbo-node/fbo/task"
)

// screen shows the demo's nodes: on a terminal a line per node that is written
// over, elsewhere a line per evaluation.
type screen struct {
	mu       sync.Mutex
	out      io.Writer
	live     bool
	together bool
	lines    []string
	drawn    bool
}

func newScreen(out io.Writer, live bool, nodes int) *screen {
	return &screen{out: out, live: live, lines: make([]string, nodes)}
}

func (s *screen) begin(together bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.together, s.drawn = together, false
	for i := range s.lines {
		s.lines[i] = fmt.Sprintf("  node %d  starting", i)
	}
	s.draw()
}

func (s *screen) trial(i int, e nodeEvent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	why := e.Trial.Why.String()
	what := "failed: " + e.Trial.Reason
	if e.Trial.Outcome != nil {
		what = fmt.Sprintf("loss %-9s", number(e.Trial.Outcome.Value))
	}
	if e.Best != nil {
		what += fmt.Sprintf("  best %-9s", number(e.Best.Outcome.Value))
	}
	s.lines[i] = fmt.Sprintf("  node %d  evaluation %-3d %s  %s", i, e.Trial.ID, what, why)
	if s.live {
		s.draw()
	} else {
		fmt.Fprintln(s.out, s.lines[i])
	}
}

func (s *screen) warning(i int, message string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.out, "  node %d  warning: %s\n", i, message)
	s.drawn = false
}

// draw writes all lines over those drawn before.
func (s *screen) draw() {
	if !s.live {
		return
	}
	if s.drawn {
		fmt.Fprintf(s.out, "\x1b[%dA", len(s.lines))
	}
	s.drawn = true
	for _, line := range s.lines {
		fmt.Fprintf(s.out, "\x1b[2K%.110s\n", line)
	}
}

// report is the demo's result, as demo --json prints it.
type report struct {
	Task    string       `json:"task"`
	Seconds float64      `json:"seconds"`
	Nodes   []reportNode `json:"nodes"`
}

type reportNode struct {
	PeerID         string      `json:"peer_id"`
	Evaluations    int         `json:"evaluations"`
	Best           reportBest  `json:"best"`
	Alone          reportAlone `json:"alone"`
	PeerQueries    int         `json:"peer_queries"`
	PeerRecords    int         `json:"peer_records"`
	SharesSent     int         `json:"shares_sent"`
	SharesReceived int         `json:"shares_received"`
	BytesSent      int64       `json:"bytes_sent"`

	compared int // 1 when together was better, -1 when alone was
}

type reportBest struct {
	Value      float64         `json:"value"`
	Parameters json.RawMessage `json:"parameters"`
}

type reportAlone struct {
	Value float64 `json:"value"`
}

func newReport(t *task.Task, took time.Duration, together, alone []nodeSummary) report {
	r := report{Task: t.ID().String(), Seconds: math.Round(took.Seconds()*10) / 10}
	for i, s := range together {
		r.Nodes = append(r.Nodes, reportNode{
			PeerID:         s.PeerID,
			Evaluations:    s.Evaluations,
			Best:           reportBest{s.Best.Outcome.Value, s.Best.Parameters},
			Alone:          reportAlone{alone[i].Best.Outcome.Value},
			PeerQueries:    s.PeerQueries,
			PeerRecords:    s.PeerRecords,
			SharesSent:     s.SharesSent,
			SharesReceived: s.SharesReceived,
			BytesSent:      s.BytesSent,
			compared:       t.Compare(s.Best.Outcome, alone[i].Best.Outcome),
		})
	}
	return r
}

func (r report) write(out io.Writer) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "\nnode\tbest together\tbest alone\tfrom peers\tof these new bests\tshares sent\tshares received\tbytes sent\t")
	won, lost, together, alone := 0, 0, 0.0, 0.0
	for i, n := range r.Nodes {
		fmt.Fprintf(table, "%d\t%.4g\t%.4g\t%d of %d\t%d\t%d\t%d\t%d\t\n", i, n.Best.Value, n.Alone.Value,
			n.PeerQueries, n.Evaluations, n.PeerRecords, n.SharesSent, n.SharesReceived, n.BytesSent)
		together += n.Best.Value / float64(len(r.Nodes))
		alone += n.Alone.Value / float64(len(r.Nodes))
		won += max(n.compared, 0)
		lost += max(-n.compared, 0)
	}
	table.Flush()
	fmt.Fprintln(out, strings.Join([]string{
		"",
		fmt.Sprintf("Best validation loss, smaller is better: mean %.4g together, %.4g alone. Together was better on %d of %d nodes, worse on %d.",
			together, alone, won, len(r.Nodes), lost),
		"One run is one throw of the dice: try other seeds with --seed before concluding.",
		fmt.Sprintf("Took %.1f s.", r.Seconds),
	}, "\n"))
}
