package taskcmd

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/past"
	"github.com/fbo-node/fbo/internal/invitation"
	"github.com/fbo-node/fbo/internal/store"
	"github.com/fbo-node/fbo/task"
)

// defaultGuestTime is the time for which a guest string admits.
const defaultGuestTime = 7 * 24 * time.Hour

// inviteOptions are the flags of task invite.
type inviteOptions struct {
	dir, out    string
	json        bool
	invite      string
	hubs, peers []string
	open, qr    bool
	guest       string
	expires     time.Duration
	uses        int
	list        bool
	revoke      string
}

func newInvite() *cobra.Command {
	var o inviteOptions
	command := &cobra.Command{
		Use:   "invite TASK",
		Short: "Make an invitation, or one string by which others join the task",
		Long: `Make an invitation to a task: one line with the task's ID and a new secret. All nodes
of the task get the same one, by a way that only they can read, and run with
--invite FILE. Nodes without it can neither join the task, nor read shares,
nor learn its ID. Each invitation is another secret: make one for all.

With --hub or --peer it makes one string with which fbo-node join needs neither the task
file, nor the invitation, nor addresses. The string has the invitation of --invite, else
the one that the data directory keeps, else a new one, which the directory then keeps.
Every holder of the string is a member: it does not expire.

With --guest NAME the string has a token of its own, for --uses nodes within --expires.
Only the node of this data directory admits by it, while it runs the task. After that the
guest has the invitation: --revoke NAME ends further admissions, not a membership.

Without --out the line is printed.`,
		Example: `  fbo-node task invite task.yaml --out task.invite
  fbo-node task invite task.yaml --hub /dns4/hub.example.org/udp/4001/quic-v1/p2p/12D3Koo… --qr
  fbo-node task invite task.yaml --guest lab-b --expires 48h --hub /ip4/198.51.100.7/…
  fbo-node task invite task.yaml --list`,
		Args: base.Exactly(1),
		RunE: func(command *cobra.Command, args []string) error {
			given := command.Flags().Changed
			switch {
			case o.guest == "" && (given("expires") || given("uses")):
				return base.Usagef("--expires and --uses need --guest: a member string has the secret itself, which no program can take back")
			case o.open && (o.guest != "" || o.invite != ""):
				return base.Usagef("--open makes a string to an open task; expected it without --guest and --invite")
			case o.list && o.revoke != "" || (o.list || o.revoke != "") && (o.open || o.guest != ""):
				return base.Usagef("--list, --revoke and the flags of a new string: expected one of them")
			case o.expires <= 0:
				return base.Usagef("--expires %v: expected times above 0 such as 48h", o.expires)
			case o.uses < 1 || o.uses > store.MaxGuestUses:
				return base.Usagef("--uses %d: expected 1 to %d", o.uses, store.MaxGuestUses)
			}
			t, err := past.FindTask(command.Context(), o.dir, args[0])
			if err != nil {
				return err
			}
			switch {
			case o.list:
				return o.listGuests(command, t)
			case o.revoke != "":
				return o.revokeGuest(command, t)
			case o.guest != "" || o.open || len(o.hubs)+len(o.peers) > 0:
				return o.makeString(command, t)
			case o.qr || o.invite != "":
				return base.Usagef("--qr and --invite need --hub or --peer: a string without an address leads to no node")
			}
			return o.makeInvitation(command, t)
		},
	}
	flags := command.Flags()
	base.AddDataDir(command, &o.dir)
	base.AddJSON(command, &o.json)
	flags.StringVar(&o.out, "out", "", "file to write it to, readable by its owner only; it must not exist (default: print it)")
	flags.StringArrayVar(&o.hubs, "hub", nil, "address of a hub in the string, repeatable")
	flags.StringArrayVar(&o.peers, "peer", nil, "address of a node on the task in the string, repeatable (default with --guest or --open and without --hub: those of the node that runs here)")
	flags.StringVar(&o.invite, "invite", "", "file with the invitation for the string (default: the one that the data directory keeps, else a new one)")
	flags.BoolVar(&o.open, "open", false, "make a string to a task that runs without an invitation")
	flags.StringVar(&o.guest, "guest", "", "make a guest string of this `NAME`")
	flags.DurationVar(&o.expires, "expires", defaultGuestTime, "time for which the guest string admits nodes, such as 48h")
	flags.IntVar(&o.uses, "uses", 1, "number of nodes that the guest string admits")
	flags.BoolVar(&o.qr, "qr", false, "print the string as a QR code too (default: at a terminal)")
	flags.BoolVar(&o.list, "list", false, "list the guest strings to the task, and the nodes that used them")
	flags.StringVar(&o.revoke, "revoke", "", "end admissions by the guest string of this `NAME`")
	return command
}

// makeInvitation prints or writes an invitation without addresses.
func (o inviteOptions) makeInvitation(command *cobra.Command, t *task.Task) error {
	i := invitation.New(t.ID())
	made := base.Object{"task": t.ID().String(), "name": t.Name, "tag": i.Keys().Tag().String()}
	if o.out == "" && o.json {
		made["invitation"] = i.Text()
		return base.PrintJSON(command.OutOrStdout(), made)
	}
	if o.out == "" {
		fmt.Fprintln(command.OutOrStdout(), i.Text())
		return nil
	}
	if err := store.WriteInvitation(o.out, i); errors.Is(err, fs.ErrExist) {
		return base.Usagef("--out: %s exists; an invitation in use is not replaced: give the nodes a copy of it, or write a new one to another file", o.out)
	} else if err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	if o.json {
		made["file"] = o.out
		return base.PrintJSON(command.OutOrStdout(), made)
	}
	fmt.Fprintf(command.OutOrStdout(), "%s invites to task %q (%s), which its nodes announce as %s\n", o.out, t.Name, t.ID(), i.Keys().Tag())
	return nil
}
