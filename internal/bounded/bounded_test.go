package bounded

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestReadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, err := ReadFile(path, 5); string(data) != "12345" || err != nil {
		t.Errorf("%q, %v", data, err)
	}
	var tooLarge *SizeError
	if _, err := ReadFile(path, 4); !errors.As(err, &tooLarge) || tooLarge.Most != 4 {
		t.Errorf("a file of 5 bytes: %v, expected at most 4", err)
	}
}

// Records are as those of csv.Reader. Inputs beyond the bounds end soon, with one error and little
// memory, whatever they hold.
func TestCSVLimitsRecords(t *testing.T) {
	reader := NewCSV(strings.NewReader("a,b\n1,\"2\n3\"\n"), 100)
	for _, want := range []string{"a b", "1 2\n3"} {
		if record, err := reader.Read(); strings.Join(record, " ") != want || err != nil {
			t.Errorf("record %q, expected %q (%v)", record, want, err)
		}
	}
	if _, err := reader.Read(); err != io.EOF {
		t.Errorf("the end: %v", err)
	}
	for what, c := range map[string]struct {
		endless string
		want    string
	}{
		"one line":        {"0", "a line has more than 1 MiB"},
		"one quoted cell": {"\n", "a line has more than 1 MiB"},
		"many lines":      {"1,2\n", "the table has more than 8 MiB"},
	} {
		begin := "a,b\n"
		if what == "one quoted cell" {
			begin += `"`
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		reader := NewCSV(io.MultiReader(strings.NewReader(begin), endless(c.endless)), 8<<20)
		var err error
		for err == nil {
			_, err = reader.Read()
		}
		runtime.ReadMemStats(&after)
		var tooLarge *SizeError
		if !errors.As(err, &tooLarge) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, expected %q", what, err, c.want)
		}
		if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > 64<<20 {
			t.Errorf("%s: the heap grew by %d MiB, expected at most 64", what, grown>>20)
		}
	}
}

// endless repeats a text without end.
type endless string

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = e[i%len(e)]
	}
	return len(p) / len(e) * len(e), nil
}
