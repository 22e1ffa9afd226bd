package sharecache

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func someContents() Contents {
	sent := time.Date(2026, 5, 1, 12, 0, 0, 123456789, time.UTC)
	return Contents{
		Task: "bafk-some-task",
		Shares: []Share{
			{Envelope: []byte{0, 1, 2, '\n', 255}, Sent: sent, Connected: true},
			{Envelope: []byte("another"), Sent: sent.Add(-time.Hour)},
			{Envelope: []byte("one"), ConflictingShare: []byte("the other")},
		},
		Distrusted: map[string]uint64{"12D3KooWliar": 7, "12D3KooWother": 1},
	}
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "task.jsonl")
	for _, c := range []Contents{someContents(), {Task: "empty"}} {
		if err := Write(path, c); err != nil {
			t.Fatal(err)
		}
		got, err := Read(path)
		if err != nil || !reflect.DeepEqual(got, c) {
			t.Errorf("got %+v, %v\nwant %+v", got, err, c)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("mode %v, %v: others may not read it", info.Mode(), err)
	}
	if files, _ := os.ReadDir(filepath.Dir(path)); len(files) != 1 {
		t.Errorf("left behind: %v", files)
	}
}

// Of processes that were killed while they wrote no more than one file remains.
func TestWhatAKilledProcessLeavesIsWrittenOver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "task.jsonl")
	if err := os.WriteFile(path+".new", bytes.Repeat([]byte("half a file\n"), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, someContents()); err != nil {
		t.Fatal(err)
	}
	if got, err := Read(path); err != nil || !reflect.DeepEqual(got, someContents()) {
		t.Errorf("got %+v, %v", got, err)
	}
	if files, _ := os.ReadDir(filepath.Dir(path)); len(files) != 1 {
		t.Errorf("left behind: %v", files)
	}
}

func TestNoFileHoldsNothing(t *testing.T) {
	c, err := Read(filepath.Join(t.TempDir(), "none"))
	if err != nil || len(c.Shares) != 0 {
		t.Errorf("got %+v, %v", c, err)
	}
}

// Whatever single byte changes, or wherever the file ends too early, it is
// noticed.
func TestDamageIsNoticed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "task.jsonl")
	if err := Write(path, someContents()); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		if _, err := decode(whole[:i]); err == nil {
			t.Errorf("the first %d of %d bytes are read", i, len(whole))
		}
		for bit := range 8 {
			changed := bytes.Clone(whole)
			changed[i] ^= 1 << bit
			got, err := decode(changed)
			// JSON accepts keys in any case, and checksums are compared as text.
			if err == nil && !reflect.DeepEqual(got, someContents()) {
				t.Errorf("byte %d, bit %d: read as %+v", i, bit, got)
			}
		}
	}
	if err := os.WriteFile(path, whole[:len(whole)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path); !errors.Is(err, ErrDamaged) {
		t.Errorf("half a file: %v", err)
	}
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := Contents{Task: rapid.StringMatching(`[a-z0-9]{1,20}`).Draw(rt, "task")}
		for range rapid.IntRange(0, 5).Draw(rt, "shares") {
			c.Shares = append(c.Shares, Share{
				Envelope:  rapid.SliceOfN(rapid.Byte(), 1, 50).Draw(rt, "envelope"),
				Sent:      time.Unix(rapid.Int64Range(0, 1<<33).Draw(rt, "sent"), 0).UTC(),
				Connected: rapid.Bool().Draw(rt, "connected"),

				ConflictingShare: rapid.SliceOfN(rapid.Byte(), 1, 5).Draw(rt, "conflicting share"),
			})
		}
		var text bytes.Buffer
		if err := encode(&text, c); err != nil {
			rt.Fatal(err)
		}
		if got, err := decode(text.Bytes()); err != nil || !reflect.DeepEqual(got, c) {
			rt.Fatalf("got %+v, %v\nwant %+v", got, err, c)
		}
	})
}

func FuzzDecode(f *testing.F) {
	var text bytes.Buffer
	if err := encode(&text, someContents()); err != nil {
		f.Fatal(err)
	}
	f.Add(text.Bytes())
	f.Add([]byte("{\"format\":1}\n{\"sha256\":\"\"}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := decode(data)
		if err != nil {
			return
		}
		var again bytes.Buffer
		if err := encode(&again, c); err != nil {
			t.Fatal(err)
		}
		if other, err := decode(again.Bytes()); err != nil || !reflect.DeepEqual(c, other) {
			t.Fatalf("%+v reads back as %+v, %v", c, other, err)
		}
	})
}
