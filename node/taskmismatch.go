package node

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/invitation"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/node/internal/peers"
	"github.com/fbo-node/fbo/protocol"
)

const (
	taskNameProtocol = "/fbo/task-mismatch/1"
	taskNameTimeout  = 5 * time.Second
	taskNamePause    = 2 * time.Second  // between checks of the connected peers, with jitter
	taskNameRetry    = 30 * time.Second // after a request without a response
	maxMismatchLogs  = 16               // warnings of a session; a peer could cause any number of them
)

// TaskMismatch is a connected peer's task of the same name as the session's and with
// another ID: its file differs, so that the two do not help each other.
type TaskMismatch struct {
	Peer peer.ID `json:"peer"`
	Task string  `json:"task"`           // its ID
	Open bool    `json:"open,omitempty"` // it is this very task, which the session joined by invitation and the peer without
}

// serveTaskNames tells a peer which of the node's tasks have the name that it asks
// for. Their IDs alone libp2p and gossip tell everybody who is connected; names
// they do not tell, so these are told only to who knows them.
func (n *Node) serveTaskNames(stream network.Stream) {
	if err := n.answerTaskNames(stream); err != nil {
		n.log.Info("cannot answer about tasks of a name", "peer", stream.Conn().RemotePeer(), "error", err)
		_ = stream.Reset()
		return
	}
	_ = stream.Close()
}

func (n *Node) answerTaskNames(stream network.Stream) error {
	from := stream.Conn().RemotePeer()
	if !n.policy.MayTakePart(from) {
		return errNotAllowed
	}
	leave, err := n.naming.admit(stream, n.policy, n.reportViolation)
	if err != nil {
		return err
	}
	defer leave()
	asked, err := protocol.ReadTaskMismatchRequest(stream)
	if errors.Is(err, protocol.ErrMalformed) {
		n.reportViolation(from, 1, err)
	}
	if err != nil {
		return err
	}
	if err := protocol.WriteTaskMismatchResponse(stream, n.tasksNamed(from, asked)); err != nil {
		return err
	}
	return stream.CloseWrite()
}

func (n *Node) tasksNamed(asking peer.ID, nameHash [sha256.Size]byte) (tasks []cid.Cid) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, s := range n.sessions {
		if s.keys == nil && protocol.NameHash(asking, n.host.ID(), s.task.Name) == nameHash {
			tasks = append(tasks, s.task.ID())
		}
	}
	return tasks
}

// worksOn tells whether the node has joined the task with this ID.
func (n *Node) worksOn(id string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.sessions[id] != nil
}

// queryTaskNames asks a connected peer which of its tasks have a name. What it names
// and does not take part in is left out.
func queryTaskNames(ctx context.Context, h host.Host, from peer.ID, name string, partIn []string) ([]string, error) {
	ctx, cancel := context.WithTimeout(network.WithNoDial(ctx, "tasks of a name"), taskNameTimeout)
	defer cancel()
	stream, err := h.NewStream(ctx, from, taskNameProtocol)
	if err != nil {
		return nil, err
	}
	tasks, err := exchangeTaskNames(ctx, stream, protocol.NameHash(h.ID(), from, name))
	if err != nil {
		_ = stream.Reset()
		return nil, err
	}
	var named []string
	for _, task := range tasks {
		if id := task.String(); slices.Contains(partIn, id) && !slices.Contains(named, id) {
			named = append(named, id)
		}
	}
	slices.Sort(named)
	return named, stream.Close()
}

func exchangeTaskNames(ctx context.Context, stream network.Stream, nameHash [sha256.Size]byte) ([]cid.Cid, error) {
	if deadline, ok := ctx.Deadline(); ok {
		if err := stream.SetDeadline(deadline); err != nil {
			return nil, err
		}
	}
	if err := protocol.WriteTaskMismatchRequest(stream, nameHash); err != nil {
		return nil, err
	}
	if err := stream.CloseWrite(); err != nil {
		return nil, err
	}
	return protocol.ReadTaskMismatchResponse(stream)
}

// nameSummary holds the tasks that a peer advertises.
type nameSummary struct {
	tasks   []string // IDs, sorted
	tags    []string // of tasks by invitation, sorted
	answers bool     // requests for task names
}

// taskNameIn returns the tasks that a connected peer advertises.
func taskNameIn(h host.Host, id peer.ID) (p nameSummary) {
	spoken, err := h.Peerstore().GetProtocols(id)
	if err != nil {
		return nameSummary{} // not known yet
	}
	for _, name := range spoken {
		p.answers = p.answers || name == taskNameProtocol
		task, ok := strings.CutPrefix(string(name), syncProtocolPrefix)
		switch {
		case !ok || !peers.IsTaskID(task): // ignore protocols without a valid task ID
		case invitation.IsName(cid.MustParse(task)):
			p.tags = append(p.tags, task)
		default:
			p.tasks = append(p.tasks, task)
		}
	}
	slices.Sort(p.tasks)
	slices.Sort(p.tags)
	return p
}

// mismatches holds a session's knowledge of connected peers on tasks of its name.
type mismatches struct {
	own string // the session's task

	mu     sync.Mutex
	asked  map[peer.ID]question
	found  map[peer.ID][]string
	warned map[peer.ID]bool
}

// question is when a peer was asked, and what it took part in then.
type question struct {
	tasks string
	retry time.Time // zero: answered
}

func newMismatches(own string) *mismatches {
	return &mismatches{own: own, asked: map[peer.ID]question{}, found: map[peer.ID][]string{}, warned: map[peer.ID]bool{}}
}

// list is what status shows.
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

// due tells whether to ask a peer that takes part in these tasks.
func (m *mismatches) due(id peer.ID, tasks []string, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	last, ok := m.asked[id]
	return !ok || last.tasks != strings.Join(tasks, " ") || !last.retry.IsZero() && now.After(last.retry)
}

// answered notes what a peer said; true when there is something new to warn of.
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

// forget drops those that are gone or of no interest any more.
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

// compareTaskNames asks connected peers that take part in other tasks and not in this
// one whether the name is the same: a typing error in a task file makes another
// task of it.
func (t *topic) compareTaskNames() {
	h := t.session.node.host
	for {
		select {
		case <-t.ctx.Done():
			return
		case <-time.After(t.session.node.policy.Jittered(taskNamePause)):
		}
		others := map[peer.ID][]string{}
		for _, id := range h.Network().Peers() {
			if p := taskNameIn(h, id); t.isUnrelated(p) {
				others[id] = p.tasks
			}
		}
		t.mismatches.forget(func(id peer.ID) bool { return others[id] != nil })
		for id, tasks := range others {
			if t.mismatches.due(id, tasks, time.Now()) {
				t.compareTaskName(id, tasks)
			}
		}
	}
}

// isUnrelated tells whether a peer may mean to work on this task and does not. By invitation
// a peer is asked nothing, since the question would give the name to those who guess it;
// only who runs the task openly is noticed, by the ID that it tells everybody. A mistyped
// file has another ID than the invitation, so that nobody starts with it.
func (t *topic) isUnrelated(p nameSummary) bool {
	same := slices.Contains(p.tasks, t.session.id)
	if t.session.keys != nil {
		return same
	}
	return p.answers && len(p.tasks) > 0 && !same
}

func (t *topic) compareTaskName(id peer.ID, tasks []string) {
	n, s := t.session.node, t.session
	if n.policy.Refused(time.Now(), id) {
		return
	}
	if s.keys != nil {
		if t.mismatches.answered(id, tasks, []string{s.id}, nil, time.Now()) {
			n.warn(fmt.Sprintf("peer %v works on this task, %q, without the invitation: the two do not help each other, and it tells the task's ID to everybody; give its user the invitation", id, s.task.Name))
		}
		return
	}
	named, err := queryTaskNames(t.ctx, n.host, id, s.task.Name, tasks)
	if t.ctx.Err() != nil {
		return
	}
	if errors.Is(err, protocol.ErrMalformed) {
		n.reportViolation(id, 1, err)
	}
	if err != nil {
		s.logger.Debug("a peer does not say whether its task has this name", "peer", id, "error", err)
	}
	named = slices.DeleteFunc(named, n.worksOn) // nobody mistook a task for one that the node works on as well
	if t.mismatches.answered(id, tasks, named, err, time.Now()) {
		n.warn(fmt.Sprintf("peer %v works on another task of the same name, %q (its id %s, here %s): the task files differ, so the two do not help each other; compare what `fbo-node task check FILE` prints on both machines",
			id, s.task.Name, sanitize.List(named), s.id))
	}
}
