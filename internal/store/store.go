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

// JournalFile is the name of the journal in a data directory. CopyFile is the name of its backup,
// which each start and each end of a node replaces, and which Repair reads.
const (
	JournalFile = "journal.db"
	CopyFile    = "journal.copy"
)

const (
	lockTimeout = 2 * time.Second // of a start or a repair
	readTimeout = time.Second
)

// Store is the data directory of a running node. Only one process at a time can open it.
type Store struct {
	dir        string
	strategies strategy.Set
	journal    *journal.Journal
	repaired   *repairMark // nil: the journal was never repaired
	backup     backup

	mu    sync.Mutex
	names map[string]string // of the tasks in the journal, by ID
}

// Open makes the data directory if it is missing, locks its journal and reads all tasks. The error
// wraps journal.ErrBusy if another process has the journal, and journal.ErrDamaged if records are
// damaged.
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

// Close waits for a backup in progress, makes a last one and closes the journal. All logs must have
// ended. The logger receives the error of the last backup.
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

// ApplyRepair sets the consequences of a repair of the journal in an agent's configuration: the
// epoch after which it begins, and why it makes no further DP releases on tasks with a privacy
// budget.
func (s *Store) ApplyRepair(config *agent.Config) {
	if s.repaired != nil {
		config.AfterEpoch, config.Unaccounted = s.repaired.AfterEpoch, s.repaired.unaccounted()
	}
}

// SetName stores the name of a task that the node has joined.
func (s *Store) SetName(id, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names[id] = name
}

// Named returns the IDs of the tasks in the journal with a name.
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
