package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"
	"pgregory.net/rapid"
)

func mustOpen(t testing.TB, path string) *Journal {
	t.Helper()
	j, err := Open(path, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}

func mustLog(t testing.TB, j *Journal, task string) *Log {
	t.Helper()
	log, err := j.Log(task)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func entriesOf(log *Log) (entries []Entry, err error) {
	err = log.Replay(func(e Entry) error {
		entries = append(entries, e)
		return nil
	})
	return entries, err
}

func TestJournalFollowsModel(t *testing.T) {
	directory := t.TempDir()
	run := 0
	rapid.Check(t, func(rt *rapid.T) {
		run++
		path := filepath.Join(directory, strconv.Itoa(run))
		j, err := Open(path, time.Second)
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { _ = j.Close() }()
		model := map[string][]Entry{}
		rt.Repeat(map[string]func(*rapid.T){
			"append": func(rt *rapid.T) {
				task := rapid.SampledFrom([]string{"one", "two"}).Draw(rt, "task")
				entries := rapid.SliceOfN(rapid.Custom(drawEntry), 0, 5).Draw(rt, "entries")
				log, err := j.Log(task)
				if err != nil {
					rt.Fatal(err)
				}
				if err := log.Append(entries...); err != nil {
					rt.Fatal(err)
				}
				for _, e := range entries {
					model[task] = appendModel(model[task], e)
				}
			},
			"reopen": func(rt *rapid.T) {
				if err := j.Close(); err != nil {
					rt.Fatal(err)
				}
				if j, err = Open(path, time.Second); err != nil {
					rt.Fatal(err)
				}
			},
			"": func(rt *rapid.T) { compare(rt, j, model) },
		})
	})
}

func drawEntry(t *rapid.T) Entry {
	return Entry{
		Key:  rapid.SampledFrom([]string{"", "", "fit", "vote"}).Draw(t, "key"),
		Data: rapid.SliceOfN(rapid.Byte(), 0, 30).Draw(t, "data"),
	}
}

func appendModel(log []Entry, e Entry) []Entry {
	if e.Key != "" {
		log = slices.DeleteFunc(log, func(earlier Entry) bool { return earlier.Key == e.Key })
	}
	return append(log, e)
}

func compare(t *rapid.T, j *Journal, model map[string][]Entry) {
	var names []string
	for task, want := range model {
		if len(want) > 0 {
			names = append(names, task)
		}
		log, err := j.Log(task)
		if err != nil {
			t.Fatal(err)
		}
		got, err := entriesOf(log)
		if err != nil {
			t.Fatal(err)
		}
		same := func(a, b Entry) bool { return a.Key == b.Key && bytes.Equal(a.Data, b.Data) }
		if !slices.EqualFunc(got, want, same) {
			t.Fatalf("task %s: got %v, want %v", task, got, want)
		}
	}
	slices.Sort(names)
	tasks, err := j.Tasks()
	if err != nil || !slices.Equal(tasks, names) {
		t.Fatalf("tasks %v, %v; want %v", tasks, err, names)
	}
}

func TestOpenLockedByAnother(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	mustOpen(t, path)
	for name, open := range map[string]func(string, time.Duration) (*Journal, error){
		"write": Open, "read": OpenReadOnly,
	} {
		_, err := open(path, 0)
		if !errors.Is(err, ErrBusy) {
			t.Fatalf("%s: got %v", name, err)
		}
		if !strings.Contains(err.Error(), "directory "+filepath.Dir(path)+":") ||
			!strings.Contains(err.Error(), "another process") {
			t.Errorf("%s: unclear: %v", name, err)
		}
	}
}

func TestOpenReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	if _, err := OpenReadOnly(path, time.Second); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("missing file: %v", err)
	}
	j := mustOpen(t, path)
	if err := mustLog(t, j, "task").Append(Entry{Data: []byte("a")}); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 { // readers share the file
		reader, err := OpenReadOnly(path, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		defer reader.Close()
		log := mustLog(t, reader, "task")
		if got, err := entriesOf(log); err != nil || len(got) != 1 {
			t.Fatalf("got %v, %v", got, err)
		}
		if err := log.Append(Entry{}); err == nil || !strings.Contains(err.Error(), "reading only") {
			t.Fatalf("append: %v", err)
		}
		if got, err := entriesOf(mustLog(t, reader, "other")); err != nil || len(got) != 0 {
			t.Fatalf("unknown task: %v, %v", got, err)
		}
	}
}

func TestFileIsPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no permission bits")
	}
	path := filepath.Join(t.TempDir(), "journal")
	mustOpen(t, path)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v, %v", info.Mode(), err)
	}
}

func TestDamageIsAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	j := mustOpen(t, path)
	marker := []byte("a record that is easy to find")
	log := mustLog(t, j, "the-task")
	if err := log.Append(Entry{Data: []byte("first")}, Entry{Data: marker}); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// bbolt may keep an older copy of the page as well.
	damaged := bytes.ReplaceAll(content, marker, append([]byte("A"), marker[1:]...))
	if bytes.Equal(damaged, content) {
		t.Fatal("the record is not in the file")
	}
	if err := os.WriteFile(path, damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := entriesOf(mustLog(t, mustOpen(t, path), "the-task"))
	if !errors.Is(err, ErrDamaged) || len(got) != 1 {
		t.Fatalf("got %v, %v", got, err)
	}
	for _, part := range []string{path, "the-task", "entry 2"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not name %q", err, part)
		}
	}
}

// Every page that holds something is overwritten in turn. The journal must
// answer with an error or the full history, and never panic.
func TestDamagedPages(t *testing.T) {
	directory := t.TempDir()
	path := filepath.Join(directory, "journal")
	j := mustOpen(t, path)
	log := mustLog(t, j, "task")
	const count = 40
	for i := range uint64(count) {
		if err := log.Append(Entry{Data: bytes.Repeat(binary.BigEndian.AppendUint64(nil, i), 60)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	size := os.Getpagesize()
	errorsSeen := 0
	for page := 0; (page+1)*size <= len(content); page++ {
		damaged := bytes.Clone(content)
		clear(damaged[page*size : (page+1)*size])
		copyPath := filepath.Join(directory, "copy")
		if err := os.WriteFile(copyPath, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := readAll(copyPath)
		if err != nil {
			errorsSeen++
		} else if page > 1 && len(got) != count {
			t.Errorf("page %d: %d entries and no error", page, len(got))
		}
	}
	if errorsSeen < 3 {
		t.Errorf("only %d damaged pages were noticed", errorsSeen)
	}
}

func readAll(path string) ([]Entry, error) {
	j, err := OpenReadOnly(path, time.Second)
	if err != nil {
		return nil, err
	}
	defer j.Close()
	log, err := j.Log("task")
	if err != nil {
		return nil, err
	}
	return entriesOf(log)
}

func TestFormatOfAnotherVersion(t *testing.T) {
	cases := []struct {
		name, want string
		change     func(tx *bolt.Tx) error
	}{
		{"newer", "newer version", func(tx *bolt.Tx) error {
			return tx.Bucket(metaBucket).Put(formatKey, encodeFormat(3))
		}},
		{"unreadable", "unreadable", func(tx *bolt.Tx) error {
			return tx.Bucket(metaBucket).Put(formatKey, []byte("x"))
		}},
		{"other database", "not a journal", func(tx *bolt.Tx) error { return tx.DeleteBucket(metaBucket) }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "journal")
			j := mustOpen(t, path)
			if err := j.db.Update(c.change); err != nil {
				t.Fatal(err)
			}
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := Open(path, time.Second); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v", err)
			}
		})
	}
}

// A damaged format version passes neither for a newer nor for another one: a repair must be possible.
func TestDamagedFormatIsDamage(t *testing.T) {
	for _, version := range []uint32{formatVersion, markedVersion} {
		sound := encodeFormat(version)
		for bit := range 8 * len(sound) {
			stored := slices.Clone(sound)
			stored[bit/8] ^= 1 << (bit % 8)
			path := filepath.Join(t.TempDir(), "journal")
			if err := initialise(path, func(meta *bolt.Bucket) error { return meta.Put(formatKey, stored) }); err != nil {
				t.Fatal(err)
			}
			if _, err := Open(path, time.Second); !errors.Is(err, ErrDamaged) {
				t.Errorf("format %d, bit %d: %v", version, bit, err)
			}
		}
	}
}

func TestNotAJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	if err := os.WriteFile(path, bytes.Repeat([]byte("text "), 10000), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, time.Second); err == nil || !strings.Contains(err.Error(), "not a journal") {
		t.Fatalf("got %v", err)
	}
	if _, err := Open(filepath.Join(path, "missing", "journal"), time.Second); err == nil {
		t.Fatal("opened below a file")
	}
}

func TestAppendIsAllOrNothing(t *testing.T) {
	j := mustOpen(t, filepath.Join(t.TempDir(), "journal"))
	log := mustLog(t, j, "task")
	err := log.Append(Entry{Data: []byte("good")}, Entry{Key: strings.Repeat("k", MaxKey+1)})
	if err == nil || !strings.Contains(err.Error(), "entry 1") {
		t.Fatalf("got %v", err)
	}
	if tasks, err := j.Tasks(); err != nil || len(tasks) != 0 {
		t.Fatalf("tasks %v, %v", tasks, err)
	}
}

func TestReplayStopsAtFirstError(t *testing.T) {
	j := mustOpen(t, filepath.Join(t.TempDir(), "journal"))
	log := mustLog(t, j, "task")
	if err := log.Append(Entry{}, Entry{}, Entry{}); err != nil {
		t.Fatal(err)
	}
	stop, calls := errors.New("stop"), 0
	if err := log.Replay(func(Entry) error { calls++; return stop }); err != stop || calls != 1 {
		t.Fatalf("%v after %d calls", err, calls)
	}
}

func TestUseAfterClose(t *testing.T) {
	j := mustOpen(t, filepath.Join(t.TempDir(), "journal"))
	log := mustLog(t, j, "task")
	if err := errors.Join(j.Close(), j.Close()); err != nil {
		t.Fatal(err)
	}
	if err := log.Append(Entry{}); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("append: %v", err)
	}
	if _, err := entriesOf(log); err == nil {
		t.Error("replay of a closed journal")
	}
	for _, name := range []string{"", strings.Repeat("t", MaxKey+1)} {
		if _, err := j.Log(name); err == nil {
			t.Errorf("accepted a name of %d bytes", len(name))
		}
	}
}
