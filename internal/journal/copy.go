package journal

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/fbo-node/fbo/internal/datadir"
)

// Copy replaces the file at path with a copy of the journal, which is a complete journal itself.
// Before the copy gets its name, Copy verifies its structure and all records. When Copy returns,
// the copy is synced to the disk. After an error the file at path is unchanged. The journal may be
// used at the same time, but copies to one path must not run concurrently.
func (j *Journal) Copy(path string) error {
	if err := j.usable(); err != nil {
		return err
	}
	file, err := datadir.Create(path + newEnding)
	if err != nil {
		return fmt.Errorf("journal: copy: %w", err)
	}
	err = errors.Join(j.writeTo(file), file.Sync(), file.Close())
	if err == nil {
		err = Check(file.Name(), copyTimeout)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("journal: a copy of %s cannot be made, or what was copied does not hold: %w", j.path, datadir.Explain(err)), os.Remove(file.Name()))
	}
	return place(file.Name(), path)
}

const (
	newEnding   = ".new"      // ending of the name of an incomplete file
	copyTimeout = time.Second // short, because no other process uses an incomplete file
)

// place renames a complete file to its final name.
func place(from, path string) error {
	if err := os.Rename(from, path); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return syncDirectory(filepath.Dir(path))
}

func (j *Journal) writeTo(file *os.File) (err error) {
	defer j.recoverDamage(&err)()
	return j.db.View(func(tx *bolt.Tx) error {
		out := &failing{Writer: file}
		if _, err := tx.WriteTo(out); err != nil {
			return cmp.Or(out.err, err)
		}
		return orderHeaders(file, int64(j.db.Info().PageSize), uint64(tx.ID()))
	})
}

// failing is a Writer that keeps its error, because bbolt returns only the text of that error.
type failing struct {
	io.Writer
	err error
}

// Write implements io.Writer.
func (f *failing) Write(p []byte) (n int, err error) {
	n, err = f.Writer.Write(p)
	f.err = cmp.Or(f.err, err)
	return n, err
}

// orderHeaders exchanges the two headers of a copy if needed, so that the header of an even
// transaction comes first, as in all other files of bbolt. In a copy bbolt writes the newer header
// first.
func orderHeaders(file *os.File, pageSize int64, transaction uint64) error {
	if transaction%metaPages == 0 {
		return nil
	}
	var headers [metaPages][metaSize]byte
	for i := range headers {
		if _, err := file.ReadAt(headers[i][:], int64(i)*pageSize+pageHeader); err != nil {
			return err
		}
	}
	for i := range headers {
		if _, err := file.WriteAt(headers[1-i][:], int64(i)*pageSize+pageHeader); err != nil {
			return err
		}
	}
	return nil
}

// Check reads a whole journal and verifies its structure and records. It waits for other processes
// as Open does.
func Check(path string, timeout time.Duration) error {
	j, err := OpenReadOnly(path, timeout)
	if err != nil {
		return err
	}
	return errors.Join(j.check(), j.Close())
}

func (j *Journal) check() error {
	if _, err := j.Mark(); err != nil {
		return err
	}
	tasks, err := j.Tasks()
	if err != nil {
		return err
	}
	for _, task := range tasks {
		log, err := j.Log(task)
		if err == nil {
			err = log.Replay(func(Entry) error { return nil })
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Mark returns the mark of the journal: data that Write has stored for later starts. It is nil if
// there is none.
func (j *Journal) Mark() (mark []byte, err error) {
	if err := j.usable(); err != nil {
		return nil, err
	}
	defer j.recoverDamage(&err)()
	err = j.db.View(func(tx *bolt.Tx) error {
		meta := tx.Bucket(metaBucket)
		if meta == nil {
			return fmt.Errorf("%w: its format is missing", ErrDamaged)
		}
		stored := meta.Get(markKey)
		if stored == nil {
			if format, _ := decodeFormat(meta.Get(formatKey)); format == markedVersion {
				return fmt.Errorf("%w: its format says that it has a mark, which is missing", ErrDamaged)
			}
			return nil
		}
		entry, err := decodeRecord(markIndex, stored)
		if err != nil {
			return fmt.Errorf("its mark is %w: %w", ErrDamaged, err)
		}
		mark = entry.Data
		return nil
	})
	return mark, j.describe(err)
}

// markIndex is the index in the checksum of a mark. Entries begin at index 1.
const markIndex = 0

// Write replaces the file at path with a journal that has the given mark, which must not be nil,
// and the given logs. The file is complete and synced before it gets its name.
func Write(path string, mark []byte, logs map[string][]Entry) error {
	made := path + newEnding
	if err := os.Remove(made); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("journal: %w", err)
	}
	if err := fill(made, mark, logs); err != nil {
		return errors.Join(fmt.Errorf("journal: cannot write %s: %w", path, datadir.Explain(err)), os.Remove(made))
	}
	return place(made, path)
}

func fill(path string, mark []byte, logs map[string][]Entry) error {
	if err := initialise(path, func(meta *bolt.Bucket) error {
		return errors.Join(meta.Put(formatKey, encodeFormat(markedVersion)),
			meta.Put(markKey, encodeRecord(markIndex, Entry{Data: mark})))
	}); err != nil {
		return err
	}
	j, err := Open(path, copyTimeout)
	if err != nil {
		return err
	}
	for task, entries := range logs {
		log, err := j.Log(task)
		if err == nil {
			err = log.Append(entries...)
		}
		if err != nil {
			return errors.Join(err, j.Close())
		}
	}
	if err := j.Close(); err != nil {
		return err
	}
	return Check(path, copyTimeout)
}
