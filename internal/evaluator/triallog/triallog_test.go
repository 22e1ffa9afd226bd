package triallog

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

func open(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func read(t testing.TB, dir string, trial uint64) string {
	t.Helper()
	var out bytes.Buffer
	r := NewReader(dir, trial)
	defer r.Close()
	copied, err := r.CopyTo(&out)
	if err != nil {
		t.Fatal(err)
	}
	if marks := strings.Count(out.String(), "were not kept]"); marks == 0 && copied != int64(out.Len()) {
		t.Errorf("%d bytes said, %d written", copied, out.Len())
	}
	return out.String()
}

// numbered is text in which every place is recognisable.
func numbered(bytes int) string {
	var b strings.Builder
	for i := 0; b.Len() < bytes; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()[:bytes]
}

func TestBeginningAndEndAreKept(t *testing.T) {
	root := t.TempDir()
	run := 0
	rapid.Check(t, func(rt *rapid.T) {
		run++
		dir := filepath.Join(root, fmt.Sprint(run))
		w := open(t, dir).Writer(7)
		all := numbered(rapid.IntRange(0, 3*PerTrial).Draw(rt, "bytes"))
		for rest := all; rest != ""; {
			n := min(len(rest), rapid.IntRange(1, 2*Segment).Draw(rt, "piece"))
			if written, err := w.Write([]byte(rest[:n])); written != n || err != nil {
				rt.Fatal(written, err)
			}
			rest = rest[n:]
		}
		w.Close()
		_, _ = w.Write([]byte("too late"))
		got := read(t, dir, 7)
		if len(all) <= PerTrial {
			if got != all {
				rt.Fatalf("%d bytes came back as %d", len(all), len(got))
			}
			return
		}
		files := (len(all) + Segment - 1) / Segment
		want := all[:Segment] + fmt.Sprintf("\n[%d KiB were not kept]\n", (files-1-lastSegments)*Segment>>10) + all[(files-lastSegments)*Segment:]
		if got != want {
			rt.Fatalf("of %d bytes %d came back, want %d", len(all), len(got), len(want))
		}
		if size := sizeOf(t, dir); size > PerTrial {
			rt.Fatalf("%d bytes on disk", size)
		}
		os.RemoveAll(dir)
	})
}

func sizeOf(t testing.TB, dir string) (size int64) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	return size
}

// TestReaderFollows: each call shows what is new, over the ends of files and over
// a second attempt.
func TestReaderFollows(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	r := NewReader(dir, 3)
	defer r.Close()
	var got bytes.Buffer
	look := func() {
		t.Helper()
		if _, err := r.CopyTo(&got); err != nil {
			t.Fatal(err)
		}
	}
	look() // nothing yet
	w := s.Writer(3)
	all := numbered(PerTrial)
	for begin := 0; begin < len(all); begin += Segment / 3 {
		_, _ = w.Write([]byte(all[begin:min(len(all), begin+Segment/3)]))
		look()
	}
	if got.String() != all {
		t.Errorf("followed %d bytes of %d", got.Len(), len(all))
	}
	w.Close()
	got.Reset()
	again := s.Writer(3)
	look()
	_, _ = again.Write([]byte("second attempt\n"))
	look()
	if got.String() != "second attempt\n" {
		t.Errorf("then got %q", got.String())
	}
	again.Close()
}

// TestOldestGoFirst: all outputs together are bounded, those of running trials stay,
// and a store that is opened again knows what is there.
func TestOldestGoFirst(t *testing.T) {
	dir := t.TempDir()
	text := []byte(numbered(PerTrial))
	s := open(t, dir)
	running := s.Writer(1)
	_, _ = running.Write([]byte("still running\n"))
	const trials = Total/PerTrial + 10
	for trial := uint64(2); trial <= trials; trial++ {
		if trial == 40 {
			s = open(t, dir)
			s.writing[1] = true
		}
		w := s.Writer(trial)
		_, _ = w.Write(text)
		w.Close()
	}
	if size := sizeOf(t, dir); size > Total {
		t.Errorf("%d bytes on disk, want at most %d", size, Total)
	}
	if got := read(t, dir, 1); got != "still running\n" {
		t.Errorf("the running trial has %q", got)
	}
	if got := read(t, dir, trials); got != string(text) {
		t.Errorf("the newest trial has %d bytes", len(got))
	}
	if got := read(t, dir, 2); got != "" {
		t.Errorf("the oldest trial still has %d bytes", len(got))
	}
	running.Close()
}

// A second attempt replaces the output of a trial, and leaves other files alone.
func TestOtherFilesAreLeftAlone(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"trial-4.log": "old\n", "trial-x.log": "", "trial-4.log.0": "no", "notes.txt": "mine"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := read(t, dir, 4); got != "old\n" {
		t.Errorf("got %q", got)
	}
	s := open(t, dir)
	w := s.Writer(4)
	if path := w.Path(); path != "" {
		t.Errorf("path %q before any output", path)
	}
	_, _ = w.Write([]byte("new\n"))
	w.Close()
	if got := read(t, dir, 4); got != "new\n" {
		t.Errorf("after a second attempt got %q", got)
	}
	if want := filepath.Join(dir, "trial-4.log"); w.Path() != want {
		t.Errorf("path %q, want %q", w.Path(), want)
	}
	if _, err := os.Stat(filepath.Join(dir, "notes.txt")); err != nil {
		t.Error(err)
	}
}

func TestConcurrentWrites(t *testing.T) {
	dir := t.TempDir()
	w := open(t, dir).Writer(1)
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(func() {
			for range 1000 {
				_, _ = w.Write([]byte("a line of text\n"))
			}
		})
	}
	writers.Wait()
	w.Close()
	if got, want := read(t, dir, 1), strings.Repeat("a line of text\n", 4000); got != want {
		t.Errorf("%d bytes, want %d", len(got), len(want))
	}
}

// TestUnwritableDirectory: output that cannot be kept is lost, and nothing else.
func TestUnwritableDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "logs")
	s := open(t, dir)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	w := s.Writer(1)
	if n, err := w.Write([]byte("lost")); n != 4 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	w.Close()
	if got := read(t, dir, 1); got != "" || w.Path() != "" {
		t.Errorf("%q in %q", got, w.Path())
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(file); err == nil || !strings.Contains(err.Error(), "directory") {
		t.Errorf("a file as directory: %v", err)
	}
}
