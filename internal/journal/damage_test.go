package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// damages are the ways in which a file is damaged, at random.
var damages = map[string]func(*rand.Rand, []byte) []byte{
	"truncated": func(rng *rand.Rand, content []byte) []byte { return content[:rng.IntN(len(content))] },
	"page header": func(rng *rand.Rand, content []byte) []byte {
		size := os.Getpagesize()
		page := rng.IntN(len(content) / size)
		for i := range 16 {
			content[page*size+i] = byte(rng.Uint32())
		}
		return content
	},
	"field of a page header": func(rng *rand.Rand, content []byte) []byte {
		size := os.Getpagesize()
		at := rng.IntN(len(content)/size)*size + rng.IntN(16)
		content[at] = byte(rng.Uint32())
		return content
	},
	"single bit": func(rng *rand.Rand, content []byte) []byte {
		content[rng.IntN(len(content))] ^= 1 << rng.IntN(8)
		return content
	},
	"bit of a table": func(rng *rand.Rand, content []byte) []byte {
		size := os.Getpagesize()
		content[rng.IntN(len(content)/size)*size+rng.IntN(128)] ^= 1 << rng.IntN(8)
		return content
	},
}

// writeSample writes two tasks, with entries of many sizes, kept and replaced, and
// returns the file and what it holds.
func writeSample(t *testing.T, path string) (content []byte, want map[string][]Entry) {
	t.Helper()
	j := mustOpen(t, path)
	want = map[string][]Entry{}
	for i := range 60 {
		for _, task := range []string{"one", "two"} {
			entries := []Entry{{Data: bytes.Repeat([]byte{byte(i)}, 10+i*i)}, {Key: fmt.Sprint("key", i%5), Data: []byte(task)}}
			if err := mustLog(t, j, task).Append(entries...); err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				want[task] = appendModel(want[task], e)
			}
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content, want
}

// Whatever is damaged: either the journal says so in one line that names the file,
// or all that was acknowledged is there, and what is appended then as well.
func TestDamageIsNoticedOrHarmless(t *testing.T) {
	const each = 60
	directory := t.TempDir()
	path := filepath.Join(directory, "journal")
	sound, want := writeSample(t, path)
	for name, damage := range damages {
		noticed := 0
		for seed := range uint64(each) {
			rng := rand.New(rand.NewPCG(seed, 25))
			if err := os.WriteFile(path, damage(rng, bytes.Clone(sound)), 0o600); err != nil {
				t.Fatal(err)
			}
			err := useAll(path, want)
			if err == nil {
				continue
			}
			noticed++
			if !errors.Is(err, ErrDamaged) && !strings.Contains(err.Error(), "newer version") || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s, seed %d: %v", name, seed, err)
			}
		}
		t.Logf("%s: %d of %d noticed, the others harmless", name, noticed, each)
		if noticed == 0 {
			t.Errorf("%s: never noticed", name)
		}
	}
}

// useAll reads a journal, appends to it and reads it again; an error that is not
// about damage tells what was lost.
func useAll(path string, want map[string][]Entry) error {
	extra := Entry{Key: "key1", Data: []byte("new")}
	for round := range 2 {
		j, err := Open(path, time.Second)
		if err != nil {
			return err
		}
		for task, entries := range want {
			log, err := j.Log(task)
			if err != nil {
				return errors.Join(err, j.Close())
			}
			got, err := entriesOf(log)
			if err != nil {
				_ = j.Close()
				return err
			}
			if round == 1 {
				entries = appendModel(slices.Clone(entries), extra)
			}
			same := func(a, b Entry) bool { return a.Key == b.Key && bytes.Equal(a.Data, b.Data) }
			if !slices.EqualFunc(got, entries, same) {
				_ = j.Close()
				return fmt.Errorf("task %s has %d entries, %d were written", task, len(got), len(entries))
			}
			if round == 0 {
				if err := log.Append(extra); err != nil {
					_ = j.Close()
					return err
				}
			}
		}
		if err := j.Close(); err != nil {
			return err
		}
	}
	return nil
}

// A file that becomes shorter while it is open ends in errors, and closing it does
// not hang.
func TestTruncatedWhileOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	writeSample(t, path)
	j := mustOpen(t, path)
	if err := os.Truncate(path, int64(2*os.Getpagesize())); err != nil {
		t.Skip("an open file cannot be made shorter here:", err)
	}
	log := mustLog(t, j, "one")
	if _, err := entriesOf(log); !errors.Is(err, ErrDamaged) {
		t.Errorf("replay: %v", err)
	}
	if err := log.Append(Entry{Data: []byte("x")}); !errors.Is(err, ErrDamaged) {
		t.Errorf("append: %v", err)
	}
	if _, err := j.Tasks(); !errors.Is(err, ErrDamaged) {
		t.Errorf("tasks: %v", err)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}

// When one of the two headers is destroyed, the other may be older than what was
// acknowledged last.
func TestDestroyedHeaders(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	sound, want := writeSample(t, path)
	for header := range 2 {
		damaged := bytes.Clone(sound)
		clear(damaged[header*os.Getpagesize() : (header+1)*os.Getpagesize()])
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := useAll(path, want); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "last records may be missing") {
			t.Errorf("header %d: %v", header, err)
		}
	}
}

func TestEmptyFileIsNoNewJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, open := range []func(string, time.Duration) (*Journal, error){Open, OpenReadOnly} {
		if _, err := open(path, time.Second); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "empty") {
			t.Errorf("%v", err)
		}
	}
}

// Making a journal leaves nothing else behind.
func TestCreateLeavesOneFile(t *testing.T) {
	directory := t.TempDir()
	mustOpen(t, filepath.Join(directory, "journal"))
	var names []string
	files, err := fs.ReadDir(os.DirFS(directory), ".")
	for _, file := range files {
		names = append(names, file.Name())
	}
	if err != nil || !slices.Equal(names, []string{"journal"}) {
		t.Errorf("%v, %v", names, err)
	}
}

// FuzzVerify feeds verify and bbolt with any file: no fault, no panic, no hang.
func FuzzVerify(f *testing.F) {
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
	f.Add(0, uint64(0))
	f.Add(5*os.Getpagesize()+8, uint64(1))
	f.Add(2*os.Getpagesize()+16, ^uint64(0))
	f.Fuzz(func(t *testing.T, at int, value uint64) {
		content := bytes.Clone(sound)
		if at < 0 || at > len(content)-8 {
			return
		}
		binary.NativeEndian.PutUint64(content[at:], value)
		path := filepath.Join(t.TempDir(), "journal")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readAll(path); err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%v", err)
		}
	})
}
