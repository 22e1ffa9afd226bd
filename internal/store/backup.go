package store

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/journal"
)

// backup holds the state of the journal's background copy. Only one copy is made at a time.
type backup struct {
	mu      sync.Mutex
	used    bool // the journal has received records in this run
	running bool
	again   bool // there are records that are not in the copy yet
	copying sync.WaitGroup
}

// BackUpAfter copies the journal in the background if these records, which must be on the disk
// already, open an epoch. So a restored copy is never older than an epoch in which the node has
// sent messages. The loops of sessions call it. The function warn receives the error of a failed
// copy.
func (s *Store) BackUpAfter(records []agent.Record, warn func(message string)) {
	if !slices.ContainsFunc(records, func(r agent.Record) bool { return r.Epoch != nil }) {
		return
	}
	b := &s.backup
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used, b.again = true, true
	if !b.running {
		b.running = true
		b.copying.Go(func() { s.backUp(warn) })
	}
}

func (s *Store) backUp(warn func(message string)) {
	for s.backup.isDue() {
		if err := s.copyJournal(); err != nil {
			warn(fmt.Sprintf("the journal has no new copy, and the one before stays: %v", err))
		}
	}
}

// lastBackup copies the journal once more after all sessions have ended. So later damage to the
// journal loses nothing.
func (s *Store) lastBackup(log *slog.Logger) {
	s.backup.copying.Wait()
	if !s.backup.used {
		return
	}
	if err := s.copyJournal(); err != nil {
		log.Warn("the journal has no new copy, and the one before stays", "error", err) // the sessions have already reported the cause
	}
}

func (s *Store) copyJournal() error { return s.journal.Copy(filepath.Join(s.dir, CopyFile)) }

func (b *backup) isDue() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running, b.again = b.again, false
	return b.running
}

// checkLost returns an error if the journal is missing although its copy exists. A node that
// started with an empty journal would soon overwrite the copy.
func checkLost(dir string) error {
	path := filepath.Join(dir, JournalFile)
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil // opening the journal reports the error
	}
	if _, err := os.Lstat(filepath.Join(dir, CopyFile)); err != nil {
		return nil
	}
	return fmt.Errorf("%s is %w: it is missing, and its copy %s is there", path, journal.ErrDamaged, CopyFile)
}
