package node

import (
	"fmt"

	"github.com/ipfs/go-cid"

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
			s.node.warn(fmt.Sprintf("task %q ran without an invitation until now: its ID, and what was shared, may be known to all that reached a node", s.task.Name))
		}
	}
	if given != nil {
		s.keys = given.Keys()
	}
	return nil
}

// Tag returns the name of the task on the network when the node takes part by
// invitation; cid.Undef when it does not.
func (s *Session) Tag() cid.Cid {
	if s.keys == nil {
		return cid.Undef
	}
	return s.keys.Tag()
}
