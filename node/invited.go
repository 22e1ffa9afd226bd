package node

import (
	"fmt"

	"github.com/ipfs/go-cid"

	"github.com/fbo-node/fbo/internal/store"
	"github.com/fbo-node/fbo/task"
)

// checkInvited returns an error if the invitation is for a task other than t.
func checkInvited(t *task.Task, i Invitation) error {
	if i.Task() == t.ID() {
		return nil
	}
	return fmt.Errorf("the invitation is to task %v, and %q is task %v: the task files differ", i.Task(), t.Name, t.ID())
}

// enter selects the invitation with which the session joins: the one in the options, else the
// stored one. It stores the invitation for the next start. So a task that once ran by invitation
// does not become open because a later start omits the option. The argument begun reports whether
// the journal already contains the task.
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

// Tag returns the name that stands for the task's ID on the network if the session joined by
// invitation, else cid.Undef.
func (s *Session) Tag() cid.Cid {
	if s.keys == nil {
		return cid.Undef
	}
	return s.keys.Tag()
}
