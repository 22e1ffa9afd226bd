package store

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestSetAside: files that are damaged within one second are all kept, each as it was.
func TestSetAside(t *testing.T) {
	dir, now := t.TempDir(), time.Unix(0, 0)
	path := filepath.Join(dir, JournalFile)
	kept := map[string]string{}
	for _, text := range []string{"first", "second", "third"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		aside, err := setAside(path, now)
		if err != nil {
			t.Fatal(err)
		}
		kept[aside] = text
		if err := os.Remove(path); err != nil { // as the repaired one takes its place
			t.Fatal(err)
		}
	}
	for aside, want := range kept {
		if got, err := os.ReadFile(aside); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v, want %q", aside, got, err, want)
		}
	}
	if len(kept) != 3 || kept[filepath.Join(dir, "journal-damaged-19700101-000000.db")] != "first" {
		t.Errorf("kept %v", kept)
	}
}
