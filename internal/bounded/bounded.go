// Package bounded reads files of others, of which a small one may become much: by compression, or
// by one cell without an end.
package bounded

import (
	"encoding/csv"
	"fmt"
	"io"
	"os"
)

// SizeError is the error of an input that is larger than what is accepted.
type SizeError struct {
	What string // a path, or a part of what is read
	Most int64  // bytes
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

// ReadFile returns the content of a file of at most that number of bytes.
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

// CSV is a csv.Reader of an input with a maximum size and of records up to MaxRecord bytes.
type CSV struct {
	*csv.Reader
	in *input
}

// NewCSV returns a reader of at most most bytes of r. The input may be one that decompresses.
func NewCSV(r io.Reader, most int64) *CSV {
	in := &input{r: r, most: most}
	return &CSV{csv.NewReader(in), in}
}

// Read returns the next record.
func (c *CSV) Read() ([]string, error) {
	c.in.record = 0
	record, err := c.Reader.Read()
	if c.in.refused != nil { // which csv.Reader may have put into words of its own
		return nil, c.in.refused
	}
	return record, err
}

// input counts what is read, in all and since the last record. A csv.Reader reads ahead by less
// than MaxRecord.
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
