package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// Errors that a caller can tell apart with errors.Is.
var (
	// ErrBusy: another process has the journal open.
	ErrBusy = errors.New("in use by another process")
	// ErrDamaged: what is on the disk is not what was written.
	ErrDamaged = errors.New("damaged")
)

// formatVersion is the layout of the file: its buckets and what they hold.
const formatVersion = 1

// Layout: meta/format is the version; tasks/<task>/entries maps an index (8
// bytes, big endian) to a record, and tasks/<task>/keys a key to the index of
// the one entry that has it.
var (
	metaBucket    = []byte("meta")
	formatKey     = []byte("format")
	tasksBucket   = []byte("tasks")
	entriesBucket = []byte("entries")
	keysBucket    = []byte("keys")
)

// Journal is an open journal file. Its methods and those of its logs may be
// called from several goroutines.
type Journal struct {
	db   *bolt.DB
	path string
}

// Open opens the journal at path for writing and creates it, readable by its
// owner only, when it is missing; its directory must exist. When another
// process holds it for longer than timeout the error wraps ErrBusy; a timeout
// of 0 or less tries once.
func Open(path string, timeout time.Duration) (*Journal, error) {
	return open(path, timeout, false)
}

// OpenReadOnly opens an existing journal for reading: Append fails. It shares
// the file with other readers but not with a writer (ErrBusy). A missing file is
// an error that wraps fs.ErrNotExist.
func OpenReadOnly(path string, timeout time.Duration) (*Journal, error) {
	return open(path, timeout, true)
}

func open(path string, timeout time.Duration, readOnly bool) (j *Journal, err error) {
	defer recoverDamage(path, &err)
	if readOnly {
		if err := checkReadable(path); err != nil {
			return nil, err
		}
	}
	// bbolt takes 0 as "wait for ever".
	timeout = max(timeout, time.Nanosecond)
	db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: timeout, ReadOnly: readOnly})
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return nil, fmt.Errorf("journal: directory %s: %w; stop that process or choose another directory",
			filepath.Dir(path), ErrBusy)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("journal: %w", err)
	case err != nil:
		return nil, fmt.Errorf("journal: %s is not a journal, or is %w: %w", path, ErrDamaged, err)
	}
	j = &Journal{db: db, path: path}
	if err := j.prepare(readOnly); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return j, nil
}

// checkReadable gives the two usual mistakes their plain errors; bbolt would try
// to initialise an empty file even when it may not write.
func checkReadable(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	if info.Size() == 0 {
		return fmt.Errorf("journal: %s is empty", path)
	}
	return nil
}

// prepare checks the format of an existing journal and writes that of a new one.
func (j *Journal) prepare(readOnly bool) error {
	found := false
	err := j.db.View(func(tx *bolt.Tx) error {
		meta := tx.Bucket(metaBucket)
		if meta == nil {
			if key, _ := tx.Cursor().First(); key != nil || readOnly {
				return fmt.Errorf("journal: %s is a bbolt file but not a journal", j.path)
			}
			return nil
		}
		found = true
		return j.checkFormat(meta.Get(formatKey))
	})
	if err != nil || found {
		return err
	}
	err = j.db.Update(func(tx *bolt.Tx) error {
		meta, err := tx.CreateBucket(metaBucket)
		if err != nil {
			return err
		}
		if _, err := tx.CreateBucket(tasksBucket); err != nil {
			return err
		}
		return meta.Put(formatKey, binary.BigEndian.AppendUint32(nil, formatVersion))
	})
	if err != nil {
		return fmt.Errorf("journal: cannot initialise %s: %w", j.path, err)
	}
	return syncDirectory(filepath.Dir(j.path))
}

func (j *Journal) checkFormat(stored []byte) error {
	if len(stored) != 4 {
		return fmt.Errorf("journal: %s is %w: its format version is unreadable", j.path, ErrDamaged)
	}
	version := binary.BigEndian.Uint32(stored)
	if version > formatVersion {
		return fmt.Errorf("journal: %s has format %d, written by a newer version of fbo; this one reads format %d",
			j.path, version, formatVersion)
	}
	if version != formatVersion {
		return fmt.Errorf("journal: %s is %w: format version %d never existed", j.path, ErrDamaged, version)
	}
	return nil
}

// syncDirectory makes the name of a new file as durable as its contents.
// Windows cannot sync directories and does not need it.
func syncDirectory(directory string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(directory)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	err = d.Sync()
	if err := errors.Join(err, d.Close()); err != nil {
		return fmt.Errorf("journal: cannot sync directory %s: %w", directory, err)
	}
	return nil
}

// Tasks returns the names of the tasks that have at least one entry, sorted.
func (j *Journal) Tasks() (tasks []string, err error) {
	defer recoverDamage(j.path, &err)
	err = j.db.View(func(tx *bolt.Tx) error {
		all, err := j.tasks(tx)
		if err != nil {
			return err
		}
		return all.ForEachBucket(func(name []byte) error {
			tasks = append(tasks, string(name))
			return nil
		})
	})
	return tasks, j.describe(err)
}

// Log returns the log of a task. It writes nothing: a task is in the journal
// from its first Append on, and until then its log is empty.
func (j *Journal) Log(task string) (*Log, error) {
	if task == "" || len(task) > MaxKey {
		return nil, fmt.Errorf("journal: a task's name must have 1 to %d bytes, got %d", MaxKey, len(task))
	}
	return &Log{journal: j, task: task}, nil
}

// Close waits for running transactions and closes the file. Closing twice is no
// error.
func (j *Journal) Close() error {
	return j.describe(j.db.Close())
}

func (j *Journal) tasks(tx *bolt.Tx) (*bolt.Bucket, error) {
	all := tx.Bucket(tasksBucket)
	if all == nil {
		return nil, fmt.Errorf("%w: the bucket of the tasks is missing", ErrDamaged)
	}
	return all, nil
}

// describe adds the file to an error of the database.
func (j *Journal) describe(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, bolterrors.ErrDatabaseNotOpen):
		return fmt.Errorf("journal: %s is closed", j.path)
	case errors.Is(err, bolterrors.ErrDatabaseReadOnly):
		return fmt.Errorf("journal: %s was opened for reading only", j.path)
	}
	return fmt.Errorf("journal: %s: %w", j.path, err)
}

// recoverDamage turns bbolt's panics about impossible pages into an error. It is
// deferred only around bbolt's own code, never around a caller's function.
func recoverDamage(path string, err *error) {
	if reason := recover(); reason != nil {
		*err = fmt.Errorf("journal: %s is %w: %v", path, ErrDamaged, reason)
	}
}
