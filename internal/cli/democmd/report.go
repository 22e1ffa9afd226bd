package democmd

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/task"
)

// Report is the demo's result, as demo --json prints it.
type Report struct {
	Task               string       `json:"task"`
	Seed               uint64       `json:"seed"`
	Seconds            float64      `json:"seconds"`
	Nodes              []reportNode `json:"nodes"`
	Curves             curves       `json:"curves"`
	EvaluationsToAlone int          `json:"evaluations_to_alone"` // evaluations together until the final mean of alone; 0 for never
	NodesBetter        float64      `json:"nodes_better"`         // number of nodes that were better together; ties count half
}

type reportNode struct {
	PeerID             string      `json:"peer_id"`
	Evaluations        int         `json:"evaluations"`
	Best               reportBest  `json:"best"`
	Alone              reportAlone `json:"alone"`
	PeerInformedTrials int         `json:"peer_informed_trials"`
	SharesSent         int         `json:"shares_sent"`
	SharesReceived     int         `json:"shares_received"`
	BytesSent          int64       `json:"bytes_sent"`

	compared int // 1 if together was better, -1 if alone was
}

type reportBest struct {
	Value      float64         `json:"value"`
	Parameters json.RawMessage `json:"parameters"`
}

type reportAlone struct {
	Value float64 `json:"value"`
}

func newReport(t *task.Task, seed uint64, took time.Duration, together, alone []nodeSummary) Report {
	r := Report{Task: t.ID().String(), Seed: seed, Seconds: math.Round(took.Seconds()*10) / 10, Curves: newCurves(together, alone)}
	r.EvaluationsToAlone = r.Curves.reached()
	for i, s := range together {
		compared := t.Compare(s.Best.Outcome, alone[i].Best.Outcome)
		r.NodesBetter += float64(1+compared) / 2
		r.Nodes = append(r.Nodes, reportNode{
			PeerID:             s.PeerID,
			Evaluations:        s.Evaluations,
			Best:               reportBest{s.Best.Outcome.Value, s.Best.Parameters},
			Alone:              reportAlone{alone[i].Best.Outcome.Value},
			PeerInformedTrials: s.PeerInformedTrials,
			SharesSent:         s.SharesSent,
			SharesReceived:     s.SharesReceived,
			BytesSent:          s.BytesSent,
			compared:           compared,
		})
	}
	return r
}

// plotRows leave room on 24 lines for the table and the text below.
const plotRows = 6

func (r Report) write(out io.Writer) {
	won, lost, fromPeers, made := 0, 0, 0, 0
	var bytes int64
	for _, n := range r.Nodes {
		won += max(n.compared, 0)
		lost += max(-n.compared, 0)
		fromPeers += n.PeerInformedTrials
		made += n.Evaluations
		bytes += n.BytesSent
	}
	fmt.Fprintln(out, "Mean best loss of the nodes after each evaluation (t together, a alone, * both):")
	for _, line := range r.Curves.plot(plotRows, screenWidth) {
		fmt.Fprintln(out, line)
	}
	fmt.Fprintln(out, r.Curves.sentence())
	fmt.Fprintf(out, "Better together: %d of %s, worse: %d. %d of %s used peers' shares.\n",
		won, sanitize.Count(len(r.Nodes), "node"), lost, fromPeers, sanitize.Count(made, "design"))
	fmt.Fprintf(out, "This took %.1f s; a node sent %.0f kB. With the same seed the runs\n", r.Seconds, float64(bytes)/1000/float64(len(r.Nodes)))
	fmt.Fprintln(out, "alone repeat; together they differ, with new keys and other times of arrival.")
	fmt.Fprintln(out, "Results vary with the seed: fbo-node demo --seeds 20 runs twenty.")
}
