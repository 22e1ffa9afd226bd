package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/fbo-node/fbo/internal/datadir"
)

// Errors that callers can detect with errors.Is.
var (
	// ErrBusy means that another process has the journal open.
	ErrBusy = errors.New("in use by another process")
	// ErrDamaged means that the content on the disk is not what was written.
	ErrDamaged = errors.New("damaged")
)

// Versions of the file format.
const (
	formatVersion = 1
	markedVersion = 2 // format version 1 with a mark; in such a file a missing mark is damage
)

// Layout of the file. The key format of bucket meta has the version (4 bytes, big endian) and its
// CRC-32C; the key mark has a record with index markIndex. Bucket tasks has a bucket for each task
// with two buckets: entries maps an index (8 bytes, big endian) to a record, and keys maps a key to
// the index of the entry that has it.
var (
	metaBucket    = []byte("meta")
	formatKey     = []byte("format")
	markKey       = []byte("mark")
	tasksBucket   = []byte("tasks")
	entriesBucket = []byte("entries")
	keysBucket    = []byte("keys")
)

// Journal is an open journal file. Its methods and those of its logs may be
// called from several goroutines.
type Journal struct {
	db     *bolt.DB
	path   string
	file   *os.File    // the file that bbolt opened
	unlock func()      // ends this process's lock of the file
	broken atomic.Bool // bbolt has panicked and may hold its mutexes forever
}

// Open opens the journal at path for writing. If it is missing, Open creates it, readable by its
// owner only; the directory must exist. If another process has the journal open for longer than
// timeout, the error wraps ErrBusy. With a timeout of 0 or less, Open tries once.
func Open(path string, timeout time.Duration) (*Journal, error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		if err := create(path); err != nil {
			return nil, err
		}
	}
	return open(path, timeout, false)
}

// OpenReadOnly opens an existing journal for reading, so that Append fails. Several readers can
// have the file open at the same time, but not together with a writer (ErrBusy). If there is no
// file, the error wraps fs.ErrNotExist.
func OpenReadOnly(path string, timeout time.Duration) (*Journal, error) {
	return open(path, timeout, true)
}

func open(path string, timeout time.Duration, readOnly bool) (j *Journal, err error) {
	if err := checkReadable(path); err != nil {
		return nil, err
	}
	// The file is verified under a reader's lock. A writer then reopens it with its own lock.
	if j, err = openVerified(path, timeout); err != nil || readOnly {
		return j, err
	}
	if err := j.Close(); err != nil {
		return nil, err
	}
	return openFile(path, timeout, false)
}

// openVerified opens a journal for reading, and verifies the structure of the file and its format
// version.
func openVerified(path string, timeout time.Duration) (*Journal, error) {
	j, err := openFile(path, timeout, true)
	if err != nil {
		return nil, err
	}
	if err = j.verify(); err == nil {
		err = j.checkFormat()
	}
	if err != nil {
		_ = j.Close() // nothing was written, so an error does not matter
		return nil, err
	}
	return j, nil
}

func openFile(path string, timeout time.Duration, readOnly bool) (_ *Journal, err error) {
	j := &Journal{path: path, unlock: func() {}}
	defer func() {
		if err != nil {
			j.abandon()
		}
	}()
	defer j.recoverDamage(&err)()
	// bbolt interprets 0 as an unlimited wait.
	timeout = max(timeout, time.Nanosecond)
	j.db, err = bolt.Open(path, 0o600, &bolt.Options{Timeout: timeout, ReadOnly: readOnly, OpenFile: j.openFirst})
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return nil, fmt.Errorf("journal: directory %s: %w; stop that process or choose another directory",
			filepath.Dir(path), ErrBusy)
	case isNotOpened(err):
		return nil, fmt.Errorf("journal: %w", datadir.Explain(err))
	case err != nil:
		return nil, fmt.Errorf("journal: %s is not a journal, or is %w: %w", path, ErrDamaged, err)
	}
	return j, nil
}

// openFirst opens the file for bbolt. It keeps the file of the first call, because bbolt calls it
// again for each copy.
func (j *Journal) openFirst(path string, flag int, perm os.FileMode) (*os.File, error) {
	file, err := datadir.OpenFile(path, flag, perm)
	if err != nil || j.file != nil {
		return file, err
	}
	j.file, j.unlock = file, sync.OnceFunc(unlocker(file))
	return file, nil
}

// abandon closes the file without bbolt, which may have closed the file already or may be unable
// to.
func (j *Journal) abandon() {
	if j.file != nil {
		_ = j.file.Close()
	}
	j.unlock()
}

// isNotOpened reports whether the operating system refused to open the file. Then its content may
// be undamaged.
func isNotOpened(err error) bool {
	path, ok := errors.AsType[*fs.PathError](err)
	return ok && path.Op == "open" || datadir.RefusalOf(err) != nil
}

// checkReadable returns a clear error for two common mistakes: a path that is not a regular file,
// and an empty file. A journal is never empty, since it gets its name only after it has been
// written.
func checkReadable(path string) error {
	if err := datadir.Plain(path); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	info, err := os.Lstat(path)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	if info.Size() == 0 {
		return fmt.Errorf("journal: %s is %w: it is empty", path, ErrDamaged)
	}
	return nil
}

func (j *Journal) verify() (err error) {
	defer j.recoverDamage(&err)()
	file, err := datadir.Open(j.path)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	defer file.Close()
	if err := verify(j.db, file); err != nil {
		return fmt.Errorf("journal: %s is %w: %w", j.path, ErrDamaged, err)
	}
	return nil
}

// create creates an empty journal. The file gets its name only when it is complete and on the disk,
// unless another process has created one in the meantime. So a journal without a format is always
// damaged.
func create(path string) error {
	directory := filepath.Dir(path)
	file, err := os.CreateTemp(directory, filepath.Base(path)+".new-*")
	if err != nil {
		return fmt.Errorf("journal: %w", datadir.Explain(err))
	}
	defer os.Remove(file.Name())
	if err := file.Close(); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	if err := initialise(file.Name(), func(meta *bolt.Bucket) error {
		return meta.Put(formatKey, encodeFormat(formatVersion))
	}); err != nil {
		return fmt.Errorf("journal: cannot initialise %s: %w", path, datadir.Explain(err))
	}
	switch err := os.Link(file.Name(), path); {
	case errors.Is(err, fs.ErrExist):
		return nil
	case err != nil: // the file system may not support hard links
		if err := os.Rename(file.Name(), path); err != nil {
			return fmt.Errorf("journal: %w", err)
		}
	}
	return syncDirectory(directory)
}

func initialise(path string, fill func(meta *bolt.Bucket) error) error {
	db, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		return err
	}
	err = db.Update(func(tx *bolt.Tx) error {
		meta, err := tx.CreateBucket(metaBucket)
		if err != nil {
			return err
		}
		if _, err := tx.CreateBucket(tasksBucket); err != nil {
			return err
		}
		return fill(meta)
	})
	return errors.Join(err, db.Close())
}

func (j *Journal) checkFormat() (err error) {
	defer j.recoverDamage(&err)()
	return j.db.View(func(tx *bolt.Tx) error {
		meta := tx.Bucket(metaBucket)
		if meta == nil {
			return fmt.Errorf("journal: %s is a bbolt file but not a journal, or is %w: it has no format", j.path, ErrDamaged)
		}
		version, ok := decodeFormat(meta.Get(formatKey))
		if !ok {
			return fmt.Errorf("journal: %s is %w: its format version is unreadable", j.path, ErrDamaged)
		}
		if version > markedVersion {
			return fmt.Errorf("journal: %s has format %d, written by a newer version of fbo; this one reads formats %d and %d",
				j.path, version, formatVersion, markedVersion)
		}
		if version != formatVersion && version != markedVersion {
			return fmt.Errorf("journal: %s is %w: format version %d never existed", j.path, ErrDamaged, version)
		}
		return nil
	})
}

// encodeFormat encodes a format version with its checksum. Without the checksum, a damaged version
// could look like that of a newer program.
func encodeFormat(version uint32) []byte {
	b := binary.BigEndian.AppendUint32(nil, version)
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// decodeFormat is the inverse of encodeFormat; ok is false if the data is damaged.
func decodeFormat(b []byte) (version uint32, ok bool) {
	if len(b) != 8 || binary.BigEndian.Uint32(b[4:]) != crc32.Checksum(b[:4], castagnoli) {
		return 0, false
	}
	return binary.BigEndian.Uint32(b), true
}

func syncDirectory(directory string) error {
	if err := datadir.Sync(directory); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return nil
}

// Path returns the path of the file.
func (j *Journal) Path() string { return j.path }

// Tasks returns the names of the tasks that have at least one entry, sorted.
func (j *Journal) Tasks() (tasks []string, err error) {
	if err := j.usable(); err != nil {
		return nil, err
	}
	defer j.recoverDamage(&err)()
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

// Log returns the log of a task. It writes nothing: the journal contains the task from its first
// Append on, and before that its log is empty.
func (j *Journal) Log(task string) (*Log, error) {
	if task == "" || len(task) > MaxKey {
		return nil, fmt.Errorf("journal: a task's name must have 1 to %d bytes, got %d", MaxKey, len(task))
	}
	return &Log{journal: j, task: task}, nil
}

// Close waits for running transactions, closes the file and ends its lock. A second call is no
// error. If bbolt has panicked because of damage, Close does not wait.
func (j *Journal) Close() error {
	if j.broken.Load() {
		j.abandon()
		return nil
	}
	defer j.unlock()
	return j.describe(j.db.Close())
}

func (j *Journal) tasks(tx *bolt.Tx) (*bolt.Bucket, error) {
	all := tx.Bucket(tasksBucket)
	if all == nil {
		return nil, fmt.Errorf("%w: the bucket of the tasks is missing", ErrDamaged)
	}
	return all, nil
}

// describe adds the path of the file to an error of bbolt.
func (j *Journal) describe(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, bolterrors.ErrDatabaseNotOpen):
		return fmt.Errorf("journal: %s is closed", j.path)
	case errors.Is(err, bolterrors.ErrDatabaseReadOnly):
		return fmt.Errorf("journal: %s was opened for reading only", j.path)
	}
	return fmt.Errorf("journal: %s: %w", j.path, datadir.Explain(err))
}

// recoverDamage converts two kinds of panics into an error: those of bbolt for invalid pages, and
// memory faults if the file has become shorter. Call it as defer j.recoverDamage(&err)(), and only
// around bbolt's own code, never around a caller's function.
func (j *Journal) recoverDamage(err *error) func() {
	before := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(before)
		if reason := recover(); reason != nil {
			j.broken.Store(true)
			*err = fmt.Errorf("journal: %s is %w: %v", j.path, ErrDamaged, reason)
		}
	}
}

// usable returns an error if damage was found while the journal was in use.
func (j *Journal) usable() error {
	if j.broken.Load() {
		return fmt.Errorf("journal: %s is %w, as was found before", j.path, ErrDamaged)
	}
	return nil
}
