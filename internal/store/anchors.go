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

const anchorsDir = "anchors" // folder in a data directory, with one file per task

// ReadAnchors returns the anchors that an earlier run stored: peers that were active for long, each
// with the address at which it last answered. Without a file it returns none. A file with more than
// most addresses is an error.
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
