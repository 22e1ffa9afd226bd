package experiment

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/gofrs/flock"
)

// Store stores records in a file of JSON lines: a first line for the plan, and then one line per
// record. It syncs each record, so an interruption loses only unfinished runs.
//
// One file may hold records of several builds of the program. Each build uses its own records, so
// builds that run in turn keep each other's.
type Store struct {
	path    string
	lock    *flock.Flock // only the holder of the lock may write
	options StoreOptions

	mu     sync.Mutex
	file   *os.File
	own    map[runID]Record // records of this build
	others map[runID]Record // records of other builds, the newest of each run
}

// StoreOptions select which records of a file are used.
type StoreOptions struct {
	// Build identifies this build of the program. Every record contains it, because other builds
	// may compute other results.
	Build string

	// OtherBuilds also accepts runs of other builds, if this build has not made them. A report
	// marks rows that include such runs.
	OtherBuilds bool

	// Fresh discards all records in the file, of all builds.
	Fresh bool
}

// runID identifies a run: one strategy on one repeat.
type runID struct {
	repeat   int
	strategy string
}

// OpenStore opens the file of a plan, which must come from Complete, in directory dir, which it
// creates if needed. Only one Store at a time can open a file. OpenStore removes a last line that
// is incomplete.
func OpenStore(dir string, p Plan, o StoreOptions) (*Store, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("keep results: %w; --out chooses another directory", err)
	}
	path := filepath.Join(dir, p.Hash()+".jsonl")
	s := &Store{path: path, lock: flock.New(path + ".lock"), options: o, own: map[runID]Record{}, others: map[runID]Record{}}
	locked, err := s.lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("keep results: %w", err)
	}
	if !locked {
		return nil, fmt.Errorf("%s: another simulation with these settings is at work; wait for it, or name all strategies in one command, or choose another --out", path)
	}
	if err := s.open(p); err != nil {
		return nil, errors.Join(err, s.lock.Close())
	}
	return s, nil
}

func (s *Store) open(p Plan) error {
	if s.options.Fresh {
		if err := os.Remove(s.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("forget results: %w", err)
		}
	}
	whole, err := s.read(p)
	if err != nil {
		return err
	}
	if s.file, err = os.OpenFile(s.path, os.O_CREATE|os.O_RDWR, 0o644); err != nil {
		return fmt.Errorf("keep results: %w", err)
	}
	if err := s.prepare(p, whole); err != nil {
		return errors.Join(fmt.Errorf("%s: %w", s.path, err), s.file.Close())
	}
	return nil
}

// read reads the records and returns the number of bytes of complete lines.
func (s *Store) read(p Plan) (int, error) {
	data, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read results: %w", err)
	}
	whole := bytes.LastIndexByte(data, '\n') + 1
	for number, line := range bytes.Split(data[:whole], []byte("\n")) {
		if len(line) == 0 {
			continue
		}
		if number == 0 {
			if !bytes.Equal(line, p.header()) {
				return 0, fmt.Errorf("%s: the first line is not that of this plan; another --out or --fresh helps", s.path)
			}
			continue
		}
		var r Record
		if err := json.Unmarshal(line, &r); err != nil || !r.complete(p) {
			return 0, fmt.Errorf("%s:%d: not a whole result; --fresh starts anew", s.path, number+1)
		}
		s.keep(r)
	}
	return whole, nil
}

func (s *Store) prepare(p Plan, whole int) error {
	if err := s.file.Truncate(int64(whole)); err != nil {
		return err
	}
	if _, err := s.file.Seek(0, io.SeekEnd); err != nil {
		return err
	}
	if whole > 0 {
		return nil
	}
	return s.append(p.header())
}

func (s *Store) append(line []byte) error {
	if _, err := s.file.Write(append(line, '\n')); err != nil {
		return err
	}
	return s.file.Sync()
}

// keep adds a record in memory; it replaces an earlier record of the same run.
func (s *Store) keep(r Record) {
	records := s.own
	if s.foreign(r) {
		records = s.others
	}
	records[runID{r.Repeat, r.Strategy}] = r
}

// foreign reports whether another build of the program made the record.
func (s *Store) foreign(r Record) bool { return r.Build != s.options.Build }

// add appends a record to the file and keeps it.
func (s *Store) add(r Record) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.append(line); err != nil {
		return fmt.Errorf("%s: %w", s.path, err)
	}
	s.keep(r)
	return nil
}

// get returns the record to use for a run.
func (s *Store) get(repeat int, strategy string) (Record, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := runID{repeat, strategy}
	r, ok := s.own[id]
	if !ok && s.options.OtherBuilds {
		r, ok = s.others[id]
	}
	return r, ok
}

// Foreign returns the number of runs of a plan, which must come from Complete, that other builds
// have made and this build has not.
func (s *Store) Foreign(p Plan) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	count := 0
	for _, strategy := range p.Strategies {
		for repeat := range p.Repeats {
			id := runID{repeat, p.key(strategy)}
			_, own := s.own[id]
			if _, other := s.others[id]; other && !own {
				count++
			}
		}
	}
	return count
}

// Path returns the path of the file of records.
func (s *Store) Path() string { return s.path }

// Close closes the file and releases its lock.
func (s *Store) Close() error { return errors.Join(s.file.Close(), s.lock.Close()) }
