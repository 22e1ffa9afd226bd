package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/past"
	"github.com/fbo-node/fbo/internal/invitation"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/task"
)

// keepOptions are the flags of keep.
type keepOptions struct {
	dir      string
	network  networkOptions
	invite   string
	json     bool
	metrics  string
	logLevel string
}

// NewKeep returns the command keep.
func NewKeep() *cobra.Command {
	var o keepOptions
	command := &cobra.Command{
		Use:   "keep TASK [flags]",
		Short: "Keep what the nodes of a task have shared for those who come later",
		Long: `Keep what the nodes of a task have shared, and pass it on to those who come later,
also when its authors have ended.

A keeper is a member of the task that evaluates nothing. It keeps the newest shares
of each node for as long as they are valid, up to 90 days, over restarts too. Where
nodes run with --allow, the keeper's peer ID must be on their lists. With the data
directory of a node that has ended it passes on what that node has shared as well.

Ctrl-C stops it; the same command continues.`,
		Example: `  fbo-node keep task.yaml
  fbo-node keep task.yaml --hub /ip4/198.51.100.7/udp/4001/quic-v1/p2p/12D3Koo…`,
		Args: base.Exactly(1),
		RunE: func(command *cobra.Command, args []string) error {
			return o.run(command.Context(), args[0])
		},
	}
	base.AddDataDir(command, &o.dir)
	addNetwork(command, &o.network)
	base.AddInvite(command, &o.invite)
	command.Flags().BoolVar(&o.json, "json", false, "print one JSON object per event")
	command.Flags().StringVar(&o.metrics, "metrics", "", "serve Prometheus metrics at this address, such as 127.0.0.1:9464 (default: not)")
	base.AddLogLevel(command, &o.logLevel)
	base.FromEnvironment(command, "json", "metrics")
	return command
}

func (o keepOptions) run(ctx context.Context, file string) error {
	if err := errors.Join(o.network.validate(), checkMetricsAddress(o.metrics)); err != nil {
		return err
	}
	if err := base.SetLogLevel(o.logLevel); err != nil {
		return err
	}
	allowed, err := readAllow(o.network.allow)
	if err != nil {
		return err
	}
	t, err := readKeptTask(ctx, o.dir, file)
	if err != nil {
		return err
	}
	dir, err := base.ResolveDataDir(o.dir)
	if err != nil {
		return err
	}
	invited, err := base.ReadInvite(o.invite, t)
	if err != nil {
		return err
	}
	if err := o.network.recall(dir, t); err != nil {
		return err
	}
	show := newDisplay(os.Stdout, t, o.json)
	n := o.network.node(dir, allowed, show.Warning)
	err = o.keep(ctx, t, n, invited, show)
	if ctx.Err() != nil && (err == nil || errors.Is(err, context.Canceled)) {
		show.interrupted()
		return nil
	}
	return err
}

func (o keepOptions) keep(ctx context.Context, t *task.Task, n *node.Node, invited *invitation.Invitation, show *display) (err error) {
	options := node.JoinOptions{Keep: true, Invitation: invited, OnEvent: show.Event, OnFailure: endsCommand}
	m, err := takePart(ctx, n, t, options, o.metrics, "", show)
	defer func() { err = m.close(err) }()
	if err != nil {
		return err
	}
	show.keeping(ctx, n, m.session)
	if m.metrics != nil {
		show.metrics(m.metrics.url())
	}
	return show.watchKeeping(ctx, m.session, o.network.seeks())
}

// readKeptTask reads a task whose strategy publishes shares.
func readKeptTask(ctx context.Context, dir, file string) (*task.Task, error) {
	t, err := past.FindTask(ctx, dir, file)
	if err == nil && !base.RegistrationOf(t).Shares() {
		err = base.Usagef("%s: the strategy is %s, which shares nothing: there is nothing to keep", file, t.Strategy.Type)
	}
	return t, err
}

// keeping prints the first lines of keep.
func (p *display) keeping(ctx context.Context, n *node.Node, session *node.Session) {
	lines := append(p.hello(n), p.terms(ctx, n, session)...)
	lines[0] += ", kept for others; this node evaluates nothing"
	if why := base.UnusableReason(p.Task); why != "" {
		lines = append(lines, "This task cannot use the shares of absent nodes: "+why+".")
	}
	p.PrintLine(base.Object{
		"event": "keeper_started", "task": p.Task.ID().String(), "name": p.Task.Name,
		"peer_id": n.ID().String(), "addresses": n.Addresses(), "data_dir": n.Dir, "open": isOpen(n, session), "tag": tagOf(session), "unusable_reason": base.UnusableReason(p.Task),
	}, "%s", text(lines))
	p.Begin()
}

// watchKeeping reports the connected peers and the stored shares, until the session or the
// context ends.
func (p *display) watchKeeping(ctx context.Context, session *node.Session, seeks bool) error {
	go p.watch(ctx, session, seeks)
	return watchStored(ctx, session, func(stored node.StoredShares) {
		p.PrintLine(base.Object{"event": "shares_stored", "authors": stored.Authors, "peer_shares": stored.PeerShares, "own_shares": stored.OwnShares}, "%s", storedText(stored))
	})
}

// watchStored reports the stored shares, first at once and then after each change, until the
// session or the context ends.
func watchStored(ctx context.Context, session *node.Session, report func(node.StoredShares)) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var stored node.StoredShares
	for first := true; ; first = false {
		status, err := session.Status(ctx)
		if err != nil {
			return err
		}
		if now := status.Stored; now != stored || first {
			stored = now
			report(stored)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func storedText(k node.StoredShares) string {
	switch {
	case k.PeerShares+k.OwnShares == 0:
		return "nothing is stored yet"
	case k.OwnShares == 0:
		return fmt.Sprintf("%s of %s stored for nodes that join later", sanitize.Count(k.PeerShares, "share"), sanitize.Count(k.Authors, "node"))
	case k.PeerShares == 0:
		return fmt.Sprintf("%s of this node stored for nodes that join later", sanitize.Count(k.OwnShares, "share"))
	}
	return fmt.Sprintf("%s of %s stored for nodes that join later, and %s of this node", sanitize.Count(k.PeerShares, "share"), sanitize.Count(k.Authors, "other node"), sanitize.Count(k.OwnShares, "share"))
}

// maxSettling is the maximum time for which the end of a run waits for its last share.
const maxSettling = 10 * time.Second

// settle waits until the share after the last evaluation is published. A timeout is no error of the
// run.
func settle(ctx context.Context, session *node.Session) error {
	waiting, cancel := context.WithTimeout(ctx, maxSettling)
	defer cancel()
	if err := session.Settle(waiting); err != nil && waiting.Err() == nil {
		return err
	}
	return ctx.Err()
}

// keepAfter makes the node a keeper after the evaluations. If only nodes of a roster take part,
// shares of absent nodes are unusable, and the node exchanges messages with the others as before:
// it may be their mediator.
func keepAfter(ctx context.Context, session *node.Session, show *display) error {
	if base.RegistrationOf(show.Task).Rostered(show.Task) {
		show.Resume()
		show.PrintLine(base.Object{"event": "keeping"}, "All evaluations are made; this node serves the rounds of the others until Ctrl-C.")
		go show.watch(ctx, session, false)
		if err := watchStored(ctx, session, func(node.StoredShares) {}); err != nil {
			return err
		}
		return ctx.Err()
	}
	if err := session.Keep(ctx); err != nil {
		return err
	}
	show.Resume()
	show.PrintLine(base.Object{"event": "keeping"}, "All evaluations are made; this node stores and sends shares until Ctrl-C.")
	if err := show.watchKeeping(ctx, session, false); err != nil {
		return err
	}
	return ctx.Err()
}
