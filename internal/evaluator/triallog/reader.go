package triallog

import (
	"fmt"
	"io"
	"os"

	"github.com/fbo-node/fbo/internal/datadir"
)

// Reader shows the output of one trial. It may be read while it is written, by
// another process too.
type Reader struct {
	dir    string
	trial  uint64
	file   *os.File // nil between two
	number int      // of the file, or of the next one
}

// NewReader reads from the beginning. A trial without output is no error.
func NewReader(dir string, trial uint64) *Reader {
	return &Reader{dir: dir, trial: trial}
}

// CopyTo writes what there is by now and was not written by an earlier call, and
// returns its bytes. What was not kept is replaced by a line that says so.
func (r *Reader) CopyTo(out io.Writer) (copied int64, err error) {
	for {
		if r.file == nil {
			opened, err := r.open(out)
			if err != nil || !opened {
				return copied, err
			}
		}
		more, err := r.hasMore() // asked first: then this file is complete
		if err != nil {
			return copied, err
		}
		n, err := io.Copy(out, r.file)
		copied += n
		if err != nil || !more {
			return copied, err
		}
		r.Close()
	}
}

// open begins the next file that there is.
func (r *Reader) open(out io.Writer) (bool, error) {
	numbers, err := files(r.dir, r.trial)
	if err != nil {
		return false, err
	}
	for _, number := range numbers {
		if number < r.number {
			continue
		}
		file, err := datadir.Open(path(r.dir, r.trial, number))
		if os.IsNotExist(err) {
			continue // removed meanwhile
		}
		if err != nil {
			return false, err
		}
		if missing := number - max(r.number, first); missing > 0 && r.number > first {
			fmt.Fprintf(out, "\n[%d KiB were not kept]\n", missing*Segment>>10)
		}
		r.file, r.number = file, number
		return true, nil
	}
	return false, nil
}

// hasMore tells whether the open file is followed by another. An output that was
// begun anew is read from its beginning.
func (r *Reader) hasMore() (bool, error) {
	numbers, err := files(r.dir, r.trial)
	if err != nil || len(numbers) == 0 {
		return false, err
	}
	if numbers[len(numbers)-1] > r.number {
		r.number++
		return true, nil
	}
	now, err := os.Lstat(path(r.dir, r.trial, r.number))
	own, ownErr := r.file.Stat()
	anew := err != nil || ownErr == nil && !os.SameFile(now, own)
	if anew {
		r.number = none
	}
	return anew, nil
}

// Close ends the reading.
func (r *Reader) Close() {
	if r.file != nil {
		_ = r.file.Close() // read only
		r.file = nil
	}
}
