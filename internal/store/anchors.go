package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/datadir"
	"github.com/fbo-node/fbo/internal/peeraddr"
)

const anchorsDir = "anchors" // in a data directory, a file a task

// ReadAnchors returns the peers that were connected longest in an earlier run, with the address of
// each one's last answer. Without a file there are none. A file with more addresses than most is an
// error.
func (s *Store) ReadAnchors(task string, most int) ([]peer.AddrInfo, error) {
	if err := datadir.NoLink(filepath.Join(s.dir, anchorsDir)); err != nil {
		return nil, err
	}
	text, err := readRegular(filepath.Join(s.dir, anchorsDir, task))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return parseAnchors(text, most)
}

func parseAnchors(text []byte, most int) ([]peer.AddrInfo, error) {
	lines := strings.Fields(string(text))
	if len(lines) > most {
		return nil, fmt.Errorf("%d addresses, the limit is %d", len(lines), most)
	}
	return peeraddr.ParsePeers(lines)
}

// WriteAnchors stores the anchors of a task for ReadAnchors.
func (s *Store) WriteAnchors(task string, anchors []peer.AddrInfo) error {
	folder, err := datadir.Folder(s.dir, anchorsDir)
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
