package node

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/journal"
)

// journalBackup copies the journal beside the node's work, once at a time.
type journalBackup struct {
	mu      sync.Mutex
	used    bool // the journal has got records in this run
	running bool
	again   bool // something to copy has come meanwhile
}

// backUpAfter copies the journal when these records, which are on the disk, open an epoch:
// what is restored from the copy cannot fall behind an epoch under which something was
// sent. It is called by the loops of sessions.
func (n *Node) backUpAfter(records []agent.Record) {
	if !slices.ContainsFunc(records, func(r agent.Record) bool { return r.Epoch != nil }) {
		return
	}
	n.copier.mu.Lock()
	defer n.copier.mu.Unlock()
	n.copier.used, n.copier.again = true, true
	if !n.copier.running {
		n.copier.running = true
		n.background(n.backUpJournal)
	}
}

func (n *Node) backUpJournal() {
	for n.copier.isDue() {
		if err := n.journal.Copy(filepath.Join(n.Dir, CopyFile)); err != nil {
			n.warn(fmt.Sprintf("the journal has no new copy, and the one before stays: %v", err))
		}
	}
}

// lastBackup copies the journal once more when all sessions have ended, so that whatever
// happens to the file afterwards costs nothing.
func (n *Node) lastBackup() {
	if !n.copier.used {
		return
	}
	n.copier.used = false
	if err := n.journal.Copy(filepath.Join(n.Dir, CopyFile)); err != nil {
		n.log.Warn("the journal has no new copy, and the one before stays", "error", err) // what is wrong with it, its sessions have said
	}
}

func (c *journalBackup) isDue() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running, c.again = c.again, false
	return c.running
}

// checkLost returns an error when the journal is gone and its copy is not: a node that
// began anew would soon replace the copy.
func checkLost(dir string) error {
	path := filepath.Join(dir, JournalFile)
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil // what it is, opening it tells
	}
	if _, err := os.Lstat(filepath.Join(dir, CopyFile)); err != nil {
		return nil
	}
	return fmt.Errorf("%s is %w: it is missing, and its copy %s is there", path, journal.ErrDamaged, CopyFile)
}
