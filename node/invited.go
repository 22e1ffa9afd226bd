package node

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/datadir"
	"github.com/fbo-node/fbo/internal/invitation"
	"github.com/fbo-node/fbo/task"
)

// invitationDir is where in a node's directory the invitations lie by which it has
// joined, one a task.
const invitationDir = "invitations"

// ReadInvitation reads an invitation from a file. One that others can read is refused,
// since whoever has it can join.
func ReadInvitation(path string) (Invitation, error) {
	file, err := os.Open(path)
	if err != nil {
		return Invitation{}, fmt.Errorf("invitation: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return Invitation{}, fmt.Errorf("invitation: %w", err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return Invitation{}, fmt.Errorf("invitation %s is readable by others (mode %04o): accepted is 0600; make a new invitation if others may have read it", path, info.Mode().Perm())
	}
	text, err := io.ReadAll(io.LimitReader(file, 2*invitation.MaxTextBytes))
	if err != nil {
		return Invitation{}, fmt.Errorf("invitation: %w", err)
	}
	i, err := invitation.Parse(string(text))
	if err != nil {
		return Invitation{}, fmt.Errorf("%s: %w", path, err)
	}
	return i, nil
}

// WriteInvitation writes an invitation to a file that only its owner can read. It
// replaces nothing: the error wraps fs.ErrExist where there is a file.
func WriteInvitation(path string, i Invitation) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("invitation: %w", err)
	}
	_, err = fmt.Fprintln(file, i.Text())
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("invitation: %w", err)
	}
	return nil
}

func keptInvitationPath(dir, task string) string {
	return filepath.Join(dir, invitationDir, task)
}

// KeptInvitation returns the invitation by which a node with this directory has joined a
// task, which is kept for its next start; nil when there is none.
func KeptInvitation(dir, task string) (*Invitation, error) {
	path := keptInvitationPath(dir, task)
	for _, part := range []string{filepath.Dir(path), path} {
		if err := datadir.NoLink(part); err != nil {
			return nil, fmt.Errorf("invitation: %w", err)
		}
	}
	i, err := ReadInvitation(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && i.Task().String() != task {
		err = fmt.Errorf("%s is an invitation to task %v", path, i.Task())
	}
	if err != nil {
		return nil, err
	}
	return &i, nil
}

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
	kept, err := KeptInvitation(s.node.Dir, s.id)
	if err != nil {
		return err
	}
	if given == nil {
		given = kept
	} else if kept == nil || !kept.Equal(*given) {
		path := keptInvitationPath(s.node.Dir, s.id)
		if _, err := datadir.Folder(s.node.Dir, invitationDir); err != nil {
			return fmt.Errorf("invitation: %w", err)
		}
		if err := writeFile(path, given.Text()+"\n"); err != nil {
			return fmt.Errorf("invitation: %w", err)
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
			if t.policy.OnTopic(id) {
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
	n := t.session.node
	for pause := firstProofPause; ; pause = min(2*pause, longestProofPause) {
		if n.policy.Admitted(id, t.name()) || n.isBanned(id) || !t.policy.OnTopic(id) {
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
