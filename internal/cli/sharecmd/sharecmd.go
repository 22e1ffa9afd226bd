// Package sharecmd contains the commands that exchange shares by files.
package sharecmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/spf13/cobra"

	"github.com/fbo-node/fbo/internal/bounded"
	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/control"
	"github.com/fbo-node/fbo/internal/cli/past"
	"github.com/fbo-node/fbo/internal/datadir"
	"github.com/fbo-node/fbo/internal/invitation"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/internal/sharebundle"
	"github.com/fbo-node/fbo/internal/store"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// New returns the command share.
func New() *cobra.Command {
	command := &cobra.Command{
		Use:   "share",
		Short: "Exchange shares by files, between nodes without a connection",
		Args:  cobra.ArbitraryArgs,
		RunE: func(command *cobra.Command, args []string) error {
			if len(args) > 0 {
				return base.UnknownCommand(command, args)
			}
			return base.Usagef("%s: expected export or import; see `%s --help`", command.CommandPath(), command.CommandPath())
		},
	}
	command.AddCommand(newExport(), newImport())
	return command
}

// place is a task of a data directory, on which a node may run.
type place struct {
	dir     string
	task    *task.Task
	running bool
	invited *invitation.Invitation // by the flag; nil: the stored one, if any
	allowed []peer.ID
	warn    func(string)
}

// findPlace returns the place of a task.
func findPlace(ctx context.Context, dir string, t *task.Task, invite string, warnings io.Writer) (p place, err error) {
	p = place{dir: dir, task: t, warn: func(message string) { fmt.Fprintf(warnings, "fbo-node: warning: %s\n", message) }}
	if p.invited, err = base.ReadInvite(invite, t); err != nil {
		return p, err
	}
	served, running, err := control.Tasks(ctx, dir)
	if err != nil {
		return p, err
	}
	if p.running = running; running {
		_, err = past.Served(dir, served, t.ID().String())
	}
	return p, err
}

// offline calls a function with a session of a node that has no network and evaluates nothing.
func (p place) offline(ctx context.Context, use func(*node.Session) error) (err error) {
	host, err := node.Offline(p.dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, host.Close()) }()
	n := &node.Node{Dir: p.dir, Host: host, Allow: p.allowed, Strategies: all.Strategies(), Log: base.Logger(), OnWarning: p.warn}
	if err := n.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.Close()) }()
	session, err := n.Join(ctx, p.task, node.JoinOptions{Keep: true, Invitation: p.invited})
	if err != nil {
		return err
	}
	return use(session)
}

func (p place) path() string { return "/v1/tasks/" + p.task.ID().String() + "/shares" }

// checkUsable returns an error if shares of the task are of no use to nodes without a connection.
func checkUsable(t *task.Task) error {
	r := base.RegistrationOf(t)
	if !r.Shares() {
		return base.Usagef("task %q: the strategy is %s, which shares nothing: there is nothing to exchange", t.Name, t.Strategy.Type)
	}
	if len(t.Roster()) > 0 && r.Rostered(t) {
		return base.Usagef("task %q: the nodes of its roster compute together by direct messages; a file of shares cannot replace them", t.Name)
	}
	if why := base.UnusableReason(t); why != "" {
		return base.Usagef("task %q cannot use the shares of nodes that are not connected: %s", t.Name, why)
	}
	return nil
}

// exported is a written bundle.
type exported struct {
	File   string `json:"file"`
	Task   string `json:"task"`
	Sealed bool   `json:"sealed"`
	node.ExportedShares
	Reveals string `json:"reveals,omitempty"`
}

func newExport() *cobra.Command {
	var dir, out, invite string
	var everything, force, asJSON bool
	command := &cobra.Command{
		Use:   "export TASK [flags]",
		Short: "Write the shares of this node to a file",
		Long: `Write the newest shares of this node on a task to a file, for a node without a connection.

The file holds what the node sends to connected peers, in the signed form, and this node signs the
whole file. For a task by invitation it is sealed: only holders of the invitation can read it. The
command prints what the file discloses. It works beside a running node and without one.`,
		Example: `  fbo-node share export task.yaml
  fbo-node share export task.yaml --all --out /media/usb/site-a.shares`,
		Args: base.Exactly(1),
		RunE: func(command *cobra.Command, args []string) error {
			ctx := command.Context()
			dataDir, err := base.ResolveDataDir(dir)
			if err != nil {
				return err
			}
			t, err := past.FindTask(ctx, dir, args[0])
			if err != nil {
				return err
			}
			if err := checkUsable(t); err != nil {
				return err
			}
			if out == "" {
				out = "fbo-" + t.ID().String()[len(t.ID().String())-8:] + ".shares"
			}
			if _, err := os.Lstat(out); err == nil && !force {
				return base.Usagef("share export: %s exists; --force replaces it", out)
			}
			p, err := findPlace(ctx, dataDir, t, invite, command.ErrOrStderr())
			if err != nil {
				return err
			}
			bundle, shares, err := p.export(ctx, everything)
			if err != nil {
				return err
			}
			if shares.Own+shares.Others == 0 {
				return fmt.Errorf("share export: the node of data directory %s has no shares on task %q to export; no file is written", dataDir, t.Name)
			}
			if err := datadir.Replace(out, func(w io.Writer) error { _, err := w.Write(bundle); return err }); err != nil {
				return fmt.Errorf("share export: %w", err)
			}
			e := exported{File: out, Task: t.ID().String(), Sealed: sharebundle.IsSealed(bundle), ExportedShares: shares}
			if reveals := base.RegistrationOf(t).Disclosure(t).Reveals; reveals != nil {
				e.Reveals = reveals(t)
			}
			if asJSON {
				return base.PrintJSON(command.OutOrStdout(), e)
			}
			return e.write(command.OutOrStdout(), t, len(bundle))
		},
	}
	base.AddDataDir(command, &dir)
	base.AddInvite(command, &invite)
	flags := command.Flags()
	flags.StringVar(&out, "out", "", "`FILE` to write (default fbo-ID.shares, with the last characters of the task's ID)")
	flags.BoolVar(&everything, "all", false, "also the shares of other nodes that this node stores")
	flags.BoolVar(&force, "force", false, "replace FILE if it exists")
	base.AddJSON(command, &asJSON)
	return command
}

func (e exported) write(out io.Writer, t *task.Task, size int) error {
	readers := "everyone who has the file"
	if e.Sealed {
		readers = "holders of the task's invitation who have the file"
	}
	text := fmt.Sprintf("%s has %s of this node and %d of others, of task %q; %d bytes\n", e.File, sanitize.Count(e.Own, "share"), e.Others, t.Name, size)
	if e.Omitted > 0 {
		text += fmt.Sprintf("left out: the shares of %s; a file holds those of %d\n", sanitize.Count(e.Omitted, "node"), sharebundle.MaxAuthors)
	}
	text += "readable by " + readers + ", as long as a copy exists\n"
	if e.Reveals != "" {
		text += e.Reveals + "\n"
	}
	_, err := fmt.Fprint(out, text)
	return err
}

func (p place) export(ctx context.Context, everything bool) (bundle []byte, shares node.ExportedShares, err error) {
	if p.running {
		var answer struct {
			node.ExportedShares
			Bundle []byte `json:"bundle"`
		}
		ok, err := control.Ask(ctx, p.dir, fmt.Sprintf("%s?all=%t", p.path(), everything), &answer)
		if err == nil && !ok {
			err = fmt.Errorf("the node that ran on data directory %s has ended: run the command again", p.dir)
		}
		return answer.Bundle, answer.ExportedShares, err
	}
	if _, err := past.Read(ctx, p.dir, p.task.ID().String()); err != nil {
		return nil, shares, err
	}
	err = p.offline(ctx, func(s *node.Session) (err error) {
		bundle, shares, err = s.ExportShares(ctx, everything)
		return err
	})
	return bundle, shares, err
}

type importOptions struct {
	dir    string
	task   string
	invite string
	allow  string
	json   bool
}

func newImport() *cobra.Command {
	var o importOptions
	command := &cobra.Command{
		Use:   "import FILE… [flags]",
		Short: "Accept the shares in files of other nodes",
		Long: `Accept the shares in files that share export has written on other nodes.

Every share is verified as if a peer had sent it: signatures, task, content, age, order, the allow list
and bans. A file with a wrong byte, of another task, or without a share of use is an error, and nothing
of it is stored. A share that is stored already is no error, and neither is one of this node.

A running node uses the shares for its next design. Without one they are stored for the next start.
The first import into a new data directory, or of another node's invitation, needs --task.`,
		Example: `  fbo-node share import site-b.shares
  fbo-node share import --task task.yaml site-b.shares site-c.shares`,
		Args: func(command *cobra.Command, args []string) error {
			if len(args) == 0 {
				return base.Usagef("%s takes at least 1 argument, not 0: %s", command.CommandPath(), command.UseLine())
			}
			return nil
		},
		RunE: func(command *cobra.Command, args []string) error {
			var failed []error
			for _, file := range args {
				if err := o.run(command.Context(), file, command.OutOrStdout(), command.ErrOrStderr()); err != nil {
					failed = append(failed, fmt.Errorf("share import: %s: %w", file, err))
				}
			}
			return errors.Join(failed...)
		},
	}
	base.AddDataDir(command, &o.dir)
	base.AddInvite(command, &o.invite)
	base.AddAllow(command, &o.allow)
	command.Flags().StringVar(&o.task, "task", "", "`TASK` of the files: "+past.Accepted+" (default: the task of each file, if the data directory has it)")
	base.AddJSON(command, &o.json)
	return command
}

// imported is the result of a file.
type imported struct {
	File    string `json:"file"`
	Task    string `json:"task"`
	Running bool   `json:"running"`
	node.ImportCounts
}

func (o importOptions) run(ctx context.Context, file string, out, warnings io.Writer) error {
	dir, err := base.ResolveDataDir(o.dir)
	if err != nil {
		return err
	}
	data, err := bounded.ReadFile(file, sharebundle.MaxBytes)
	if err != nil {
		return base.BadUsage(err)
	}
	t, err := o.taskOf(ctx, dir, data)
	if err != nil {
		return err
	}
	if err := checkUsable(t); err != nil {
		return err
	}
	p, err := findPlace(ctx, dir, t, o.invite, warnings)
	if err != nil {
		return err
	}
	if p.allowed, err = base.ReadAllow(o.allow); err != nil {
		return err
	}
	counts, err := p.accept(ctx, data)
	if err != nil {
		return err
	}
	if o.json {
		return base.PrintJSON(out, imported{file, t.ID().String(), p.running, counts})
	}
	when := "used from the next start"
	if p.running {
		when = "used for the next design"
	}
	if counts.New == 0 {
		when = "nothing has changed"
	}
	_, err = fmt.Fprintf(out, "%s: shares of task %q: %s; %s\n", file, t.Name, counts, when)
	return err
}

// taskOf returns the task of the flag, or of the file if the data directory has it.
func (o importOptions) taskOf(ctx context.Context, dir string, data []byte) (*task.Task, error) {
	if o.task != "" {
		return past.FindTask(ctx, o.dir, o.task)
	}
	if !sharebundle.IsSealed(data) {
		b, err := sharebundle.Decode(data, nil)
		if err != nil {
			return nil, err
		}
		h, err := past.Read(ctx, dir, b.Task.String())
		if err != nil {
			return nil, fmt.Errorf("it is of task %v, which data directory %s does not have; --task TASK names the task's file: %w", b.Task, dir, err)
		}
		return h.Task, nil
	}
	ids, err := store.InvitedTasks(dir)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		i, err := store.JoinedBy(dir, id)
		if err != nil || i == nil {
			continue
		}
		if _, err := sharebundle.Decode(data, i.Keys()); err == nil {
			h, err := past.Read(ctx, dir, id)
			return h.Task, err
		}
	}
	return nil, fmt.Errorf("it is sealed, or damaged, and no invitation in data directory %s opens it; name the task and the invitation by --task TASK --invite FILE", dir)
}

// check verifies a bundle before a node starts: a bad one must not make the data directory join a task.
func (p place) check(bundle []byte) error {
	i := p.invited
	if i == nil {
		var err error
		if i, err = store.JoinedBy(p.dir, p.task.ID().String()); err != nil {
			return err
		}
	}
	var keys *invitation.Keys
	if i != nil {
		keys = i.Keys()
	}
	b, err := sharebundle.Decode(bundle, keys)
	if err == nil && !b.Task.Equals(p.task.ID()) {
		err = fmt.Errorf("it is of task %v, expected %v; nothing of it is stored", b.Task, p.task.ID())
	}
	return err
}

// accept imports a bundle into the running node, or into the data directory.
func (p place) accept(ctx context.Context, bundle []byte) (counts node.ImportCounts, err error) {
	if !p.running {
		if err := p.check(bundle); err != nil {
			return counts, err
		}
		err = p.offline(ctx, func(s *node.Session) (err error) {
			counts, err = s.ImportShares(ctx, bundle)
			return err
		})
		return counts, err
	}
	ok, err := control.Post(ctx, p.dir, p.path(), base.Object{"bundle": bundle}, &counts)
	if err == nil && !ok {
		err = fmt.Errorf("the node that ran on data directory %s has ended: run the command again", p.dir)
	}
	return counts, err
}
