// Package bounded reads files from untrusted sources with limits on their size. The limits are
// necessary because a small file can become large when it is decompressed, and because one cell of
// a table can have any length.
package bounded

import (
	"encoding/csv"
	"fmt"
	"io"
	"os"
)

// SizeError means that an input is larger than accepted.
type SizeError struct {
	What string // path or description of the input
	Most int64  // accepted number of bytes
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("%s has more than %s, which is the most that is accepted", e.What, size(e.Most))
}

func size(bytes int64) string {
	if bytes >= 1<<20 {
		return fmt.Sprintf("%d MiB", bytes>>20)
	}
	return fmt.Sprintf("%d KiB", bytes>>10)
}

// ReadFile returns the content of a file. If the file has more than most bytes, the error is a
// *SizeError.
func ReadFile(path string, most int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(data)) > most {
		err = &SizeError{path, most}
	}
	return data, err
}

// MaxRecord is the maximum size of a CSV record in bytes.
const MaxRecord = 1 << 20

// CSV is a csv.Reader that limits the size of the whole input, and of each record to MaxRecord
// bytes.
type CSV struct {
	*csv.Reader
	in *input
}

// NewCSV returns a CSV that reads at most most bytes from r. They count after decompression if r
// decompresses.
func NewCSV(r io.Reader, most int64) *CSV {
	in := &input{r: r, most: most}
	return &CSV{csv.NewReader(in), in}
}

// Read returns the next record. Beyond a limit the error is a *SizeError.
func (c *CSV) Read() ([]string, error) {
	c.in.record = 0
	record, err := c.Reader.Read()
	if c.in.refused != nil { // csv.Reader may have wrapped the error in its own
		return nil, c.in.refused
	}
	return record, err
}

// input counts the bytes that were read, in total and for the current record. The second count
// includes the bytes that csv.Reader reads in advance, which are fewer than MaxRecord.
type input struct {
	r             io.Reader
	most          int64
	total, record int64
	refused       error
}

func (i *input) Read(p []byte) (n int, err error) {
	n, err = i.r.Read(p)
	i.total, i.record = i.total+int64(n), i.record+int64(n)
	switch {
	case i.total > i.most:
		i.refused = &SizeError{"the table", i.most}
	case i.record > MaxRecord:
		i.refused = &SizeError{"a line", MaxRecord}
	default:
		return n, err
	}
	return 0, i.refused
}
