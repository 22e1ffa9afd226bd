package triallog

import (
	"fmt"
	"io"
	"os"

	"github.com/fbo-node/fbo/internal/datadir"
)

// Reader reads the output of one trial, even while this or another process writes it.
type Reader struct {
	dir    string
	trial  uint64
	file   *os.File // nil before the first file and between two files
	number int      // number of the open file, or of the next one
}

// NewReader returns a Reader at the beginning of the output. A trial without output is no error.
func NewReader(dir string, trial uint64) *Reader {
	return &Reader{dir: dir, trial: trial}
}

// CopyTo writes the output since the last call to out, and returns its length in bytes. In place of
// each part that was not stored it writes a line with the number of missing KiB.
func (r *Reader) CopyTo(out io.Writer) (copied int64, err error) {
	for {
		if r.file == nil {
			opened, err := r.open(out)
			if err != nil || !opened {
				return copied, err
			}
		}
		more, err := r.hasMore() // must precede the copy: if there is a later file, the open one is complete
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

// open opens the next existing file, and returns false if there is none.
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
			continue // removed in the meantime
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

// hasMore reports whether another file follows the open one. If the trial's output has been
// replaced by that of a new evaluation, the reader continues at its beginning.
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
		_ = r.file.Close() // an error does not matter after reading
		r.file = nil
	}
}
