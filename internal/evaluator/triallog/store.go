package triallog

import (
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/fbo-node/fbo/internal/datadir"
)

// Store is the directory with the outputs of one task's trials. Only one process at a time may
// write to it; several goroutines may.
type Store struct {
	dir string

	mu      sync.Mutex
	kept    map[uint64]map[int]int64 // bytes of each file, by trial and number of the file
	total   int64
	writing map[uint64]bool
	spare   int64 // bytes that may be written before the next check of the free space

	free func(dir string) (uint64, error) // datadir.Free; tests replace it
}

// Open creates the directory if it is missing, and determines the sizes of the files in it. The
// directory must be trials/TASK in a data directory.
func Open(dir string) (*Store, error) {
	folder := filepath.Dir(dir)
	if err := os.MkdirAll(filepath.Dir(folder), 0o700); err != nil {
		return nil, err
	}
	if _, err := datadir.Folder(filepath.Dir(folder), filepath.Base(folder), filepath.Base(dir)); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	s := &Store{dir: dir, kept: map[uint64]map[int]int64{}, writing: map[uint64]bool{}, free: datadir.Free}
	for _, entry := range entries {
		trial, number, ok := parse(entry.Name())
		if info, err := entry.Info(); ok && err == nil {
			s.add(trial, number, info.Size()+fileCost)
		}
	}
	return s, nil
}

// Writer returns a writer for the output of a trial, and removes earlier output of the trial.
func (s *Store) Writer(trial uint64) *Writer {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(trial)
	s.writing[trial] = true
	return &Writer{store: s, trial: trial, number: none}
}

func (s *Store) add(trial uint64, number int, bytes int64) {
	if s.kept[trial] == nil {
		s.kept[trial] = map[int]int64{}
	}
	s.kept[trial][number] += bytes
	s.total += bytes
}

func (s *Store) remove(trial uint64, number int) {
	// If a file cannot be removed, only its space is lost.
	_ = os.Remove(path(s.dir, trial, number))
	s.total -= s.kept[trial][number]
	delete(s.kept[trial], number)
	if len(s.kept[trial]) == 0 {
		delete(s.kept, trial)
	}
}

// grew counts written bytes. It then removes outputs of the oldest ended trials until all outputs
// take at most Total.
func (s *Store) grew(trial uint64, number int, bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(trial, number, bytes)
	if gone := number - lastSegments; gone > first {
		if _, there := s.kept[trial][gone]; there {
			s.remove(trial, gone)
		}
	}
	for s.total > Total {
		oldest, found := s.oldest()
		if !found {
			return
		}
		s.forget(oldest)
	}
}

// take reports whether the given number of bytes may be written. If less than Reserve would remain
// free, it removes the output of the oldest ended trial and checks again.
func (s *Store) take(bytes int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.spare < bytes {
		s.spare = s.look()
	}
	if s.spare < bytes {
		if oldest, found := s.oldest(); found {
			s.forget(oldest)
			s.spare = s.look()
		}
	}
	if s.spare < bytes {
		return false
	}
	s.spare -= bytes
	return true
}

// look returns how many bytes may be written before the free space is checked again. This is at
// most the size of one file.
func (s *Store) look() int64 {
	const most = Segment + fileCost
	free, err := s.free(s.dir)
	if err != nil { // unknown free space does not prevent output
		return most
	}
	return int64(min(free-min(free, Reserve), most))
}

// forget removes the output of a trial.
func (s *Store) forget(trial uint64) {
	for number := range s.kept[trial] {
		s.remove(trial, number)
	}
}

func (s *Store) oldest() (trial uint64, found bool) {
	var candidates []uint64
	for trial := range s.kept {
		if !s.writing[trial] {
			candidates = append(candidates, trial)
		}
	}
	if len(candidates) == 0 {
		return 0, false
	}
	return slices.Min(candidates), true
}

// Writer stores the output of one trial. Several goroutines may use it at the same time.
type Writer struct {
	store *Store
	trial uint64

	mu     sync.Mutex
	file   *os.File // nil before the first output
	number int      // number of the file
	size   int      // size of the file in bytes
	gap    bool     // the latest output was dropped
	closed bool
}

// Write stores as much of p as possible and never returns an error.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for rest := p; len(rest) > 0 && !w.closed; {
		if w.file == nil || w.size >= Segment {
			if !w.next() {
				break
			}
		}
		piece := rest[:min(len(rest), Segment-w.size)]
		if !w.store.take(int64(len(piece))) {
			w.noteGap()
			break
		}
		w.gap = false
		if n, err := w.append(piece); err != nil {
			break
		} else {
			rest = rest[n:]
		}
	}
	return len(p), nil
}

func (w *Writer) append(p []byte) (n int, err error) {
	n, err = w.file.Write(p)
	w.size += n
	w.store.grew(w.trial, w.number, int64(n))
	return n, err
}

// noteGap writes a note in place of dropped output, once for each gap.
func (w *Writer) noteGap() {
	if !w.gap {
		w.gap = true
		_, _ = w.append([]byte(nearlyFull))
	}
}

// nearlyFull is the note in place of output that was dropped to leave the Reserve free.
const nearlyFull = "\n[output was not kept here: the disk is nearly full]\n"

// next opens the next file, and returns false if that is impossible.
func (w *Writer) next() bool {
	if !w.store.take(fileCost) {
		if w.file != nil {
			w.noteGap()
		}
		return false
	}
	file, err := datadir.Create(path(w.store.dir, w.trial, w.number+1))
	if err != nil {
		return false
	}
	if w.file != nil {
		_ = w.file.Close()
	}
	w.file, w.size = file, 0
	w.number++
	w.store.grew(w.trial, w.number, fileCost)
	return true
}

// Path returns the path of the file with the end of the output; empty if there is no output.
func (w *Writer) Path() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.number == none {
		return ""
	}
	return path(w.store.dir, w.trial, w.number)
}

// Close ends the output. Later output is dropped.
func (w *Writer) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	w.closed = true
	if w.file != nil {
		_ = w.file.Close()
	}
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	delete(w.store.writing, w.trial)
}
