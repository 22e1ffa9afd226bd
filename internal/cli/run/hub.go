package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"

	"github.com/ipfs/go-cid"
	"github.com/spf13/cobra"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/control"
	"github.com/fbo-node/fbo/internal/datadir"
	"github.com/fbo-node/fbo/internal/invitation"
	"github.com/fbo-node/fbo/internal/peeraddr"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// hubOptions are the flags of hub.
type hubOptions struct {
	dir      string
	listen   []string
	allow    string
	keep     []string
	invites  []string
	json     bool
	logLevel string
}

// NewHub returns the command hub.
func NewHub() *cobra.Command {
	var o hubOptions
	command := &cobra.Command{
		Use:   "hub [flags]",
		Short: "Introduce nodes to each other, and relay between those behind NATs",
		Long: `Introduce the nodes of a task to each other, and relay between those that cannot
reach each other, such as nodes behind different NATs.

A hub runs on a machine that all of them can reach, usually with a public address.
It takes part in no task, unless --keep names one. Nodes use it with run --hub
ADDRESS. What a hub learns, and its limits: docs/network.md.

Ctrl-C stops it; nodes come back to it when it starts again.`,
		Example: `  fbo-node hub
  fbo-node hub --keep task.yaml
  fbo-node hub --listen /ip4/0.0.0.0/udp/443/quic-v1 --allow lab.txt`,
		Args: base.Exactly(0),
		RunE: func(command *cobra.Command, _ []string) error {
			return o.run(command.Context(), command.OutOrStdout())
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.dir, "data-dir", "", "directory of the hub's identity (default \"hub\" in the data directory of a node)")
	flags.StringArrayVar(&o.listen, "listen", nil, "multiaddress to listen on, repeatable (default: port 4001 by QUIC and TCP)")
	base.AddAllow(command, &o.allow)
	flags.StringArrayVar(&o.keep, "keep", nil, "task `FILE` of which to keep what the nodes share, for those who come later, repeatable; see fbo-node keep --help")
	flags.StringArrayVar(&o.invites, "invite", nil, "file with the invitation to a task of --keep, repeatable; the hub's directory keeps it for later starts")
	flags.BoolVar(&o.json, "json", false, "print one JSON object per event")
	base.AddLogLevel(command, &o.logLevel)
	base.FromEnvironment(command, "listen", "keep", "json")
	return command
}

func (o hubOptions) run(ctx context.Context, out io.Writer) error {
	if _, err := peeraddr.ParseListen(o.listen); err != nil {
		return base.Usagef("--listen: %w", err)
	}
	allowed, err := base.ReadAllow(o.allow)
	if err != nil {
		return err
	}
	if err := base.SetLogLevel(o.logLevel); err != nil {
		return err
	}
	dir := o.dir
	if dir == "" {
		if dir, err = base.ResolveDataDir(""); err != nil {
			return err
		}
		dir = control.HubDir(dir)
		if err := datadir.NoLink(dir); err != nil {
			return err
		}
	}
	kept, err := o.readKept(ctx, dir)
	if err != nil {
		return err
	}
	invited, err := o.readInvites(kept)
	if err != nil {
		return err
	}
	h := &node.Hub{Dir: dir, Listen: o.listen, Allow: allowed, Strategies: all.Strategies(), Log: base.Logger(), OnWarning: func(message string) { o.warning(out, message) }}
	if err := h.Start(ctx); err != nil {
		if errors.Is(err, context.Canceled) && ctx.Err() != nil {
			return nil
		}
		return err
	}
	stopAnswers, err := serveHub(h)
	if err != nil {
		o.warning(out, fmt.Sprintf("status --running will not find this hub: %v", err))
	} else {
		defer stopAnswers()
	}
	o.started(out, h)
	if err := o.keepAll(ctx, out, h, kept, invited); err != nil {
		return errors.Join(err, h.Close())
	}
	<-ctx.Done()
	if o.json {
		_ = base.PrintJSON(out, base.Object{"event": "interrupted"})
	} else {
		fmt.Fprintln(out, "stopped; nodes come back when the hub does")
	}
	return h.Close()
}

// readKept reads the tasks to keep.
func (o hubOptions) readKept(ctx context.Context, dir string) (kept []*task.Task, err error) {
	for _, file := range o.keep {
		t, err := readKeptTask(ctx, dir, file)
		if err != nil {
			return nil, fmt.Errorf("--keep: %w", err)
		}
		if slices.ContainsFunc(kept, func(other *task.Task) bool { return other.ID() == t.ID() }) {
			return nil, base.Usagef("--keep %s: task %q (%s) is named twice", file, t.Name, t.ID())
		}
		kept = append(kept, t)
	}
	return kept, nil
}

// readInvites reads the invitations to kept tasks, by task.
func (o hubOptions) readInvites(kept []*task.Task) (map[cid.Cid]*invitation.Invitation, error) {
	invited := map[cid.Cid]*invitation.Invitation{}
	for _, file := range o.invites {
		i, err := base.ReadInvitation("--invite", file)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(kept, func(t *task.Task) bool { return t.ID() == i.Task() }) {
			return nil, base.Usagef("--invite: %s is an invitation to task %v, which no --keep names", file, i.Task())
		}
		if invited[i.Task()] != nil {
			return nil, base.Usagef("--invite: %s is a second invitation to task %v", file, i.Task())
		}
		invited[i.Task()] = &i
	}
	return invited, nil
}

func (o hubOptions) keepAll(ctx context.Context, out io.Writer, h *node.Hub, kept []*task.Task, invited map[cid.Cid]*invitation.Invitation) error {
	for _, t := range kept {
		session, err := h.KeepInvited(ctx, t, invited[t.ID()])
		if err != nil {
			return err
		}
		o.printLine(out, base.Object{"event": "keeping", "task": t.ID().String(), "name": t.Name, "tag": tagOf(session), "unusable_reason": base.UnusableReason(t)}, keptLine(t, tagOf(session)))
		go watchStored(ctx, session, func(stored node.StoredShares) {
			o.printLine(out, base.Object{"event": "shares_stored", "task": t.ID().String(), "authors": stored.Authors, "peer_shares": stored.PeerShares},
				fmt.Sprintf("task %q: %s", t.Name, storedText(stored)))
		})
	}
	return nil
}

func keptLine(t *task.Task, tag string) string {
	line := fmt.Sprintf("keeps what the nodes of task %q (%s) share", t.Name, t.ID())
	if tag != "" {
		line += ", by invitation as " + tag
	}
	if why := base.UnusableReason(t); why != "" {
		line += "; it cannot use the shares of absent nodes: " + why
	}
	return line
}

func (o hubOptions) warning(out io.Writer, message string) {
	o.printLine(out, base.Object{"event": "warning", "message": message}, "warning: "+sanitize.Lines(message))
}

// printLine prints a line for people, or an object for programs. It ignores a failing write.
func (o hubOptions) printLine(out io.Writer, event base.Object, line string) {
	if o.json {
		_ = base.PrintJSON(out, event)
	} else {
		fmt.Fprintln(out, line)
	}
}

// started prints the addresses. It ignores a failing write.
func (o hubOptions) started(out io.Writer, h *node.Hub) {
	if o.json {
		_ = base.PrintJSON(out, base.Object{
			"event": "hub_started", "peer_id": h.ID().String(), "addresses": h.Addresses(), "data_dir": h.Dir, "open": h.Allow == nil,
		})
		return
	}
	fmt.Fprintf(out, "hub %s, data in %s\n", h.ID(), h.Dir)
	for _, address := range worthShowing(h.Addresses()) {
		fmt.Fprintf(out, "nodes use it with --hub %s\n", address)
	}
	if h.Allow == nil {
		fmt.Fprintln(out, "The hub is open: each node that reaches it can use it (--allow FILE restricts it).")
	}
}

// serveHub lets status --running find the hub until stop is called.
func serveHub(h *node.Hub) (stop func(), err error) {
	answer := control.Hub{PeerID: h.ID().String(), Addresses: h.Addresses()}
	return serveSocket(filepath.Join(h.Dir, control.HubSocket), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = base.PrintJSON(w, answer) // an error means that the client has disconnected
	}))
}
