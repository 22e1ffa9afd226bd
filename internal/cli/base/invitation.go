package base

import (
	"github.com/spf13/cobra"

	"github.com/fbo-node/fbo/internal/invitation"
	"github.com/fbo-node/fbo/internal/store"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/task"
)

// AddInvite adds the flag of commands that take part in one task. Its variable has the name of the
// invitation's file, not the secret: trainings inherit the environment.
func AddInvite(command *cobra.Command, file *string) {
	command.Flags().StringVar(file, "invite", "", "file with the invitation that the task's nodes have; the data directory keeps it for later starts (default: the one that is kept, else the task is open)")
	FromEnvironment(command, "invite")
}

// ReadInvite reads the invitation to a task; no file means none.
func ReadInvite(file string, t *task.Task) (*invitation.Invitation, error) {
	const from = "--invite"
	if file == "" {
		return nil, nil
	}
	i, err := ReadInvitation(from, file)
	if err != nil {
		return nil, err
	}
	if err := Fits(from, file, i, t.ID().String()); err != nil {
		return nil, err
	}
	return &i, nil
}

// ReadInvitation reads a file that a flag or variable names.
func ReadInvitation(from, file string) (invitation.Invitation, error) {
	i, err := node.ReadInvitation(file)
	if err != nil {
		return i, Usagef("%s: %w", from, err)
	}
	return i, nil
}

// Fits checks that an invitation is one to the task.
func Fits(from, file string, i invitation.Invitation, taskID string) error {
	if i.Task().String() != taskID {
		return Usagef("%s: %s is an invitation to task %v, not to %s: compare the task file with that of the machine where the invitation was made", from, file, i.Task(), taskID)
	}
	return nil
}

// KeptTag returns the tag that the node of a data directory announces in place of a task's ID,
// according to its stored invitation; empty without one.
func KeptTag(dir, taskID string) (string, error) {
	i, err := store.JoinedBy(dir, taskID)
	if err != nil || i == nil {
		return "", err
	}
	return i.Keys().Tag().String(), nil
}
