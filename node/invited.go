package node

import (
	"fmt"
	"slices"
	"time"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/invitation"
	"github.com/fbo-node/fbo/internal/store"
	"github.com/fbo-node/fbo/task"
)

// checkInvited returns an error when an invitation is to another task.
func checkInvited(t *task.Task, i Invitation) error {
	if i.Task() == t.ID() {
		return nil
	}
	return fmt.Errorf("the invitation is to task %v, and %q is task %v: the task files differ", i.Task(), t.Name, t.ID())
}

// enter finds out by which invitation the session joins its task, and keeps that one
// for the next start: a task that once ran by invitation must not be opened by an option
// that was forgotten.
func (s *Session) enter(begun bool) error {
	given := s.options.Invitation
	if given != nil {
		if err := checkInvited(s.task, *given); err != nil {
			return err
		}
	}
	kept, err := store.JoinedBy(s.node.Dir, s.id)
	if err != nil {
		return err
	}
	if given == nil {
		given = kept
	} else if kept == nil || !kept.Equal(*given) {
		if err := s.node.store.KeepInvitation(*given); err != nil {
			return err
		}
		switch {
		case kept != nil:
			s.node.warn(fmt.Sprintf("task %q: the invitation is another than before; nodes that have the earlier one are not met any more, and who has it can read what was recorded until now", s.task.Name))
		case begun:
			s.node.warn(fmt.Sprintf("task %q ran without an invitation until now: its ID, and what was shared, may be known to whoever reached a node", s.task.Name))
		}
	}
	s.called, s.rendezvous = s.task.ID(), s.task.ID()
	if given != nil {
		s.keys = given.Keys()
		s.called, s.rendezvous = s.keys.Tag(), s.keys.Meeting()
	}
	return nil
}

// Tag is what stands for the task on the network when the node takes part by
// invitation; cid.Undef when it does not.
func (s *Session) Tag() cid.Cid {
	if s.keys == nil {
		return cid.Undef
	}
	return s.keys.Tag()
}

// prove shows the peer at the other end of a stream that this node has opened that the
// node has the invitation, and demands the same; nothing happens on an open task.
func (t *topic) prove(stream network.Stream) error {
	if t.session.keys == nil {
		return nil
	}
	ends := invitation.Ends{Opened: t.session.node.host.ID(), Accepted: stream.Conn().RemotePeer(), Protocol: string(stream.Protocol())}
	return t.proven(stream, t.session.keys.Prove(stream, ends))
}

// demand is prove for a stream that the peer has opened.
func (t *topic) demand(stream network.Stream) error {
	if t.session.keys == nil {
		return nil
	}
	ends := invitation.Ends{Opened: stream.Conn().RemotePeer(), Accepted: t.session.node.host.ID(), Protocol: string(stream.Protocol())}
	return t.proven(stream, t.session.keys.Answer(stream, ends))
}

func (t *topic) proven(stream network.Stream, err error) error {
	if err != nil {
		return t.reportMalformed(stream, err)
	}
	id := stream.Conn().RemotePeer()
	if t.session.node.policy.Admit(id, t.name()) {
		select {
		case t.admissions <- id:
		case <-t.ctx.Done():
		}
	}
	return nil
}

// onTask lists the peers on the topic, without those that have not proven the
// invitation.
func (t *topic) onTask() []peer.ID {
	return slices.DeleteFunc(t.topic.ListPeers(), func(id peer.ID) bool { return !t.session.node.policy.Admitted(id, t.name()) })
}

// receiveUnadmitted welcomes those who have proven the invitation when they were on the topic
// before.
func (t *topic) receiveUnadmitted() {
	for {
		select {
		case <-t.ctx.Done():
			return
		case id := <-t.admissions:
			if t.here.has(id) {
				t.welcome(id)
			}
		}
	}
}

// Between attempts to get a proof from a peer that has come to the topic.
const (
	firstProofPause   = time.Second
	longestProofPause = 30 * time.Second
)

// askProof goes on asking a peer that has come to the topic until it has proven the
// invitation, or is gone. What it catches up on by the way is no loss.
func (t *topic) askProof(id peer.ID) {
	if !t.asking.add(id) {
		return // it has left and come back meanwhile
	}
	defer t.asking.remove(id)
	n := t.session.node
	for pause := firstProofPause; ; pause = min(2*pause, longestProofPause) {
		if n.policy.Admitted(id, t.name()) || n.isBanned(id) || !t.here.has(id) {
			return
		}
		t.fetch(id)
		select {
		case <-t.ctx.Done():
			return
		case <-time.After(n.policy.Jittered(pause)):
		}
	}
}
