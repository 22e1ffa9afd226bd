package triallog

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// disk is a store's disk of a given size. The outputs of the store and others fill it.
type disk struct {
	store  *Store
	size   int64
	others int64
}

func (d *disk) free(string) (uint64, error) {
	return uint64(max(d.size-d.others-d.store.total, 0)), nil // asked while the store is locked
}

func printOut(s *Store, trial uint64, text []byte) {
	w := s.Writer(trial)
	_, _ = w.Write(text)
	w.Close()
}

// TestOutputsLeaveSpaceForTheJournal checks that outputs leave space to the journal: they replace older outputs, then are
// dropped, and are kept again when there is space.
func TestOutputsLeaveSpaceForTheJournal(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	d := &disk{store: s, size: Reserve + 4*PerTrial}
	s.free = d.free
	text := []byte(numbered(PerTrial / 2))
	for trial := uint64(1); trial <= 30; trial++ {
		printOut(s, trial, text)
		if free, _ := d.free(dir); free < Reserve {
			t.Fatalf("after trial %d %d bytes are free, want %d", trial, free, Reserve)
		}
	}
	if got := read(t, dir, 30); got != string(text) {
		t.Errorf("of the newest trial %d bytes are kept", len(got))
	}
	if got := read(t, dir, 1); got != "" {
		t.Errorf("of the oldest trial %d bytes are kept", len(got))
	}

	w := s.Writer(31)
	_, _ = w.Write([]byte("before\n"))
	d.others = d.size
	for range 100 {
		_, _ = w.Write(text[:Segment])
	}
	d.others = 0
	_, _ = w.Write([]byte("after\n"))
	w.Close()
	got := read(t, dir, 31)
	if !strings.HasPrefix(got, "before\n") || !strings.HasSuffix(got, "nearly full]\nafter\n") || strings.Count(got, nearlyFull) != 1 {
		t.Errorf("%d bytes of a trial on a disk that filled up: %.40q … %q", len(got), got, got[max(0, len(got)-80):])
	}

	d.others, s.spare = d.size, 0
	printOut(s, 32, text)
	if got := read(t, dir, 32); got != "" {
		t.Errorf("on a full disk %d bytes are kept", len(got))
	}
}

// TestReserveAtTheEndOfAFile checks that the note about a gap keeps files in order.
func TestReserveAtTheEndOfAFile(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	d := &disk{store: s, size: Reserve + 4*PerTrial}
	s.free = d.free
	w := s.Writer(1)
	first := bytes.Repeat([]byte("a"), Segment)
	_, _ = w.Write(first)
	d.others, s.spare = d.size, 0
	_, _ = w.Write([]byte("lost"))
	d.others = 0
	_, _ = w.Write([]byte("b"))
	w.Close()
	if got, want := read(t, dir, 1), string(first)+nearlyFull+"b"; got != want {
		t.Errorf("%d bytes that end in %q, want %d", len(got), got[max(0, len(got)-80):], len(want))
	}
}

// TestOutputsAreKeptWhenFreeSpaceIsUnknown checks that outputs are kept where the system does not report free space.
func TestOutputsAreKeptWhenFreeSpaceIsUnknown(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	s.free = func(string) (uint64, error) { return 0, errors.ErrUnsupported }
	text := numbered(PerTrial)
	printOut(s, 1, []byte(text))
	if got := read(t, dir, 1); got != text {
		t.Errorf("%d bytes are kept, want %d", len(got), len(text))
	}
}
