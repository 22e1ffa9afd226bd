package taskcmd

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/past"
	"github.com/fbo-node/fbo/internal/invitation"
	"github.com/fbo-node/fbo/internal/store"
)

func newInvite() *cobra.Command {
	var dir, out string
	var asJSON bool
	command := &cobra.Command{
		Use:   "invite TASK",
		Short: "Make an invitation: only nodes that have it join the task and read its shares",
		Long: `Make an invitation to a task: one line with the task's ID and a new secret. All nodes
of the task get the same one, by a way that only they can read, and run with
--invite FILE. Nodes without it can neither join the task, nor read shares,
nor learn its ID. Each invitation is another secret: make one for all.

Without --out the line is printed.`,
		Example: `  fbo-node task invite task.yaml --out task.invite
  fbo-node run task.yaml --invite task.invite -- ./measure {x}`,
		Args: base.Exactly(1),
		RunE: func(command *cobra.Command, args []string) error {
			t, err := past.FindTask(command.Context(), dir, args[0])
			if err != nil {
				return err
			}
			i := invitation.New(t.ID())
			made := base.Object{"task": t.ID().String(), "name": t.Name, "tag": i.Keys().Tag().String()}
			if out == "" && asJSON {
				made["invitation"] = i.Text()
				return base.PrintJSON(command.OutOrStdout(), made)
			}
			if out == "" {
				fmt.Fprintln(command.OutOrStdout(), i.Text())
				return nil
			}
			if err := store.WriteInvitation(out, i); errors.Is(err, fs.ErrExist) {
				return base.Usagef("--out: %s exists; an invitation in use is not replaced: give the nodes a copy of it, or write a new one to another file", out)
			} else if err != nil {
				return fmt.Errorf("--out: %w", err)
			}
			if asJSON {
				made["file"] = out
				return base.PrintJSON(command.OutOrStdout(), made)
			}
			fmt.Fprintf(command.OutOrStdout(), "%s invites to task %q (%s), which its nodes announce as %s\n", out, t.Name, t.ID(), i.Keys().Tag())
			return nil
		},
	}
	base.AddDataDir(command, &dir)
	base.AddJSON(command, &asJSON)
	command.Flags().StringVar(&out, "out", "", "file to write it to, readable by its owner only; it must not exist (default: print it)")
	return command
}
