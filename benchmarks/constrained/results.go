package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// results is the file of results and what it holds.
type results struct {
	file  *os.File
	byKey map[job]result // Evals is 0 in the key
}

func (j job) key() job {
	j.Evals = 0
	return j
}

// openResults reads the file, if it is there, and makes it ready to be appended
// to. A last line that a stop cut off is removed.
func openResults(path string) (*results, error) {
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	whole := bytes.LastIndexByte(data, '\n') + 1
	kept := &results{byKey: map[job]result{}}
	for number, line := range bytes.Split(data[:whole], []byte("\n")) {
		if len(line) == 0 {
			continue
		}
		var r result
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, number+1, err)
		}
		if len(r.Regret) != r.Evals || r.Evals < 1 {
			return nil, fmt.Errorf("%s:%d: %d regrets of %d evaluations", path, number+1, len(r.Regret), r.Evals)
		}
		kept.keep(r)
	}
	if kept.file, err = os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644); err != nil {
		return nil, err
	}
	if err := kept.file.Truncate(int64(whole)); err != nil {
		return nil, err
	}
	_, err = kept.file.Seek(0, io.SeekEnd)
	return kept, err
}

// keep remembers the longest run of each key, the latest of equally long ones.
func (kept *results) keep(r result) {
	if known, ok := kept.byKey[r.key()]; !ok || r.Evals >= known.Evals {
		kept.byKey[r.key()] = r
	}
}

// has tells whether a run at least as long is there.
func (kept *results) has(j job) bool {
	known, ok := kept.byKey[j.key()]
	return ok && known.Evals >= j.Evals
}

func (kept *results) add(r result) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if _, err := kept.file.Write(append(line, '\n')); err != nil {
		return err
	}
	kept.keep(r)
	return nil
}
