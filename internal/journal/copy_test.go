package journal

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func sameEntry(a, b Entry) bool { return a.Key == b.Key && bytes.Equal(a.Data, b.Data) }

// expectHolds wants a journal with exactly these logs.
func expectHolds(t *testing.T, path string, want map[string][]Entry) {
	t.Helper()
	if err := Check(path, time.Second); err != nil {
		t.Fatal(err)
	}
	j, err := OpenReadOnly(path, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	tasks, err := j.Tasks()
	if err != nil || len(tasks) != len(want) {
		t.Fatalf("tasks %v, %v", tasks, err)
	}
	for task, entries := range want {
		if got, err := entriesOf(mustLog(t, j, task)); err != nil || !slices.EqualFunc(got, entries, sameEntry) {
			t.Errorf("%s: task %s has %d entries, %v; want %d", path, task, len(got), err, len(entries))
		}
	}
}

func expectOnly(t *testing.T, directory string, want ...string) {
	t.Helper()
	files, err := os.ReadDir(directory)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		names = append(names, file.Name())
	}
	if !slices.Equal(names, want) {
		t.Errorf("the directory holds %v, want %v", names, want)
	}
}

// A copy is a journal of its own with all that was acknowledged by then, whichever of the
// two headers is the newer one, and for its owner only.
func TestCopyHasAcknowledgedEntries(t *testing.T) {
	directory := t.TempDir()
	path, to := filepath.Join(directory, "journal"), filepath.Join(directory, "copy")
	j := mustOpen(t, path)
	want := map[string][]Entry{}
	for i := range byte(5) {
		entries := []Entry{{Data: bytes.Repeat([]byte{i}, 3000)}, {Key: "k", Data: []byte{i}}}
		if err := mustLog(t, j, "task").Append(entries...); err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			want["task"] = appendModel(want["task"], e)
		}
		if err := j.Copy(to); err != nil {
			t.Fatal(err)
		}
		expectHolds(t, to, want)
	}
	if info, err := os.Stat(to); err != nil || !strings.HasPrefix(info.Mode().String(), "-rw-rw-rw-") && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	expectOnly(t, directory, "copy", "journal")
	if err := useAll(to, want); err != nil { // it can be appended to
		t.Error(err)
	}
}

// Entries are appended while it is copied.
func TestCopyBesideAppends(t *testing.T) {
	directory := t.TempDir()
	j := mustOpen(t, filepath.Join(directory, "journal"))
	log, to := mustLog(t, j, "task"), filepath.Join(directory, "copy")
	var appends sync.WaitGroup
	appends.Go(func() {
		for i := range uint64(40) {
			if err := log.Append(numbered("", i)); err != nil {
				t.Error(err)
			}
		}
	})
	for range 10 {
		if err := j.Copy(to); err != nil {
			t.Error(err)
		}
		expectNumbered(t, to)
	}
	appends.Wait()
}

// expectNumbered wants the entries of numbered, without a gap, as many as there are.
func expectNumbered(t *testing.T, path string) {
	t.Helper()
	got, err := readAll(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range got {
		if !sameEntry(e, numbered("", uint64(i))) {
			t.Fatalf("entry %d is %v", i, e)
		}
	}
}

// What cannot be read is not copied, and the copy before stays.
func TestCopyOfADamagedJournal(t *testing.T) {
	directory := t.TempDir()
	path, to := filepath.Join(directory, "journal"), filepath.Join(directory, "copy")
	marker := []byte("a record that is easy to find")
	j := mustOpen(t, path)
	if err := mustLog(t, j, "task").Append(Entry{Data: marker}); err != nil {
		t.Fatal(err)
	}
	if err := j.Copy(to); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.ReplaceAll(content, marker, append([]byte("A"), marker[1:]...)), 0o600); err != nil {
		t.Fatal(err)
	}
	j = mustOpen(t, path) // its structure is whole
	if err := j.Copy(to); !errors.Is(err, ErrDamaged) {
		t.Errorf("%v", err)
	}
	if after, err := os.ReadFile(to); err != nil || !bytes.Equal(after, before) {
		t.Errorf("the copy before has changed: %v", err)
	}
	expectOnly(t, directory, "copy", "journal")
	if err := Check(path, 0); err == nil {
		t.Error("Check finds it whole")
	}
}

func TestCopyWhereNothingCanBeWritten(t *testing.T) {
	j := mustOpen(t, filepath.Join(t.TempDir(), "journal"))
	if err := j.Copy(filepath.Join(t.TempDir(), "missing", "copy")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// A copy does not go where a link leads that somebody planted.
func TestCopyFollowsNoLink(t *testing.T) {
	directory, outside := t.TempDir(), t.TempDir()
	victim := filepath.Join(outside, "victim")
	if err := os.WriteFile(victim, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(directory, "copy")
	for _, at := range []string{to, to + newEnding} {
		if err := os.Symlink(victim, at); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	path := filepath.Join(directory, "journal")
	j := mustOpen(t, path)
	if err := j.Copy(to); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(victim); err != nil || string(got) != "precious" {
		t.Errorf("the file that the link leads to holds %q, %v", got, err)
	}
	expectOnly(t, directory, "copy", "journal")
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path, victim); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, path); err != nil {
		t.Fatal(err)
	}
	for name, open := range map[string]func(string, time.Duration) (*Journal, error){"Open": Open, "OpenReadOnly": OpenReadOnly} {
		if j, err := open(path, time.Second); err == nil {
			t.Errorf("%s follows a link", name)
			_ = j.Close()
		}
	}
	if _, err := Salvage(path); err == nil {
		t.Error("Salvage follows a link")
	}
	if unlock, err := Lock(path, 0); err == nil {
		t.Error("Lock follows a link")
		unlock()
	}
}

func TestWriteWithAMark(t *testing.T) {
	directory := t.TempDir()
	path := filepath.Join(directory, "journal")
	if err := os.WriteFile(path, []byte("what was there before"), 0o600); err != nil {
		t.Fatal(err)
	}
	mark, logs := []byte(`{"a": "mark"}`), map[string][]Entry{"one": {{Data: []byte("first")}, {Key: "k", Data: []byte("v")}}, "two": {{Data: []byte("x")}}}
	if err := Write(path, mark, logs); err != nil {
		t.Fatal(err)
	}
	expectHolds(t, path, logs)
	expectOnly(t, directory, "journal")
	j := mustOpen(t, path)
	if got, err := j.Mark(); err != nil || !bytes.Equal(got, mark) {
		t.Errorf("mark %q, %v", got, err)
	}
	to := filepath.Join(directory, "copy")
	if err := j.Copy(to); err != nil { // it stays in copies
		t.Fatal(err)
	}
	if s, err := Salvage(to); err != nil || !bytes.Equal(s.Mark, mark) {
		t.Errorf("mark of the copy %q, %v", s.Mark, err)
	}
	if got, err := mustOpen(t, filepath.Join(directory, "other")).Mark(); err != nil || got != nil {
		t.Errorf("mark of a journal without one: %q, %v", got, err)
	}
}

// A mark that is destroyed is not taken for none: what it asks for would not be heeded.
func TestDamagedMarkIsAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	if err := Write(path, []byte("the mark that is easy to find"), nil); err != nil {
		t.Fatal(err)
	}
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string][2]string{
		"its text": {"the mark that is easy to find", "the mark that is easy to fine"},
		"its key":  {"mark\x01", "lark\x01"}, // the version of its record follows
	} {
		damaged := bytes.ReplaceAll(sound, []byte(change[0]), []byte(change[1]))
		if bytes.Equal(damaged, sound) {
			t.Fatalf("%s is not in the file", what)
		}
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := Check(path, time.Second); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: Check: %v", what, err)
		}
		j := mustOpen(t, path)
		if mark, err := j.Mark(); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: mark %q, %v", what, mark, err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLockExcludesOtherProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	if _, err := Lock(path, 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing there: %v", err)
	}
	j := mustOpen(t, path)
	if unlock, err := Lock(path, 0); err == nil {
		unlock()
		t.Skip("no locks here")
	} else if !errors.Is(err, ErrBusy) {
		t.Errorf("in use: %v", err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	unlock, err := Lock(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(path, 0); !errors.Is(err, ErrBusy) {
		t.Errorf("locked twice: %v", err)
	}
	unlock()
	unlock, err = Lock(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}

// More ways of damage, beside those of damages.
var furtherDamages = map[string]func(*rand.Rand, []byte) []byte{
	"pages of zeros": func(rng *rand.Rand, content []byte) []byte {
		size := os.Getpagesize()
		for range 1 + rng.IntN(3) {
			page := rng.IntN(len(content) / size)
			clear(content[page*size : (page+1)*size])
		}
		return content
	},
	"zeros anywhere": func(rng *rand.Rand, content []byte) []byte {
		from := rng.IntN(len(content))
		clear(content[from:min(len(content), from+1+rng.IntN(20000))])
		return content
	},
	"a page in another place": func(rng *rand.Rand, content []byte) []byte {
		size := os.Getpagesize()
		from, to := rng.IntN(len(content)/size), rng.IntN(len(content)/size)
		copy(content[to*size:(to+1)*size], content[from*size:(from+1)*size])
		return content
	},
	"many bits": func(rng *rand.Rand, content []byte) []byte {
		for range 1 + rng.IntN(200) {
			content[rng.IntN(len(content))] ^= 1 << rng.IntN(8)
		}
		return content
	},
	"its end twice": func(rng *rand.Rand, content []byte) []byte {
		return append(content, content[rng.IntN(len(content)):]...)
	},
	"noise": func(rng *rand.Rand, content []byte) []byte {
		for i := rng.IntN(len(content)); i < len(content); i++ {
			content[i] = byte(rng.Uint32())
		}
		return content
	},
}

// Whatever is damaged: what Salvage returns was written, in its order, to the task or, where
// the name of the task is damaged, to one.
func TestSalvageReturnsWhatWasWritten(t *testing.T) {
	const each = 25
	path := filepath.Join(t.TempDir(), "journal")
	sound, want := writeSample(t, path)
	whole, err := Salvage(path)
	if err != nil {
		t.Fatal(err)
	}
	for task, entries := range want {
		if got := whole.Logs[task]; !slices.EqualFunc(got, entries, func(p Piece, e Entry) bool { return !p.Gap && sameEntry(p.Entry, e) }) {
			t.Fatalf("of a sound file it returns %d pieces, want %d", len(got), len(entries))
		}
	}
	all := map[string]func(*rand.Rand, []byte) []byte{}
	for _, some := range []map[string]func(*rand.Rand, []byte) []byte{damages, furtherDamages} {
		for name, damage := range some {
			all[name] = damage
		}
	}
	for name, damage := range all {
		read, noticed := 0, 0
		for seed := range uint64(each) {
			rng := rand.New(rand.NewPCG(seed, 26))
			if err := os.WriteFile(path, damage(rng, bytes.Clone(sound)), 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := Salvage(path)
			if err != nil {
				t.Fatalf("%s, seed %d: %v", name, seed, err)
			}
			if Check(path, time.Second) != nil {
				noticed++
			}
			for task, pieces := range s.Logs {
				read += len(pieces)
				if err := areOf(pieces, written(task)); err != nil {
					t.Errorf("%s, seed %d: task %q: %v", name, seed, task, err)
				}
			}
		}
		t.Logf("%s: %d of %d noticed, %d entries of %d each on average", name, noticed, each, read/each, len(want["one"])+len(want["two"]))
	}
}

// written is what writeSample has ever appended to a task, by index.
func written(task string) map[uint64]Entry {
	all := map[uint64]Entry{}
	for i := range uint64(60) {
		all[2*i+1] = Entry{Data: bytes.Repeat([]byte{byte(i)}, int(10+i*i))}
		all[2*i+2] = Entry{Key: "key" + string(rune('0'+i%5)), Data: []byte(task)}
	}
	return all
}

func areOf(pieces []Piece, all map[uint64]Entry) error {
	last := uint64(0)
	for _, p := range pieces {
		e := all[p.Index]
		if e.Key != "" && (string(p.Data) == "one" || string(p.Data) == "two") {
			e.Data = p.Data // of the other task, when its name is damaged
		}
		switch {
		case p.Index <= last:
			return errors.New("out of order")
		case !sameEntry(p.Entry, e):
			return errors.New("an entry that was never written")
		}
		last = p.Index
	}
	return nil
}

// FuzzSalvage reads any file: no fault, no panic, no hang.
func FuzzSalvage(f *testing.F) {
	path := filepath.Join(f.TempDir(), "journal")
	j := mustOpen(f, path)
	if err := mustLog(f, j, "task").Append(Entry{Key: "k", Data: []byte("data")}); err != nil {
		f.Fatal(err)
	}
	if err := j.Close(); err != nil {
		f.Fatal(err)
	}
	sound, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(0, []byte{})
	f.Add(2*os.Getpagesize()+8, []byte{1, 0, 255, 255})
	f.Add(os.Getpagesize()+16, bytes.Repeat([]byte{255}, 64))
	f.Fuzz(func(t *testing.T, at int, b []byte) {
		content := bytes.Clone(sound)
		if at < 0 || at > len(content) {
			return
		}
		copy(content[at:], b)
		path := filepath.Join(t.TempDir(), "journal")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Salvage(path)
		if err != nil {
			t.Fatal(err)
		}
		for task, pieces := range s.Logs {
			for _, p := range pieces {
				if p.Key != "k" || string(p.Data) != "data" {
					t.Errorf("task %q: %+v was never written", task, p)
				}
			}
		}
	})
}
