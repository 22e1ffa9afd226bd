package node

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/datadir"
	"github.com/fbo-node/fbo/node/internal/peers"
)

const anchorsDir = "anchors" // in a node's directory, a file a task

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
	if len(lines) > peers.MaxAnchors {
		return nil, fmt.Errorf("%d addresses, the limit is %d", len(lines), peers.MaxAnchors)
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
		t.policy.Recall(anchor)
	}
}

// storeAnchors stores the anchors for the next start. Without any, those of the last run stay.
func (t *topic) storeAnchors(anchors []peer.AddrInfo) {
	if len(anchors) == 0 {
		return
	}
	if err := writeAnchors(t.session.node.Dir, t.session.id, anchors); err != nil {
		t.session.logger.Warn("peers are not kept for the next start", "error", err)
	}
}
