package campaign

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/journal"
	"github.com/fbo-node/fbo/internal/sharecache"
	"github.com/fbo-node/fbo/internal/store"
)

// disk is the data directory of one member: its journal and its cache of peers' shares.
type disk struct {
	dir     string
	task    string
	journal *journal.Journal
	log     *journal.Log
	caches  [][]byte // contents of the cache at earlier times
	forgets bool     // a crash loses the latest append although it was acknowledged
	before  []byte   // with forgets: the journal before the latest append
}

// metaPages is the number of header pages at the beginning of a bbolt file.
const metaPages = 2

// pageSize is the page size of bbolt.
func pageSize() int { return os.Getpagesize() }

func newDisk(dir, task string, forgets bool) (*disk, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	return &disk{dir: dir, task: task, forgets: forgets}, nil
}

func (d *disk) journalPath() string { return filepath.Join(d.dir, store.JournalFile) }
func (d *disk) cachePath() string   { return filepath.Join(d.dir, "peer-shares", "shares.jsonl") }

// open opens the journal and returns its records.
func (d *disk) open() (records []agent.Record, err error) {
	if d.journal, err = journal.Open(d.journalPath(), 0); err != nil {
		return nil, err
	}
	if d.log, err = d.journal.Log(d.task); err != nil {
		return nil, err
	}
	return store.ReadLog(d.log)
}

// append writes records in one synced transaction.
func (d *disk) append(records []agent.Record) error {
	entries, err := store.EntriesOf(records)
	if err != nil {
		return err
	}
	if d.forgets {
		if d.before, err = os.ReadFile(d.journalPath()); err != nil {
			return err
		}
	}
	return d.log.Append(entries...)
}

// tear writes records as append does, and then replaces the file by what a loss of power before the
// end of the transaction may leave: any part of its pages, each whole or only its first half, and the
// header from before.
func (d *disk) tear(records []agent.Record, rng *rand.Rand) error {
	before, err := os.ReadFile(d.journalPath())
	if err != nil {
		return err
	}
	if err := d.append(records); err != nil {
		return err
	}
	after, err := os.ReadFile(d.journalPath())
	if err != nil {
		return err
	}
	if err := d.close(); err != nil {
		return err
	}
	size := pageSize()
	torn := slices.Clone(after)
	for at := 0; at < len(before); at += size {
		page, end := torn[at:min(at+size, len(torn))], min(at+size, len(before))
		switch choice := rng.IntN(3); {
		case at < metaPages*size || choice == 0:
			copy(page, before[at:end])
		case choice == 1:
			copy(page[len(page)/2:], before[at+len(page)/2:end])
		}
	}
	for at := len(before); at < len(torn); at += size {
		if rng.IntN(2) == 0 {
			clear(torn[at:min(at+size, len(torn))])
		}
	}
	return os.WriteFile(d.journalPath(), torn, 0o600)
}

// close ends the use of the journal.
func (d *disk) close() error {
	if d.journal == nil {
		return nil
	}
	err := d.journal.Close()
	d.journal, d.log = nil, nil
	return err
}

// crash ends the use of the journal without warning. A disk that forgets loses the latest append.
func (d *disk) crash() error {
	err := d.close()
	if d.forgets && d.before != nil {
		err = errors.Join(err, os.WriteFile(d.journalPath(), d.before, 0o600))
	}
	d.before = nil
	return err
}

// maxCaches is the number of earlier contents of a cache that a fault can bring back.
const maxCaches = 20

func (d *disk) writeCache(c sharecache.Contents) error {
	if err := sharecache.Write(d.cachePath(), c); err != nil {
		return err
	}
	content, err := os.ReadFile(d.cachePath())
	if d.caches = append(d.caches, content); len(d.caches) > maxCaches {
		d.caches = d.caches[1:]
	}
	return err
}

// readCache returns the content of the cache. A damaged cache is empty.
func (d *disk) readCache() (sharecache.Contents, error) {
	c, err := sharecache.Read(d.cachePath())
	if errors.Is(err, sharecache.ErrDamaged) {
		return sharecache.Contents{}, os.Remove(d.cachePath())
	}
	return c, err
}

// damage changes the cache as the fault states. Without a cache it does nothing.
func (d *disk) damage(f Fault) error {
	content, err := os.ReadFile(d.cachePath())
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(content) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	at := len(content) * f.Part / 1000
	switch f.State {
	case Truncated:
		content = content[:at]
	case Flipped:
		content = bytes.Clone(content)
		content[at] ^= 1 << (f.Part % 8)
	case Older:
		content = d.caches[len(d.caches)*f.Part/1000]
	default:
		return os.Remove(d.cachePath())
	}
	return os.WriteFile(d.cachePath(), content, 0o600)
}
