package store

import (
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/datadir"
	"github.com/fbo-node/fbo/internal/journal"
	"github.com/fbo-node/fbo/strategy"
)

// JournalFile is the name of the journal in a data directory, and CopyFile that of its backup. Each
// start and each end of a node replaces the backup. Repair reads it.
const (
	JournalFile = "journal.db"
	CopyFile    = "journal.copy"
)

const (
	lockTimeout = 2 * time.Second // maximum wait for the lock at a start or a repair
	readTimeout = time.Second
)

// Store is the data directory of a running node. Only one process at a time can open it.
type Store struct {
	dir        string
	strategies strategy.Set
	journal    *journal.Journal
	repaired   *repairMark // nil if the journal was never repaired
	backup     backup

	mu    sync.Mutex
	names map[string]string // name of each task in the journal, by ID
}

// Open creates the data directory if it is missing, locks the journal, and reads all tasks. If
// another process has the journal open, the error wraps journal.ErrBusy. If records are damaged, it
// wraps journal.ErrDamaged.
func Open(dir string, strategies strategy.Set) (*Store, error) {
	if err := datadir.Make(dir); err != nil {
		return nil, err
	}
	if err := checkLost(dir); err != nil {
		return nil, err
	}
	opened, err := journal.Open(filepath.Join(dir, JournalFile), lockTimeout)
	if err != nil {
		return nil, describeLockHolder(dir, err)
	}
	writeLockHolder(dir)
	s := &Store{dir: dir, strategies: strategies, journal: opened}
	if s.repaired, err = repairOf(opened); err == nil {
		s.names, err = checkTasks(opened, strategies)
	}
	if err != nil {
		removeLockHolder(dir)
		return nil, errors.Join(err, opened.Close())
	}
	return s, nil
}

// Close waits for a backup in progress, makes a last backup, and closes the journal. No log may be
// in use any more. The logger receives an error of the last backup.
func (s *Store) Close(log *slog.Logger) error {
	s.lastBackup(log)
	removeLockHolder(s.dir)
	return s.journal.Close()
}

// Tasks returns the IDs of the tasks in the journal, sorted.
func (s *Store) Tasks() ([]string, error) { return s.journal.Tasks() }

// History returns the journal's content about a task, as Archive.History does.
func (s *Store) History(id string) (agent.History, error) {
	return historyIn(s.journal, id, s.strategies)
}

// OpenLog returns the log of a task, and its records in order.
func (s *Store) OpenLog(task string) (*journal.Log, []agent.Record, error) {
	log, err := s.journal.Log(task)
	if err != nil {
		return nil, nil, err
	}
	records, err := ReadLog(log)
	return log, records, err
}

// ApplyRepair sets the fields of an agent's configuration that follow from a repair of the journal:
// the epoch after which the agent begins, and the reason why it makes no further DP releases.
func (s *Store) ApplyRepair(config *agent.Config) {
	if s.repaired != nil {
		config.AfterEpoch, config.Unaccounted = s.repaired.AfterEpoch, s.repaired.unaccounted()
	}
}

// SetName stores the name of a task that the node has joined, for Named.
func (s *Store) SetName(id, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names[id] = name
}

// Named returns the IDs of the tasks in the journal that have the given name.
func (s *Store) Named(name string) (ids []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, other := range s.names {
		if other == name {
			ids = append(ids, id)
		}
	}
	return ids
}
