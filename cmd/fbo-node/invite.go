package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/invitation"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/task"
)

// inviteVariable names a file, not the secret: trainings inherit the environment.
const inviteVariable = "FBO_INVITE"

// addInvite adds the flag of commands that take part in one task.
func addInvite(command *cobra.Command, file *string) {
	command.Flags().StringVar(file, "invite", "", "file with the invitation that the task's nodes have; the data directory keeps it for later starts (default $"+inviteVariable+", else the one that is kept, else the task is open)")
}

// readInvite reads the invitation to a task; no file, by flag or environment, means none.
func readInvite(file string, t *task.Task) (*invitation.Invitation, error) {
	from := "--invite"
	if file == "" {
		file, from = os.Getenv(inviteVariable), "$"+inviteVariable
	}
	if file == "" {
		return nil, nil
	}
	i, err := readInvitation(from, file)
	if err != nil {
		return nil, err
	}
	if err := fits(from, file, i, t.ID().String()); err != nil {
		return nil, err
	}
	return &i, nil
}

// readInvitation reads a file that a flag or variable names.
func readInvitation(from, file string) (invitation.Invitation, error) {
	i, err := node.ReadInvitation(file)
	if err != nil {
		return i, base.Usagef("%s: %w", from, err)
	}
	return i, nil
}

func fits(from, file string, i invitation.Invitation, taskID string) error {
	if i.Task().String() != taskID {
		return base.Usagef("%s: %s is an invitation to task %v, not to %s: compare the task file with that of the machine where the invitation was made", from, file, i.Task(), taskID)
	}
	return nil
}

func newInvite() *cobra.Command {
	var dir, out string
	command := &cobra.Command{
		Use:   "invite TASK",
		Short: "Make an invitation, without which nobody joins the task or reads its shares",
		Long: `Make an invitation to a task: one line with the task's ID and a new secret. All nodes
of the task get the same one, by a way that only they can read, and run with
--invite FILE. Whoever has none can neither join the task, nor read what the nodes
share, nor learn its ID from them. Each invitation is another secret: make one for all.

Without --out the line is printed.`,
		Example: `  fbo-node task invite task.yaml --out task.invite
  fbo-node run task.yaml --invite task.invite -- ./measure {x}`,
		Args: base.Exactly(1),
		RunE: func(command *cobra.Command, args []string) error {
			t, err := findTask(command.Context(), dir, args[0])
			if err != nil {
				return err
			}
			i := invitation.New(t.ID())
			if out == "" {
				fmt.Fprintln(command.OutOrStdout(), i.Text())
				return nil
			}
			if err := node.WriteInvitation(out, i); errors.Is(err, fs.ErrExist) {
				return base.Usagef("--out: %s exists; an invitation in use is not replaced: give the nodes a copy of it, or write a new one to another file", out)
			} else if err != nil {
				return fmt.Errorf("--out: %w", err)
			}
			fmt.Fprintf(command.OutOrStdout(), "%s invites to task %q (%s), which its nodes announce as %s\n", out, t.Name, t.ID(), i.Keys().Tag())
			return nil
		},
	}
	base.AddDataDir(command, &dir)
	command.Flags().StringVar(&out, "out", "", "file to write it to, readable by its owner only; it must not exist (default: print it)")
	return command
}

// keptTag tells what stands for a task on the network when this data directory's node
// takes part by invitation; empty when it does not.
func keptTag(dir, taskID string) (string, error) {
	i, err := node.KeptInvitation(dir, taskID)
	if err != nil || i == nil {
		return "", err
	}
	return i.Keys().Tag().String(), nil
}
