package wire

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestDocumentedLimits compares the number of streams in docs/network.md with that of the program.
func TestDocumentedLimits(t *testing.T) {
	text, err := os.ReadFile("../../../docs/network.md")
	if err != nil {
		t.Fatal(err)
	}
	seconds := func(d time.Duration) string { return strconv.Itoa(int(d / time.Second)) }
	want := fmt.Sprintf("| %d streams at the same time, on all tasks, %d of a peer, each for %s s", MaxSyncStreams, maxSyncStreamsOfPeer, seconds(syncTimeout))
	if !strings.Contains(string(text), want) {
		t.Errorf("docs/network.md lacks %q", want)
	}
}
