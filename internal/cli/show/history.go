// Package show contains the commands that read a node's history: status, history, best, log,
// export, watch.
package show

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/past"
	"github.com/fbo-node/fbo/internal/cli/render"
	"github.com/fbo-node/fbo/internal/export"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy"
)

// NewHistory returns the command history.
func NewHistory() *cobra.Command {
	var dir, format string
	var asJSON bool
	var one uint64
	command := &cobra.Command{
		Use:   "history [TASK]",
		Short: "Show every trial of a task (a file, an ID or a name), while the node runs or after",
		Long: `Show every trial of a task (a file, an ID, its first characters or a name), while the node runs or after.

With --trial, show one of them in full, with the attributes, tags, files and notes that it keeps for
you. fbo-node note adds some. Values by step are in --format json and csv.`,
		Args: base.AtMost(1),
		RunE: func(command *cobra.Command, args []string) error {
			if asJSON {
				format = "json"
			}
			write := map[string]func(io.Writer, past.History) error{"table": writeTable, "csv": writeCSV, "json": writeTrials}[format]
			dataDir, err := base.ResolveDataDir(dir)
			if err != nil {
				return err
			}
			p, err := past.Read(command.Context(), dataDir, base.Argument(args))
			if err != nil {
				return err
			}
			if command.Flags().Changed("trial") {
				if one == 0 || one > uint64(len(p.Trials)) {
					return base.Usagef("--trial %d: expected 1 to %d", one, len(p.Trials))
				}
				p.Trials, p.Stopped = p.Trials[one-1:one], nil
				if format == "table" {
					writeTrial(command.OutOrStdout(), p)
					return nil
				}
			}
			return write(command.OutOrStdout(), p)
		},
	}
	base.AddDataDir(command, &dir)
	command.Flags().Uint64Var(&one, "trial", 0, "show only the trial with this `NUMBER`, in full")
	base.AddChoice(command.Flags(), &format, "format", "table", []string{"table", "csv", "json"}, "")
	command.Flags().BoolVar(&asJSON, "json", false, "the same as --format json")
	return command
}

func writeTrials(out io.Writer, p past.History) error {
	trials := p.Trials
	if trials == nil {
		trials = []strategy.Trial{}
	}
	return base.PrintJSON(out, trials)
}

func writeTable(out io.Writer, p past.History) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	withMetrics := len(export.MetricColumns(p.Trials)) > 0
	withCost := slices.ContainsFunc(p.Trials, func(t strategy.Trial) bool { return t.Cost != nil })
	withKept := slices.ContainsFunc(p.Trials, func(t strategy.Trial) bool { return strategy.HasAnnotations(t.Annotations) })
	cells := func(trial, state, value, feasible, cost, metrics, parameters, why, kept string) {
		if len(p.Task.Constraints) > 0 {
			value += "\t" + feasible
		}
		if withCost {
			value += "\t" + cost
		}
		if withMetrics {
			value += "\t" + metrics
		}
		if withKept {
			why += "\t" + kept
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", trial, state, value, parameters, why)
	}
	cells("trial", "state", "value", "feasible", "cost", "metrics", "parameters", "why", "keeps")
	for _, trial := range p.Trials {
		cells(strconv.FormatUint(trial.ID, 10), string(trial.State), render.ValueOrNewest(trial), render.Feasible(p.Task, trial), render.Cost(trial),
			render.Metrics(trial.Outcome, strategy.MaxMetrics), trial.Design.String(), render.Why(trial), render.Annotations(trial.Annotations))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if front := render.Front(p.Task, p.Trials, 0); front != "" {
		fmt.Fprintln(out, front)
	} else if p.Best != nil {
		fmt.Fprintf(out, "best: %s (trial %d)\n", render.Value(*p.Best), p.Best.ID)
	} else if text := render.NothingFeasible(p.Task, p.Trials); text != "" {
		fmt.Fprintln(out, text)
	}
	if p.Stopped != nil {
		fmt.Fprintln(out, render.Stopped(*p.Stopped))
	}
	return nil
}

// writeTrial writes all about the only trial.
func writeTrial(out io.Writer, p past.History) {
	out = &sanitize.Writer{Out: out}
	t := p.Trials[0]
	fmt.Fprintf(out, "trial      %d, %s\n", t.ID, t.State)
	if t.Outcome != nil {
		fmt.Fprintf(out, "value      %s\n", render.ExactValue(t))
	}
	if len(p.Task.Constraints) > 0 {
		fmt.Fprintf(out, "feasible   %s\n", render.Feasible(p.Task, t))
	}
	if metrics := render.Metrics(t.Outcome, strategy.MaxMetrics); metrics != "" {
		fmt.Fprintf(out, "metrics    %s\n", metrics)
	}
	if t.Cost != nil {
		fmt.Fprintf(out, "cost       %s\n", render.Exact(*t.Cost))
	}
	if steps := render.Steps(t); steps != "" {
		fmt.Fprintf(out, "steps      %s\n", steps)
	}
	if stop := render.Stop(t); stop != "" {
		fmt.Fprintf(out, "stop       %s\n", stop)
	}
	fmt.Fprintf(out, "design     %s\nwhy        %s\n", t.Design, render.Why(t))
	for _, at := range []struct {
		what string
		time time.Time
	}{{"started", t.Started}, {"finished", t.Finished}} {
		if !at.time.IsZero() {
			fmt.Fprintf(out, "%-10s %s\n", at.what, at.time.Format(time.DateTime))
		}
	}
	render.WriteAnnotations(out, t.Annotations)
}

func writeCSV(out io.Writer, p past.History) error { return export.CSV(out, p.Task, p.Trials) }

// NewStatus returns the command status.
func NewStatus() *cobra.Command {
	var dir string
	var asJSON, onlyRunning bool
	command := &cobra.Command{
		Use:   "status [TASK]",
		Short: "Show where the tasks of this node stand, or one of them, while it runs or after",
		Long: `Show where a task (a file, an ID, its first characters or a name) stands on this node, while it runs or after.
Without a TASK, all tasks of the data directory are listed, also while a node runs there; the
only one is shown whole.

With --running, only say what runs, and exit with code 1 when nothing does: a health
check. A hub counts too, unless a TASK is named.`,
		Args: base.AtMost(1),
		RunE: func(command *cobra.Command, args []string) error {
			dataDir, err := base.ResolveDataDir(dir)
			if err != nil {
				return err
			}
			if onlyRunning {
				return showRunning(command.Context(), command.OutOrStdout(), dataDir, base.Argument(args), asJSON)
			}
			if len(args) == 0 {
				all, err := past.ReadSummaries(command.Context(), dataDir)
				if err != nil {
					return err
				}
				if len(all.Tasks) > 1 {
					return writeSummaries(command.OutOrStdout(), all, asJSON)
				}
			}
			p, err := past.Read(command.Context(), dataDir, base.Argument(args))
			if err != nil {
				return err
			}
			if asJSON {
				return base.PrintJSON(command.OutOrStdout(), statusObject(p))
			}
			writeStatus(command.OutOrStdout(), p)
			return nil
		},
	}
	base.AddDataDir(command, &dir)
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	command.Flags().BoolVar(&onlyRunning, "running", false, "only say whether a node or hub runs on this data directory; exit code 1 when none does")
	return command
}

type statusJSON struct {
	Running        bool                  `json:"running"`
	Task           string                `json:"task"`
	Tag            string                `json:"tag,omitempty"` // on the network, with an invitation
	Name           string                `json:"name"`
	Description    string                `json:"description,omitempty"`
	Unit           string                `json:"unit,omitempty"` // of the objective
	Tags           []string              `json:"tags,omitempty"`
	Starts         uint64                `json:"starts"`
	Trials         map[string]int        `json:"trials"`
	Progress       agent.Progress        `json:"progress"`
	Best           *strategy.Trial       `json:"best"`
	LeastViolation *strategy.Trial       `json:"least_violation,omitempty"` // while no trial is feasible: the one with the least violation
	WaitsFor       string                `json:"waits_for,omitempty"`       // why a request for a trial has no answer yet
	PeerID         string                `json:"peer_id,omitempty"`
	Addresses      []string              `json:"addresses,omitempty"`
	TopicPeers     []string              `json:"topic_peers,omitempty"`
	Peers          []node.Link           `json:"peers,omitempty"`
	TaskMismatches []node.TaskMismatch   `json:"task_mismatches,omitempty"`
	Hubs           []node.HubLink        `json:"hubs,omitempty"`
	Present        []string              `json:"present,omitempty"`
	PresenceAgreed bool                  `json:"presence_agreed,omitempty"`
	Keeping        bool                  `json:"keeping,omitempty"`
	Stored         *node.StoredShares    `json:"stored,omitempty"`
	LargeTopic     *node.LargeStatus     `json:"large_topic,omitempty"`
	Continued      *node.Continued       `json:"continued,omitempty"`
	Sent           int                   `json:"shares_sent,omitempty"`
	Received       int                   `json:"shares_received,omitempty"`
	Items          []strategy.StatusItem `json:"items,omitempty"`
	Model          *agent.Learned        `json:"model,omitempty"`
	BytesSent      int64                 `json:"bytes_sent,omitempty"`
	BytesRecv      int64                 `json:"bytes_received,omitempty"`
}

func statusObject(p past.History) statusJSON {
	s := statusJSON{Items: p.Items, Task: p.Task.ID().String(), Tag: p.Tag, Name: p.Task.Name, Description: p.Task.About.Description, Unit: p.Task.About.Unit, Tags: p.Task.About.Tags, Starts: p.Epoch, Trials: map[string]int{}, Best: p.Best, LeastViolation: render.LeastViolation(p.Task, p.Trials)}
	for _, trial := range p.Trials {
		s.Trials[string(trial.State)]++
	}
	s.Progress = agent.Budget{}.Progress(p.Trials, time.Now())
	if r := p.Running; r != nil {
		s.Progress = r.Progress
		s.Running, s.PeerID, s.Addresses, s.PresenceAgreed = true, r.PeerID.String(), r.Addresses, r.PresenceAgreed
		s.Sent, s.Received, s.BytesSent, s.BytesRecv = r.SharesSent, r.SharesReceived, r.BytesSent, r.BytesReceived
		s.Peers, s.TaskMismatches, s.Hubs = r.Peers, r.TaskMismatches, r.Hubs
		s.Model = r.Model
		s.Keeping, s.Stored, s.WaitsFor = r.Keeping, &r.Stored, r.WaitsFor
		s.Continued, s.LargeTopic = r.Continued, r.LargeTopic
		for _, id := range r.TopicPeers {
			s.TopicPeers = append(s.TopicPeers, id.String())
		}
		for _, id := range r.Present {
			s.Present = append(s.Present, id.String())
		}
	}
	return s
}

// others returns the number of participants besides this node.
func others(s statusJSON) int {
	if s.Keeping {
		return len(s.Present)
	}
	return max(0, len(s.Present)-1)
}

// agreement returns whether the nodes agree on the participants. In a large topic they do not compare them.
func agreement(s statusJSON) string {
	switch {
	case s.LargeTopic != nil:
		return ""
	case s.PresenceAgreed:
		return ", all agree who"
	}
	return ", not all agree who yet"
}

func writeStatus(out io.Writer, p past.History) {
	out = &sanitize.Writer{Out: out} // addresses and reasons come from peers
	s := statusObject(p)
	fmt.Fprintf(out, "task      %s\n", s.Name)
	render.WriteAbout(out, p.Task, "%-9s %s\n")
	fmt.Fprintf(out, "id        %s\n", s.Task)
	if s.Tag != "" {
		fmt.Fprintf(out, "invited   announced as %s\n", s.Tag)
	}
	fmt.Fprintf(out, "trials    %s\n", trialsText(s))
	if of := s.Progress; of.MaxEvals > 0 || of.Cost != nil || of.SecondsLeft > 0 {
		text := render.Progress(of)
		if left := render.TimeLeft(of); left != "" {
			text += ", " + left
		}
		fmt.Fprintf(out, "budget    %s\n", text)
	}
	for _, line := range runningSteps(p.Trials) {
		fmt.Fprintf(out, "running   %s\n", line)
	}
	if front := render.Front(p.Task, p.Trials, render.ShownFront); front != "" {
		fmt.Fprintln(out, front)
	} else if p.Best != nil {
		fmt.Fprintf(out, "best      %s (trial %d, %s): %s\n", render.Value(*p.Best), p.Best.ID, p.Best.Why, p.Best.Design)
	} else if text := render.NothingFeasible(p.Task, p.Trials); text != "" {
		fmt.Fprintf(out, "best      %s\n", text)
	}
	if !s.Running {
		render.WriteItems(out, s.Items)
		fmt.Fprintln(out, "node      not running")
		return
	}
	fmt.Fprintf(out, "node      %s, running, start number %d%s\n", s.PeerID, s.Starts,
		map[bool]string{true: ", only keeps what others share"}[s.Keeping])
	if s.WaitsFor != "" {
		fmt.Fprintf(out, "waits     %s\n", s.WaitsFor)
	}
	for _, address := range s.Addresses {
		fmt.Fprintf(out, "address   %s\n", address)
	}
	fmt.Fprintf(out, "peers     %d connected, %d taking part besides this node%s\n", len(s.TopicPeers), others(s), agreement(s))
	if l := s.LargeTopic; l != nil {
		fmt.Fprintf(out, "large     fetches the announced shares of %s, stores %d of %d\n", sanitize.Count(len(l.Authors), "other node"), l.Stored, l.Announced)
	}
	if s.Continued != nil {
		fmt.Fprintf(out, "former    %s\n", s.Continued)
	}
	if s.Stored.PeerShares > 0 {
		fmt.Fprintf(out, "stored    %s of %s, kept over restarts\n", sanitize.Count(s.Stored.PeerShares, "share"), sanitize.Count(s.Stored.Authors, "other node"))
	}
	for _, link := range s.Peers {
		fmt.Fprintf(out, "peer      %s, %s, %s\n", link.ID, link.Path, link.Address)
	}
	for _, n := range s.TaskMismatches {
		if n.Open {
			fmt.Fprintf(out, "other     %s is on this task without the invitation\n", n.Peer)
			continue
		}
		fmt.Fprintf(out, "other     %s is on another task of this name, id %s: the task files differ\n", n.Peer, n.Task)
	}
	for _, h := range s.Hubs {
		fmt.Fprintf(out, "hub       %s, %s\n", h.ID, hubText(h))
	}
	if s.Model != nil {
		fmt.Fprintf(out, "model     %s\n", s.Model)
	}
	render.WriteItems(out, s.Items)
	fmt.Fprintf(out, "shares    %d sent, %d received; %d bytes sent, %d received on the network\n",
		s.Sent, s.Received, s.BytesSent, s.BytesRecv)
}

// maxRunningSteps is the maximum number of running trials of which a status shows the last value.
const maxRunningSteps = 10

// runningSteps returns a line with the last value by step for each running trial that has one.
func runningSteps(trials []strategy.Trial) (lines []string) {
	for _, t := range trials {
		if t.State != strategy.Running || len(t.Steps) == 0 {
			continue
		}
		if len(lines) == maxRunningSteps {
			return append(lines, "and more")
		}
		line := fmt.Sprintf("trial %d: %s", t.ID, render.Newest(t))
		if t.Stop != nil {
			line += ", to be stopped by " + render.Stop(t)
		}
		lines = append(lines, line)
	}
	return lines
}

// trialsText returns the numbers of trials by state. A stopped node's interrupted or returned
// trials are offered again; programs outside the node may still evaluate the trials that they hold.
func trialsText(s statusJSON) string {
	text := fmt.Sprintf("%d done, %d failed", s.Trials["done"], s.Trials["failed"])
	if stopped := s.Trials[string(strategy.StoppedEarly)]; stopped > 0 {
		text += fmt.Sprintf(", %d stopped early", stopped)
	}
	if s.Running {
		return text + fmt.Sprintf(", %d running, %d waiting", s.Trials["running"], s.Trials["waiting"])
	}
	if again := s.Trials[string(past.Interrupted)] + s.Trials["waiting"]; again > 0 {
		text += fmt.Sprintf(", %d interrupted (offered again by the next start, three times at most)", again)
	}
	if held := s.Trials[string(strategy.Running)]; held > 0 {
		text += fmt.Sprintf(", %d held by programs (offered to others when the leases end, after the next start)", held)
	}
	return text
}

func hubText(h node.HubLink) string {
	switch {
	case !h.Connected:
		return "not connected"
	case !h.Reachable:
		return "connected, does not relay to this node"
	}
	return "connected, relays to this node"
}
