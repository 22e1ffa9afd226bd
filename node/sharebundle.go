package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/datadir"
	"github.com/fbo-node/fbo/internal/sharebundle"
	"github.com/fbo-node/fbo/internal/store"
	"github.com/fbo-node/fbo/protocol"
)

// ErrBundle is wrapped by errors of Session.ImportShares about the content of the bundle.
var ErrBundle = errors.New("the bundle is refused, and nothing of it is stored")

// maxAhead is the maximum time by which the clock of an exporter may be ahead of this node's.
const maxAhead = 24 * time.Hour

// ImportCounts holds the number of shares of a bundle by their result.
type ImportCounts = agent.ImportCounts

// ExportedShares describes a bundle.
type ExportedShares struct {
	Own     int `json:"own"`     // shares of this node
	Others  int `json:"others"`  // shares of other nodes
	Omitted int `json:"omitted"` // nodes whose shares are left out, because a bundle has a limit of nodes
}

// ExportShares returns a file with the valid shares of this node on the task and, if all is set, of
// the other nodes whose shares it stores. ImportShares reads it on another node. The node signs the
// file. For a task by invitation it is sealed.
func (s *Session) ExportShares(ctx context.Context, all bool) (bundle []byte, exported ExportedShares, err error) {
	stopped := s.do(ctx, func(now time.Time) {
		shares, omitted := s.agent.ExportedShares(now, all, sharebundle.MaxAuthors)
		exported.Omitted = omitted
		b := sharebundle.Bundle{Task: s.task.ID(), Made: now}
		for _, share := range shares {
			opened, failed := protocol.Open(share.Envelope)
			if failed != nil {
				err = failed
				return
			}
			if opened.Author == s.node.ID() {
				exported.Own++
			} else {
				exported.Others++
			}
			b.Items = append(b.Items, sharebundle.Item{Share: opened, Age: now.Sub(share.Sent)})
		}
		bundle, err = sharebundle.Encode(b, s.node.key, s.keys)
	})
	return bundle, exported, errors.Join(stopped, err)
}

// ImportShares accepts the shares of a file that ExportShares has made, as if they had arrived by
// gossip. It accepts all or none. After an error that wraps ErrBundle nothing has changed. When the
// error is nil, the shares are on disk for the next start.
func (s *Session) ImportShares(ctx context.Context, bundle []byte) (counts ImportCounts, err error) {
	b, err := sharebundle.Decode(bundle, s.keys)
	if err != nil {
		return counts, fmt.Errorf("%w: %w", ErrBundle, err)
	}
	if !b.Task.Equals(s.task.ID()) {
		return counts, fmt.Errorf("%w: it is of task %v, expected %v", ErrBundle, b.Task, s.task.ID())
	}
	stopped := s.do(ctx, func(now time.Time) { counts, err = s.importShares(now, b) })
	return counts, errors.Join(stopped, err)
}

// importShares runs in the loop.
func (s *Session) importShares(now time.Time, b sharebundle.Bundle) (counts ImportCounts, err error) {
	ahead := b.Made.Sub(now)
	switch {
	case ahead > maxAhead:
		return counts, fmt.Errorf("%w: it was made at %s, %v ahead of this node's clock; expected at most %v", ErrBundle, b.Made.Format(time.RFC3339), ahead.Round(time.Minute), maxAhead)
	case b.Exporter != s.node.ID() && s.node.network.Refuses(b.Exporter):
		return counts, fmt.Errorf("%w: its exporter %v is banned or not on the allow list", ErrBundle, b.Exporter)
	}
	var shares []agent.ImportedShare
	excluded := 0
	for _, item := range b.Items {
		if item.Share.Author != s.node.ID() && s.node.network.Refuses(item.Share.Author) {
			excluded++
			continue
		}
		shares = append(shares, agent.ImportedShare{Share: item.Share, Age: item.Age + max(0, -ahead)})
	}
	if counts, err = s.agent.ImportShares(now, shares); err != nil {
		return counts, fmt.Errorf("%w: %w", ErrBundle, err)
	}
	counts.Excluded = excluded
	switch {
	case len(b.Items) == 0:
		return counts, fmt.Errorf("%w: it holds no shares", ErrBundle)
	case counts.New+counts.Known+counts.Own == 0:
		return counts, fmt.Errorf("%w: none of its shares can be used: %s", ErrBundle, counts)
	case counts.New == 0:
		return counts, nil
	}
	contents := s.cachedShares(now)
	stored := map[string]bool{}
	for _, share := range contents.Shares {
		stored[string(share.Envelope)] = true
	}
	for _, share := range shares {
		peers := share.Share.Author != s.node.ID() // own shares are in the journal
		if peers && s.agent.Holds(share.Share) && !stored[string(share.Share.Envelope)] && counts.New > 0 {
			counts.New, counts.NoRoom = counts.New-1, counts.NoRoom+1
		}
	}
	if err := s.memory.Flush(contents); err != nil {
		return counts, fmt.Errorf("the shares are used now, but are not stored for the next start: %w", err)
	}
	return counts, nil
}

// Offline returns a libp2p host with the identity of a data directory that neither listens nor dials,
// for Node.Host: a node that only reads and writes its data directory. The caller closes it.
func Offline(dir string) (host.Host, error) {
	if err := datadir.Make(dir); err != nil {
		return nil, err
	}
	key, err := store.LoadIdentity(dir)
	if err != nil {
		return nil, err
	}
	return libp2p.New(libp2p.Identity(key), libp2p.NoListenAddrs, libp2p.NoTransports, libp2p.DisableRelay())
}
