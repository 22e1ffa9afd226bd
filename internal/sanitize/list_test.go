package sanitize

import (
	"strings"
	"testing"
)

func TestListEndsAfterTenEntries(t *testing.T) {
	entries := strings.Split(strings.Repeat("a", 202), "")
	for n, want := range map[int]string{
		0:   "",
		1:   "a",
		2:   "a, a",
		10:  "a, a, a, a, a, a, a, a, a, a",
		11:  "a, a, a, a, a, a, a, a, a, a and 1 more",
		202: "a, a, a, a, a, a, a, a, a, a and 192 more",
	} {
		if got := List(entries[:n]); got != want {
			t.Errorf("%d entries: %q, want %q", n, got, want)
		}
	}
}
