package wire

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/internal/tasknames"
	"github.com/fbo-node/fbo/node/internal/access"
	"github.com/fbo-node/fbo/protocol"
)

const (
	taskNamePause   = 2 * time.Second  // between checks of all connected peers, with jitter
	taskNameRetry   = 30 * time.Second // after a request that failed
	maxMismatchLogs = 16               // warnings per session; without a limit, peers could cause any number of them
)

// TaskMismatch describes a connected peer on a task that has the name of the session's task and
// another ID. The task files differ, so these nodes cannot use each other's shares.
type TaskMismatch struct {
	Peer peer.ID `json:"peer"`
	Task string  `json:"task"`           // ID of the peer's task
	Open bool    `json:"open,omitempty"` // Task is the session's task, but this session joined it by invitation and the peer did not
}

// serveTaskNames answers a request with a task name: the response lists the node's tasks with that
// name. libp2p and gossipsub send the IDs of tasks to all connected peers, but not their names. So
// only peers that already know a name learn to which tasks it belongs.
func (n *Network) serveTaskNames(stream network.Stream) {
	if err := n.answerTaskNames(stream); err != nil {
		n.Log.Info("cannot answer about tasks of a name", "peer", stream.Conn().RemotePeer(), "error", err)
		_ = stream.Reset()
		return
	}
	_ = stream.Close()
}

func (n *Network) answerTaskNames(stream network.Stream) error {
	from := stream.Conn().RemotePeer()
	if !n.Policy.MayTakePart(from) {
		return access.ErrNotAllowed
	}
	leave, err := n.naming.Admit(stream, n.Policy, n.ReportViolation)
	if err != nil {
		return err
	}
	defer leave()
	asked, err := protocol.ReadTaskMismatchRequest(stream)
	if errors.Is(err, protocol.ErrMalformed) {
		n.ReportViolation(from, 1, err)
	}
	if err != nil {
		return err
	}
	if err := protocol.WriteTaskMismatchResponse(stream, n.tasksNamed(from, asked)); err != nil {
		return err
	}
	return stream.CloseWrite()
}

func (n *Network) tasksNamed(asking peer.ID, nameHash [sha256.Size]byte) (tasks []cid.Cid) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, t := range n.topics {
		if t.keys == nil && protocol.NameHash(asking, n.Host.ID(), t.task.Name) == nameHash {
			tasks = append(tasks, t.task.ID())
		}
	}
	return tasks
}

// worksOn reports whether the node has joined the task with this ID.
func (n *Network) worksOn(id string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.topics[id] != nil
}

// mismatches holds the connected peers on other tasks with the session's task name.
type mismatches struct {
	own string // ID of the session's task

	mu     sync.Mutex
	busy   bool // requests are in progress
	asked  map[peer.ID]question
	found  map[peer.ID][]string
	warned map[peer.ID]bool
}

// question holds the tasks of a peer at the last request, and the time of the next request.
type question struct {
	tasks string
	retry time.Time // zero: the peer has answered
}

func newMismatches(own string) *mismatches {
	return &mismatches{own: own, asked: map[peer.ID]question{}, found: map[peer.ID][]string{}, warned: map[peer.ID]bool{}}
}

// begin reports whether requests may begin: none are in progress. The caller must call end after them.
func (m *mismatches) begin() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	free := !m.busy
	m.busy = true
	return free
}

func (m *mismatches) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.busy = false
}

// list returns the mismatches for Status, sorted by peer and task.
func (m *mismatches) list() (all []TaskMismatch) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, tasks := range m.found {
		for _, task := range tasks {
			all = append(all, TaskMismatch{Peer: id, Task: task, Open: task == m.own})
		}
	}
	slices.SortFunc(all, func(a, b TaskMismatch) int { return strings.Compare(string(a.Peer)+a.Task, string(b.Peer)+b.Task) })
	return all
}

// due reports whether to ask a peer that takes part in the given tasks.
func (m *mismatches) due(id peer.ID, tasks []string, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	last, ok := m.asked[id]
	return !ok || last.tasks != strings.Join(tasks, " ") || !last.retry.IsZero() && now.After(last.retry)
}

// answered records a peer's response, and reports whether to warn the user of it.
func (m *mismatches) answered(id peer.ID, tasks, named []string, err error, now time.Time) (news bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	q := question{tasks: strings.Join(tasks, " ")}
	if err != nil {
		q.retry = now.Add(taskNameRetry)
	}
	m.asked[id] = q
	delete(m.found, id)
	if len(named) == 0 {
		return false
	}
	m.found[id] = named
	news = !m.warned[id] && len(m.warned) < maxMismatchLogs
	if news {
		m.warned[id] = true
	}
	return news
}

// forget removes the peers for which keep returns false, since they have left or need no more
// requests.
func (m *mismatches) forget(keep func(peer.ID) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id := range m.asked {
		if !keep(id) {
			delete(m.asked, id)
			delete(m.found, id)
		}
	}
}

// compareTaskNames asks connected peers that take part only in other tasks whether one of these has
// the name of a task of this node. A task file with a typing error has another ID, so it is another
// task.
func (n *Network) compareTaskNames(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(n.Policy.Jittered(taskNamePause)):
		}
		summaries := map[peer.ID]tasknames.Summary{}
		for _, id := range n.Host.Network().Peers() {
			summaries[id] = tasknames.Of(n.Host, id)
		}
		n.startComparisons(summaries)
	}
}

// startComparisons starts the requests that are due. A topic that is removed starts none.
func (n *Network) startComparisons(summaries map[peer.ID]tasknames.Summary) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, t := range n.topics {
		if !t.mismatches.begin() {
			continue // earlier requests are in progress
		}
		due := t.comparisonsDue(summaries)
		if len(due) == 0 {
			t.mismatches.end()
			continue
		}
		t.running.Go(func() {
			defer t.mismatches.end()
			for id, tasks := range due {
				t.compareTaskName(id, tasks)
			}
		})
	}
}

// comparisonsDue returns the tasks of each peer that the node asks about this task's name now.
func (t *Topic) comparisonsDue(summaries map[peer.ID]tasknames.Summary) map[peer.ID][]string {
	others := map[peer.ID][]string{}
	for id, p := range summaries {
		if t.isUnrelated(p) {
			others[id] = p.Tasks
		}
	}
	t.mismatches.forget(func(id peer.ID) bool { return others[id] != nil })
	maps.DeleteFunc(others, func(id peer.ID, tasks []string) bool { return !t.mismatches.due(id, tasks, time.Now()) })
	return others
}

// isUnrelated reports whether a peer takes part in other tasks only, one of which may have this
// task's name by mistake. For a task with an invitation, peers are not asked, because a request
// would disclose the name to peers that guess it. Then it reports only peers that run this task
// without the invitation, as the ID that they advertise shows. A mistyped file cannot occur there,
// since its ID would not match the invitation.
func (t *Topic) isUnrelated(p tasknames.Summary) bool {
	same := slices.Contains(p.Tasks, t.id)
	if t.keys != nil {
		return same
	}
	return p.Answers && len(p.Tasks) > 0 && !same
}

func (t *Topic) compareTaskName(id peer.ID, tasks []string) {
	n := t.net
	if n.Policy.Refused(time.Now(), id) {
		return
	}
	if t.keys != nil {
		if t.mismatches.answered(id, tasks, []string{t.id}, nil, time.Now()) {
			n.Warn(fmt.Sprintf("peer %v works on this task, %q, without the invitation: the two do not help each other, and it publishes the task's ID; give its user the invitation", id, t.task.Name))
		}
		return
	}
	named, err := tasknames.Query(t.ctx, n.Host, id, t.task.Name, tasks)
	if t.ctx.Err() != nil {
		return
	}
	if errors.Is(err, protocol.ErrMalformed) {
		n.ReportViolation(id, 1, err)
	}
	if err != nil {
		t.log.Debug("a peer does not say whether its task has this name", "peer", id, "error", err)
	}
	named = slices.DeleteFunc(named, n.worksOn) // no mistake if this node has joined the other task too
	if t.mismatches.answered(id, tasks, named, err, time.Now()) {
		n.Warn(fmt.Sprintf("peer %v works on another task of the same name, %q (its id %s, here %s): the task files differ, so the two do not help each other; compare what `fbo-node task check FILE` prints on both machines",
			id, t.task.Name, sanitize.List(named), t.id))
	}
}
