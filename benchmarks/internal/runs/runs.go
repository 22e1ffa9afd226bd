// Package runs stores the results of runs as lines of JSON in a file, so that long
// comparisons can be stopped and continued.
package runs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Result is the result of a run. K identifies the run: of several results with the same key
// the longest counts, and of equally long ones the latest.
type Result[K comparable] interface {
	Key() K
	Length() int  // evaluations
	Check() error // returns an error if a line of a file is no valid result
}

// File is a file of results and what it holds.
type File[K comparable, R Result[K]] struct {
	file  *os.File
	byKey map[K]R
}

// Open reads the file if it exists, and opens it for appending. It removes an incomplete last
// line, which a stop may leave.
func Open[K comparable, R Result[K]](path string) (*File[K, R], error) {
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	whole := bytes.LastIndexByte(data, '\n') + 1
	f := &File[K, R]{byKey: map[K]R{}}
	for number, line := range bytes.Split(data[:whole], []byte("\n")) {
		if len(line) == 0 {
			continue
		}
		var r R
		err := json.Unmarshal(line, &r)
		if err == nil {
			err = r.Check()
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, number+1, err)
		}
		f.keep(r)
	}
	if f.file, err = os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644); err != nil {
		return nil, err
	}
	if err := f.file.Truncate(int64(whole)); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	_, err = f.file.Seek(0, io.SeekEnd)
	return f, err
}

// Close closes the file.
func (f *File[K, R]) Close() error { return f.file.Close() }

func (f *File[K, R]) keep(r R) {
	if known, ok := f.byKey[r.Key()]; !ok || r.Length() >= known.Length() {
		f.byKey[r.Key()] = r
	}
}

// Get returns the result of a run.
func (f *File[K, R]) Get(key K) (r R, ok bool) {
	r, ok = f.byKey[key]
	return r, ok
}

// Has reports whether the file contains a run with this key and at least this length.
func (f *File[K, R]) Has(key K, length int) bool {
	known, ok := f.byKey[key]
	return ok && known.Length() >= length
}

// Add appends a result to the file.
func (f *File[K, R]) Add(r R) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if _, err := f.file.Write(append(line, '\n')); err != nil {
		return err
	}
	f.keep(r)
	return nil
}
