package run

import (
	"context"
	"fmt"
	"strings"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/render"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// summary holds the results of a run; run --json prints it as its last event, except for
// "interrupted".
type summary struct {
	Event          string          `json:"event"` // "summary"
	Task           string          `json:"task"`
	PeerID         string          `json:"peer_id"`
	Evaluations    int             `json:"evaluations"` // by this node, with an outcome, failed or stopped early
	Failed         int             `json:"failed"`
	StoppedEarly   int             `json:"stopped"`
	Imported       int             `json:"imported"`
	Best           *strategy.Trial `json:"best"`            // with several objectives that of the first
	Front          []uint64        `json:"front,omitempty"` // trials of the Pareto front of a task with several objectives
	front          string
	LeastViolation *strategy.Trial `json:"least_violation,omitempty"` // while no trial is feasible: the one with the least violation

	Recommended *agent.Recommendation `json:"recommended,omitempty"` // if outcomes are so noisy that the best one is mostly luck

	// Of trials that have ended:
	PeerInformedTrials int `json:"peer_informed_trials"` // designs that use peers' shares
	ModelBasedTrials   int `json:"model_based_trials"`   // designs after the start: neither random starts nor the user's

	Items []strategy.StatusItem `json:"items,omitempty"` // status items of the task's exchanges

	SharesSent             int   `json:"shares_sent"`
	SharesReceived         int   `json:"shares_received"`
	DirectMessagesSent     int   `json:"direct_messages_sent,omitempty"` // messages to single peers
	DirectMessagesReceived int   `json:"direct_messages_received,omitempty"`
	BytesSent              int64 `json:"bytes_sent"`
	BytesReceived          int64 `json:"bytes_received"`

	Connected int `json:"connected"` // nodes on the task at the end; they hold this node's shares
}

// summary prints the results of the run. If run has ended early, it recommends nothing: that may
// take as long as a suggestion.
func (p *display) summary(run context.Context, session *node.Session) error {
	ctx := context.WithoutCancel(run)
	status, err := session.Status(ctx)
	if err != nil {
		return err
	}
	trials, err := session.Trials(ctx)
	if err != nil {
		return err
	}
	s := summarise(p.Task, trials)
	s.PeerID, s.Best, s.LeastViolation = status.PeerID.String(), status.Best, render.LeastViolation(p.Task, trials)
	for _, trial := range render.FrontOf(p.Task, trials) {
		s.Front = append(s.Front, trial.ID)
	}
	s.front = render.Front(p.Task, trials, render.ShownFront)
	if s.Recommended, err = session.Preferred(run); err != nil {
		s.Recommended = nil
	}
	s.Items = status.Items
	s.SharesSent, s.SharesReceived = status.SharesSent, status.SharesReceived
	s.DirectMessagesSent, s.DirectMessagesReceived = status.DirectMessagesSent, status.DirectMessagesReceived
	s.BytesSent, s.BytesReceived = status.BytesSent, status.BytesReceived
	s.Connected = len(status.TopicPeers)
	lines := []string{s.text(p.Task)}
	if s.SharesSent > 0 || s.Evaluations > s.Failed {
		lines = append(lines, whatBecomes(p.Task, s.Connected, status.Stored.OwnShares > 0)...)
	}
	p.PrintLast(s, "%s", text(lines))
	return nil
}

// whatBecomes describes where the shares of a node remain after its end, and how a later node gets
// them. It returns nil if that is not useful.
func whatBecomes(t *task.Task, connected int, shared bool) []string {
	if !base.RegistrationOf(t).Shares() || base.UnusableReason(t) != "" {
		return nil
	}
	if !shared {
		return []string{"This node has shared nothing yet, so a machine that joins later learns nothing of its results; that takes more evaluations."}
	}
	if connected == 0 {
		return []string{"No peers are connected: the shares of this node exist only in its data directory. " +
			"A machine that joins later gets them while `fbo-node keep` runs here, with this task and data directory; a node with `run --keep-after` serves them by itself."}
	}
	return []string{fmt.Sprintf("The shares of this node are stored by %s for up to 90 days. "+
		"A machine that joins later gets them from one of these while it runs, or while `fbo-node keep` runs here or there, with this task and the node's data directory.", sanitize.Count(connected, "connected node"))}
}

func summarise(t *task.Task, trials []strategy.Trial) summary {
	s := summary{Event: "summary", Task: t.ID().String()}
	for _, trial := range trials {
		if trial.Why.Source == strategy.Imported {
			s.Imported++
			continue
		}
		switch trial.State {
		case strategy.Failed:
			s.Failed++
		case strategy.StoppedEarly:
			s.StoppedEarly++
		case strategy.Done:
		default:
			continue // running, or interrupted
		}
		s.Evaluations++
		if trial.Why.Source != strategy.Initial && trial.Why.Source != strategy.Enqueued {
			s.ModelBasedTrials++
		}
		if trial.Why.FromPeers() {
			s.PeerInformedTrials++
		}
	}
	return s
}

func (s summary) text(t *task.Task) string {
	switch {
	case s.Best != nil:
	case s.Evaluations == 0:
		return "no result: no evaluation has ended yet"
	case s.Evaluations > s.Failed:
		text := fmt.Sprintf("no result: %s %s", sanitize.Count(s.Evaluations, "evaluation"), render.Ends(s.Failed, s.StoppedEarly))
		if s.LeastViolation != nil {
			text += "; " + render.NothingFeasible(t, []strategy.Trial{*s.LeastViolation})
		}
		return text
	case s.Evaluations == 1:
		return "no result: 1 evaluation, failed"
	default:
		return fmt.Sprintf("no result: %d evaluations, all failed", s.Evaluations)
	}
	var lines []string
	if s.Recommended != nil {
		lines = append(lines, render.Recommended(*s.Recommended))
	}
	if s.Front != nil {
		lines = append(lines, s.front, fmt.Sprintf("%s %s", sanitize.Count(s.Evaluations, "evaluation"), render.Ends(s.Failed, s.StoppedEarly)))
	} else {
		lines = append(lines, s.best())
	}
	if s.ModelBasedTrials > 0 {
		lines = append(lines, s.help(t))
	}
	lines = append(lines, fmt.Sprintf("this run %s; %s sent on the network in all", s.exchanged(), byteText(s.BytesSent)))
	lines = append(lines, render.ItemLines(s.Items)...)
	return strings.Join(append(lines, s.comparison()...), "\n")
}

// best is the best design.
func (s summary) best() string {
	return fmt.Sprintf("best %s in %s %s: trial %d, %s  [%s]",
		render.Value(*s.Best), sanitize.Count(s.Evaluations, "evaluation"), render.Ends(s.Failed, s.StoppedEarly), s.Best.ID, s.Best.Design, s.Best.Why)
}

// exchanged returns the counts of messages sent and received: shares, direct messages, or both.
func (s summary) exchanged() string {
	shares := fmt.Sprintf("published %s and received %d", sanitize.Count(s.SharesSent, "share"), s.SharesReceived)
	directs := fmt.Sprintf("sent %s to single peers and received %d", sanitize.Count(s.DirectMessagesSent, "message"), s.DirectMessagesReceived)
	switch {
	case s.DirectMessagesSent+s.DirectMessagesReceived == 0:
		return shares
	case s.SharesSent+s.SharesReceived == 0:
		return directs
	}
	return shares + ", and " + directs
}

// help reports how many designs used peers' shares. An item of the status reports their effect.
func (s summary) help(t *task.Task) string {
	text := fmt.Sprintf("peers: %d of %s after the random start used peers' shares", s.PeerInformedTrials, sanitize.Count(s.ModelBasedTrials, "design"))
	if s.PeerInformedTrials == 0 && s.SharesReceived > 0 && t.Surrogate.Extended() {
		text += "; the model by which this node chose them learns from peers' shares"
	}
	return text
}

// comparison is where to compare results with those of a node alone, if the effect was measured.
func (s summary) comparison() []string {
	effect, ok := strategy.StatusValue[strategy.PeerEffect](s.Items, strategy.PeerEffectKey)
	if !ok || effect.Verdict == strategy.PeersNotMeasured || effect.Verdict == strategy.PeersTooFew {
		return nil
	}
	return []string{"`fbo-node simulate` compares regret with and without peers, also on your own past trials (docs/tables.md)"}
}

func byteText(n int64) string {
	switch {
	case n < 10<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 10<<20:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}
