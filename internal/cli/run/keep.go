package run

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/past"
	"github.com/fbo-node/fbo/internal/cli/trialfile"
	"github.com/fbo-node/fbo/internal/datadir"
	"github.com/fbo-node/fbo/internal/invitation"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/internal/store"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/task"
)

// keepOptions are the flags of keep.
type keepOptions struct {
	dir      string
	from     trialfile.Flags // a past study, which the keeper shares as a member
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

With --from the keeper publishes one share of its own: that of a node which has made
the trials of a past study. It has an identity of its own, in the directory studies
of the data directory, and evaluates nothing.

Ctrl-C stops it; the same command continues.`,
		Example: `  fbo-node keep task.yaml
  fbo-node keep task.yaml --from study.csv
  fbo-node keep task.yaml --hub /ip4/198.51.100.7/udp/4001/quic-v1/p2p/12D3Koo…`,
		Args: base.Exactly(1),
		RunE: func(command *cobra.Command, args []string) error {
			return o.run(command.Context(), args[0])
		},
	}
	base.AddDataDir(command, &o.dir)
	o.from.AddAs(command.Flags(), "from", "past study to share as a member: a file of trials, .csv, .json, or .log of Optuna's JournalFileBackend")
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
	allowed, err := base.ReadAllow(o.network.allow)
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
	earlier, err := o.from.Read(t)
	if err != nil {
		return err
	}
	if o.from.File != "" {
		if invited == nil { // the study's own directory would open the task
			if invited, err = store.JoinedBy(dir, t.ID().String()); err != nil {
				return err
			}
		}
		if dir, err = o.studyDir(t, dir, len(earlier.Trials)); err != nil {
			return err
		}
	}
	show := newDisplay(os.Stdout, t, o.json)
	n := o.network.node(dir, allowed, show.Warning)
	err = o.keep(ctx, t, n, invited, earlier, show)
	if ctx.Err() != nil && (err == nil || errors.Is(err, context.Canceled)) {
		show.interrupted()
		return nil
	}
	return err
}

func (o keepOptions) keep(ctx context.Context, t *task.Task, n *node.Node, invited *invitation.Invitation, earlier trialfile.Imported, show *display) (err error) {
	shared := o.from.File != "" && sharedLately(n.Dir)
	options := node.JoinOptions{Keep: o.from.File == "" || shared, Importing: o.from.File != "", Wait: -1, Invitation: invited, OnEvent: show.Event, OnFailure: endsCommand}
	m, err := takePart(ctx, n, t, options, o.metrics, "", show)
	defer func() { err = m.close(err) }()
	if err != nil {
		return err
	}
	show.keeping(ctx, n, m.session, o.from.File)
	if m.metrics != nil {
		show.metrics(m.metrics.url())
	}
	if o.from.File != "" {
		if err := shareStudy(ctx, m.session, earlier, n.Dir, shared, show); err != nil {
			return err
		}
	}
	return show.watchKeeping(ctx, m.session, o.network.seeks())
}

// studyDir returns the data directory of the member that shares a past study. Each study has its own,
// with its own identity, so that neither the identity nor the trials of this node's own are mixed with it.
func (o keepOptions) studyDir(t *task.Task, dir string, trials int) (string, error) {
	if why := base.UnusableReason(t); why != "" {
		return "", base.Usagef("--from: task %q cannot use the shares of absent nodes, and a past study has no others: %s", t.Name, why)
	}
	if base.RegistrationOf(t).Rostered(t) {
		return "", base.Usagef("--from: the nodes of task %q are those of its roster, and the member of a past study has an identity of its own", t.Name)
	}
	if trials == 0 {
		return "", base.Usagef("--from %s: it has no ended trials, expected at least one", o.from.File)
	}
	print, err := o.from.Fingerprint()
	if err != nil {
		return "", err
	}
	if err := datadir.Make(dir); err != nil {
		return "", err
	}
	if _, err := datadir.Folder(dir, studiesDir); err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(t.ID().String() + " " + print))
	return filepath.Join(dir, studiesDir, hex.EncodeToString(sum[:6])), nil
}

// studiesDir is the folder of a data directory with the data directories of past studies.
const studiesDir = "studies"

// sharedFile is the file in the data directory of a past study that is written once its share is
// published. Later starts send the same share, until it is renewed.
const sharedFile = "study-shared"

// renewAfter is the age of a study's share at which a start publishes it again. It is less than the life
// of a share.
const renewAfter = 60 * 24 * time.Hour

// sharedLately reports whether the share of a past study is published, and young enough to be kept.
func sharedLately(dir string) bool {
	info, err := os.Lstat(filepath.Join(dir, sharedFile))
	return err == nil && time.Since(info.ModTime()) < renewAfter
}

// shareStudy publishes the share that follows from the trials of a past study, unless that is done, and
// makes the node a keeper.
func shareStudy(ctx context.Context, session *node.Session, earlier trialfile.Imported, dir string, shared bool, show *display) (err error) {
	added := 0
	if !shared {
		if added, err = session.Import(ctx, earlier.Trials); err != nil {
			return err
		}
		if err := session.Settle(ctx); err != nil {
			return err
		}
	}
	show.imported(earlier, added)
	status, err := session.Status(ctx)
	if err != nil {
		return err
	}
	marker := filepath.Join(dir, sharedFile)
	switch {
	case status.Stored.OwnShares == 0 && shared: // the journal was lost
		if err := os.Remove(marker); err != nil {
			return err
		}
		return fmt.Errorf("--from %s: data directory %s has lost the share of the study; the same command publishes it again", earlier.File, dir)
	case status.Stored.OwnShares == 0:
		return fmt.Errorf("--from %s: no share follows from its %s; a node with these trials shares nothing either", earlier.File, sanitize.Count(len(earlier.Trials), "trial"))
	case shared:
		return nil
	}
	if err := session.Keep(ctx); err != nil {
		return err
	}
	return datadir.Replace(marker, func(io.Writer) error { return nil })
}

// readKeptTask reads a task whose strategy publishes shares.
func readKeptTask(ctx context.Context, dir, file string) (*task.Task, error) {
	t, err := past.FindTask(ctx, dir, file)
	if err == nil && !base.RegistrationOf(t).Shares() {
		err = base.Usagef("%s: the strategy is %s, which shares nothing: there is nothing to keep", file, t.Strategy.Type)
	}
	return t, err
}

// keeping prints the first lines of keep. The study is the file of --from; empty if there is none.
func (p *display) keeping(ctx context.Context, n *node.Node, session *node.Session, study string) {
	lines := append(p.hello(n), p.terms(ctx, n, session)...)
	lines[0] += ", kept for others; this node evaluates nothing"
	if study != "" {
		lines[0] += ", and shares what follows from the trials in " + study
		if reveals := base.RegistrationOf(p.Task).Disclosure(p.Task).Reveals; reveals != nil && !slices.Contains(lines, reveals(p.Task)) {
			lines = append(lines, reveals(p.Task))
		}
	}
	if why := base.UnusableReason(p.Task); why != "" {
		lines = append(lines, "This task cannot use the shares of absent nodes: "+why+".")
	}
	p.PrintLine(base.Object{
		"event": "keeper_started", "task": p.Task.ID().String(), "name": p.Task.Name,
		"peer_id": n.ID().String(), "addresses": n.Addresses(), "data_dir": n.Dir, "open": isOpen(n, session), "tag": tagOf(session), "unusable_reason": base.UnusableReason(p.Task), "study": study,
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
