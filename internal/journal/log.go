package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// Log is the ordered list of records of one task.
type Log struct {
	journal *Journal
	task    string
}

// Append adds the entries, in this order, at the end of the log. It writes them in one transaction
// and syncs it to the disk before it returns. If it returns nil, all of them are stored
// permanently; after an error, none is. Without entries it does nothing.
func (l *Log) Append(entries ...Entry) (err error) {
	if len(entries) == 0 {
		return nil
	}
	if err := l.journal.usable(); err != nil {
		return err
	}
	for i, e := range entries {
		if err := e.validate(); err != nil {
			return fmt.Errorf("journal: task %s: entry %d of the append: %w", l.task, i, err)
		}
	}
	defer l.journal.recoverDamage(&err)()
	err = l.journal.db.Update(func(tx *bolt.Tx) error {
		stored, keys, err := l.create(tx)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := put(stored, keys, e); err != nil {
				return err
			}
		}
		return nil
	})
	return l.describe(err)
}

// create returns the two buckets of the task, and creates them if they are missing.
func (l *Log) create(tx *bolt.Tx) (stored, keys *bolt.Bucket, err error) {
	all, err := l.journal.tasks(tx)
	if err != nil {
		return nil, nil, err
	}
	own, err := all.CreateBucketIfNotExists([]byte(l.task))
	if err != nil {
		return nil, nil, err
	}
	if stored, err = own.CreateBucketIfNotExists(entriesBucket); err != nil {
		return nil, nil, err
	}
	keys, err = own.CreateBucketIfNotExists(keysBucket)
	return stored, keys, err
}

func put(stored, keys *bolt.Bucket, e Entry) error {
	index, err := stored.NextSequence()
	if err != nil {
		return err
	}
	name := binary.BigEndian.AppendUint64(nil, index)
	if e.Key != "" {
		if earlier := keys.Get([]byte(e.Key)); earlier != nil {
			if err := stored.Delete(bytes.Clone(earlier)); err != nil {
				return err
			}
		}
		if err := keys.Put([]byte(e.Key), name); err != nil {
			return err
		}
	}
	return stored.Put(name, encodeRecord(index, e))
}

// Replay calls f with every entry, in order. If f returns an error, Replay stops and returns that
// error unchanged. It reads the log as it was at the beginning of the call. The entry's data
// belongs to f, which must not append to the journal.
//
// A damaged record ends the replay with an error that wraps ErrDamaged and names the file, the task
// and the record's index.
func (l *Log) Replay(f func(Entry) error) error {
	tx, err := l.begin()
	if err != nil {
		return l.describe(err)
	}
	// A read-only transaction has no changes that a rollback could lose.
	defer func() { _ = tx.Rollback() }()
	next, err := l.scan(tx)
	if err != nil {
		return err
	}
	for {
		entry, ok, err := next()
		if err != nil || !ok {
			return err
		}
		if err := f(entry); err != nil {
			return err
		}
	}
}

func (l *Log) begin() (tx *bolt.Tx, err error) {
	if err := l.journal.usable(); err != nil {
		return nil, err
	}
	defer l.journal.recoverDamage(&err)()
	return l.journal.db.Begin(false)
}

// scan returns a function that returns one entry at each call; its second result is false after the
// last entry.
func (l *Log) scan(tx *bolt.Tx) (next func() (Entry, bool, error), err error) {
	defer l.journal.recoverDamage(&err)()
	all, err := l.journal.tasks(tx)
	if err != nil {
		return nil, l.describe(err)
	}
	own := all.Bucket([]byte(l.task))
	if own == nil {
		return func() (Entry, bool, error) { return Entry{}, false, nil }, nil
	}
	stored, keys := own.Bucket(entriesBucket), own.Bucket(keysBucket)
	if stored == nil || keys == nil {
		return nil, l.describe(fmt.Errorf("%w: a bucket is missing", ErrDamaged))
	}
	// The newest entry is never deleted, so the last entry has the last index.
	if last, _ := stored.Cursor().Last(); len(last) != 8 || binary.BigEndian.Uint64(last) != stored.Sequence() {
		return nil, l.describe(fmt.Errorf("%w: its last entries are missing", ErrDamaged))
	}
	cursor, step := stored.Cursor(), (*bolt.Cursor).First
	return func() (entry Entry, ok bool, err error) {
		defer l.journal.recoverDamage(&err)()
		name, record := step(cursor)
		step = (*bolt.Cursor).Next
		if name == nil {
			return Entry{}, false, nil
		}
		entry, err = read(keys, name, record)
		return entry, err == nil, l.describe(err)
	}, nil
}

func read(keys *bolt.Bucket, name, record []byte) (Entry, error) {
	if len(name) != 8 {
		return Entry{}, fmt.Errorf("%w: an index of %d bytes", ErrDamaged, len(name))
	}
	index := binary.BigEndian.Uint64(name)
	entry, err := decodeRecord(index, record)
	if err == nil && entry.Key != "" && !bytes.Equal(keys.Get([]byte(entry.Key)), name) {
		err = errors.New("its key points elsewhere")
	}
	if err != nil {
		return Entry{}, fmt.Errorf("entry %d is %w: %w", index, ErrDamaged, err)
	}
	return entry, nil
}

// describe adds the task and the path of the file to an error.
func (l *Log) describe(err error) error {
	if err == nil {
		return nil
	}
	return l.journal.describe(fmt.Errorf("task %s: %w", l.task, err))
}
