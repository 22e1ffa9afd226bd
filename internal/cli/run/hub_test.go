package run

import (
	"strings"
	"testing"
)

// TestHubWarningEscapesControlCharacters shows a warning whose text comes from peers.
func TestHubWarningEscapesControlCharacters(t *testing.T) {
	t.Parallel()
	const sent, want = "\x1b[2J\u202egone", `\x1b[2J\u202egone`
	var out strings.Builder
	hubOptions{}.warning(&out, sent)
	if text := out.String(); !strings.Contains(text, want) || strings.Contains(text, sent) {
		t.Errorf("a warning of hub: %q, want %s in it", text, want)
	}
}
