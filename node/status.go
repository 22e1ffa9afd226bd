package node

import (
	"context"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Status is the state of a session.
type Status struct {
	Task      string                 `json:"task"`          // the task's ID
	Tag       string                 `json:"tag,omitempty"` // name of the task on the network, if it has an invitation
	Name      string                 `json:"name"`
	PeerID    peer.ID                `json:"peer_id"`
	Addresses []string               `json:"addresses"`
	Starts    uint64                 `json:"starts"` // number of starts of the node on this task
	Trials    map[strategy.State]int `json:"trials"`
	Progress  Progress               `json:"progress"` // within the budget of the present Run
	Best      *strategy.Trial        `json:"best"`
	WaitsFor  string                 `json:"waits_for,omitempty"` // why the oldest Ask has no answer yet; empty when no Ask waits
	Computing bool                   `json:"computing,omitempty"` // a model, a share or a design is being computed

	TopicPeers     []peer.ID    `json:"topic_peers"`     // connected peers on this task
	Peers          []Link       `json:"peers"`           // connections to TopicPeers
	Hubs           []HubLink    `json:"hubs"`            // hubs of the task: those of Node.Hubs, then those of JoinOptions.Hubs
	Present        []peer.ID    `json:"present"`         // nodes that take part, including this one unless it is a keeper
	PresenceAgreed bool         `json:"presence_agreed"` // all present nodes report the same set of present nodes; false in a large topic
	Keeping        bool         `json:"keeping"`         // the node is a keeper: it evaluates nothing, and stores and forwards shares
	Stored         StoredShares `json:"stored"`

	LargeTopic *LargeStatus `json:"large_topic,omitempty"` // chosen authors and their shares in a large topic; nil in a small one

	TaskMismatches []TaskMismatch `json:"task_mismatches,omitempty"` // connected peers on a task of the same name with another ID

	Continued *Continued `json:"continued,omitempty"` // what is used of the task that this one continues; nil if there is none or it is unknown

	PreviousTasks []PreviousTask `json:"previous_tasks,omitempty"` // tasks of the same name with trials in the data directory, if this task had none at the join

	Items []strategy.StatusItem `json:"items,omitempty"` // values that the exchanges of the task report

	Model *Learned `json:"model,omitempty"` // observations and shares that the objective's model was fitted to; nil before the first fit

	Stopped *Stopped `json:"stopped,omitempty"` // why RunOptions.StopRegret ended the latest run; nil if it ended otherwise or has not ended

	SharesSent             int   `json:"shares_sent"` // without presence messages
	SharesReceived         int   `json:"shares_received"`
	DirectMessagesSent     int   `json:"direct_messages_sent,omitempty"` // some strategies send only direct messages
	DirectMessagesReceived int   `json:"direct_messages_received,omitempty"`
	BytesSent              int64 `json:"bytes_sent"` // bytes that the node has sent on all streams since its start; 0 with a Host of the user
	BytesReceived          int64 `json:"bytes_received"`
}

// StoredShares counts the stored shares. Peers can fetch them while their authors are absent.
type StoredShares struct {
	Authors    int `json:"authors"`     // number of peers with a stored share
	PeerShares int `json:"peer_shares"` // shares of peers
	OwnShares  int `json:"own_shares"`  // shares of this node
}

// Values of Link.Path.
const (
	Direct  = "direct"
	Relayed = "relayed" // through a hub
)

// Link is the connection to one peer.
type Link struct {
	ID      peer.ID `json:"id"`
	Path    string  `json:"path"`    // Direct or Relayed
	Address string  `json:"address"` // address of the peer or, if relayed, of the hub
}

// HubLink is the state of the connection to one of the node's hubs.
type HubLink struct {
	ID        peer.ID `json:"id"`
	Connected bool    `json:"connected"`
	Reachable bool    `json:"reachable"` // peers can reach the node through this hub
}

// Status returns the state of the session.
func (s *Session) Status(ctx context.Context) (Status, error) {
	status := Status{
		Task:           s.id,
		Name:           s.task.Name,
		PeerID:         s.node.ID(),
		Addresses:      s.node.Addresses(),
		Trials:         map[strategy.State]int{},
		TopicPeers:     s.topic.OnTask(),
		TaskMismatches: s.topic.Mismatches(),
		Continued:      s.continued,
		PreviousTasks:  s.previousTasks,
	}
	if s.keys != nil {
		status.Tag = s.keys.Tag().String()
	}
	for _, id := range status.TopicPeers {
		if link, ok := s.node.linkTo(id); ok {
			status.Peers = append(status.Peers, link)
		}
	}
	for _, h := range s.hubs {
		connected := s.node.host.Network().Connectedness(h.ID) == network.Connected
		status.Hubs = append(status.Hubs, HubLink{ID: h.ID, Connected: connected, Reachable: h.Reachable()})
	}
	status.BytesSent, status.BytesReceived = s.node.traffic.Sent.Load(), s.node.traffic.Received.Load()
	err := s.do(ctx, func(now time.Time) {
		trials := s.agent.Trials()
		for _, trial := range trials {
			status.Trials[trial.State]++
		}
		status.Progress = s.budget.Progress(trials, now)
		status.Starts, status.Best, status.WaitsFor = s.agent.Epoch(), s.agent.Best(), s.agent.WaitsFor()
		status.Computing = s.agent.Computing()
		present := s.agent.Present(now)
		status.Present, status.PresenceAgreed = present.Present, present.Agreed
		status.Keeping = s.agent.Keeping()
		status.Stored.Authors, status.Stored.PeerShares = s.agent.Knowledge(now)
		status.Stored.OwnShares = s.agent.OwnShares(now)
		status.LargeTopic = s.agent.LargeStatus()
		status.Items = s.agent.Status()
		status.Model = s.agent.Learned()
		status.Stopped = s.agent.StopReason()
		counts := s.agent.Counts()
		status.SharesSent, status.SharesReceived = countShares(counts.Sent), countShares(counts.Received)
		status.DirectMessagesSent, status.DirectMessagesReceived = counts.DirectMessagesSent, counts.DirectMessagesReceived
	})
	return status, err
}

// linkTo describes the connection to a peer, and prefers a direct one. It returns false without a
// connection.
func (n *Node) linkTo(id peer.ID) (link Link, ok bool) {
	for _, c := range n.host.Network().ConnsToPeer(id) {
		path := Direct
		if relayed(c) {
			path = Relayed
		}
		if !ok || path == Direct {
			link, ok = Link{ID: id, Path: path, Address: c.RemoteMultiaddr().String()}, true
		}
	}
	return link, ok
}

func countShares(byKind map[string]int) int {
	total := 0
	for kind, count := range byKind {
		if kind != presence.Kind {
			total += count
		}
	}
	return total
}

// Trials returns all trials of the node on this task, sorted by ID.
func (s *Session) Trials(ctx context.Context) (trials []strategy.Trial, err error) {
	err = s.do(ctx, func(time.Time) { trials = s.agent.Trials() })
	return trials, err
}

// Best returns the feasible trial with the best outcome, or nil if no trial is feasible.
func (s *Session) Best(ctx context.Context) (best *strategy.Trial, err error) {
	err = s.do(ctx, func(time.Time) { best = s.agent.Best() })
	return best, err
}

// Task returns the task.
func (s *Session) Task() *task.Task { return s.task }
