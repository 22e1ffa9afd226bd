package node

import (
	"errors"
	"strings"
	"testing"
)

// Failures of designs that the model expected to fail end a run later than others.
func TestFailuresExpected(t *testing.T) {
	for name, c := range map[string]struct {
		expected func(failure int) bool
		count    int // that end the run
		want     string
	}{
		"none":   {func(int) bool { return false }, 20, "20 in a row failed"},
		"half":   {func(failure int) bool { return failure%2 == 0 }, 39, "20 in a row, of designs that were expected to complete, failed"},
		"always": {func(int) bool { return true }, 100, "100 in a row failed"},
	} {
		f := failures{worked: true}
		for i := 1; ; i++ {
			err := f.note(0, uint64(i), c.expected(i), errors.New("broken"))
			if err == nil && i < c.count {
				continue
			}
			if i != c.count || err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %d failures gave %v, expected %d and %q", name, i, err, c.count, c.want)
			}
			break
		}
	}
}
