package triallog

import (
	"fmt"
	"io"
	"os"

	"github.com/fbo-node/fbo/internal/datadir"
)

// Reader reads the output of one trial, also while this or another process writes it.
type Reader struct {
	dir    string
	trial  uint64
	file   *os.File // nil between two files
	number int      // of the file, or of the next one
}

// NewReader returns a Reader at the beginning. A trial without output is no error.
func NewReader(dir string, trial uint64) *Reader {
	return &Reader{dir: dir, trial: trial}
}

// CopyTo writes the output that no earlier call has written, and returns its length in bytes. A
// line marks each part that was not kept.
func (r *Reader) CopyTo(out io.Writer) (copied int64, err error) {
	for {
		if r.file == nil {
			opened, err := r.open(out)
			if err != nil || !opened {
				return copied, err
			}
		}
		more, err := r.hasMore() // asked first: if there is another file, this one is complete
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

// open opens the next existing file.
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

// hasMore reports whether another file follows the open one. If the output was begun anew, the
// reader starts from its beginning.
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
