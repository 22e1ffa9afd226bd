package node

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"

	"github.com/fbo-node/fbo/internal/datadir"
)

const (
	anchorsDir   = "anchors" // in a node's directory, a file a task
	maxAnchors   = 8
	anchorAge    = 3 * time.Minute // so long a peer must have been connected
	anchorsPause = 5 * time.Minute // between writes
)

// readAnchors returns the peers that were good in an earlier run, at the address at which
// each has answered last; none when there is no file.
func readAnchors(dir, task string) ([]peer.AddrInfo, error) {
	if err := datadir.NoLink(filepath.Join(dir, anchorsDir)); err != nil {
		return nil, err
	}
	text, err := readRegular(filepath.Join(dir, anchorsDir, task))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return parseAnchors(text)
}

func parseAnchors(text []byte) ([]peer.AddrInfo, error) {
	lines := strings.Fields(string(text))
	if len(lines) > maxAnchors {
		return nil, fmt.Errorf("%d addresses, the limit is %d", len(lines), maxAnchors)
	}
	return ParsePeers(lines)
}

func writeAnchors(dir, task string, anchors []peer.AddrInfo) error {
	folder, err := datadir.Folder(dir, anchorsDir)
	if err != nil {
		return err
	}
	return datadir.Replace(filepath.Join(folder, task), func(w io.Writer) error { return formatAnchors(w, anchors) })
}

func formatAnchors(w io.Writer, anchors []peer.AddrInfo) error {
	for _, anchor := range anchors {
		addresses, err := peer.AddrInfoToP2pAddrs(&anchor)
		if err != nil {
			return err
		}
		for _, address := range addresses {
			if _, err := fmt.Fprintln(w, address); err != nil {
				return err
			}
		}
	}
	return nil
}

// recallAnchors makes the peers of an earlier run the first to be dialled.
func (t *topic) recallAnchors() {
	n := t.session.node
	anchors, err := readAnchors(n.Dir, t.session.id)
	if err != nil {
		n.warn(fmt.Sprintf("task %q: the peers of the last run are forgotten: %v", t.session.task.Name, err))
		return
	}
	for _, anchor := range anchors {
		t.members.recall(anchor)
	}
}

// keepAnchors leaves those to the next start that have been good company for long. Where
// there are none, those of the last run stay.
func (t *topic) keepAnchors(now time.Time) {
	n := t.session.node
	var anchors []peer.AddrInfo
	for _, id := range t.activity.longestActive(now, anchorAge) {
		if address := n.attempts.LastAnswer(id); address != nil && len(anchors) < maxAnchors {
			anchors = append(anchors, peer.AddrInfo{ID: id, Addrs: []multiaddr.Multiaddr{address}})
		}
	}
	if len(anchors) == 0 {
		return
	}
	if err := writeAnchors(n.Dir, t.session.id, anchors); err != nil {
		t.session.logger.Warn("peers are not kept for the next start", "error", err)
	}
}
