package protocol

import (
	"bytes"
	"errors"
	"testing"

	"github.com/ipfs/go-cid"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/fbo-node/fbo/internal/pb"
)

func TestNameHash(t *testing.T) {
	same := NameHash("a", "b", "bowl")
	if same != NameHash("a", "b", "bowl") {
		t.Error("the same question, another hash")
	}
	for _, other := range [][32]byte{NameHash("b", "a", "bowl"), NameHash("a", "b", "Bowl"), NameHash("a", "", "bbowl"), NameHash("ab", "", "bowl")} {
		if other == same {
			t.Error("another question, the same hash")
		}
	}
}

func TestTaskMismatchRequest(t *testing.T) {
	hash := NameHash("a", "b", "bowl")
	var wire bytes.Buffer
	if err := WriteTaskMismatchRequest(&wire, hash); err != nil {
		t.Fatal(err)
	}
	whole := bytes.Clone(wire.Bytes())
	if got, err := ReadTaskMismatchRequest(&wire); err != nil || got != hash {
		t.Errorf("%x, %v", got, err)
	}
	for name, c := range map[string]struct {
		data      []byte
		malformed bool
	}{
		"empty stream": {nil, false},
		"cut":          {whole[:len(whole)/2], false},
		"no hash":      {delimited(t, &pb.TaskMismatchRequest{}), true},
		"short hash":   {delimited(t, &pb.TaskMismatchRequest{NameHash: hash[:31]}), true},
		"no message":   {[]byte{3, 0xff, 0xff, 0xff}, true},
		"too large":    {protowire.AppendVarint(nil, maxTaskNameRequestBytes+1), true},
	} {
		if _, err := ReadTaskMismatchRequest(bytes.NewReader(c.data)); err == nil || errors.Is(err, ErrMalformed) != c.malformed {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTaskMismatchResponse(t *testing.T) {
	task := exampleShare(t).Task
	many := make([]cid.Cid, MaxTaskNames+3)
	for i := range many {
		many[i] = task
	}
	for count, want := range map[int]int{0: 0, 1: 1, MaxTaskNames: MaxTaskNames, MaxTaskNames + 3: MaxTaskNames} {
		var wire bytes.Buffer
		if err := WriteTaskMismatchResponse(&wire, many[:count]); err != nil {
			t.Fatal(err)
		}
		got, err := ReadTaskMismatchResponse(&wire)
		if err != nil || len(got) != want || want > 0 && !got[want-1].Equals(task) {
			t.Errorf("of %d tasks %d came back, %v", count, len(got), err)
		}
	}
	for name, data := range map[string][]byte{
		"too many":  delimited(t, &pb.TaskMismatchResponse{Tasks: make([][]byte, MaxTaskNames+1)}),
		"no CID":    delimited(t, &pb.TaskMismatchResponse{Tasks: [][]byte{[]byte("bowl")}}),
		"long":      delimited(t, &pb.TaskMismatchResponse{Tasks: [][]byte{make([]byte, maxTaskBytes+1)}}),
		"too large": protowire.AppendVarint(nil, maxTaskNameResponseBytes+1),
	} {
		if got, err := ReadTaskMismatchResponse(bytes.NewReader(data)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %d tasks, %v", name, len(got), err)
		}
	}
}

func FuzzReadTaskMismatchRequest(f *testing.F) {
	var wire bytes.Buffer
	if err := WriteTaskMismatchRequest(&wire, NameHash("a", "b", "bowl")); err != nil {
		f.Fatal(err)
	}
	f.Add(wire.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		hash, err := ReadTaskMismatchRequest(bytes.NewReader(data))
		if err != nil {
			return
		}
		var again bytes.Buffer
		if err := WriteTaskMismatchRequest(&again, hash); err != nil {
			t.Fatal(err)
		}
		if same, err := ReadTaskMismatchRequest(&again); err != nil || same != hash {
			t.Fatalf("%x came back as %x, %v", hash, same, err)
		}
	})
}

func FuzzReadTaskMismatchResponse(f *testing.F) {
	var wire bytes.Buffer
	if err := WriteTaskMismatchResponse(&wire, []cid.Cid{exampleShare(f).Task}); err != nil {
		f.Fatal(err)
	}
	f.Add(wire.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		tasks, err := ReadTaskMismatchResponse(bytes.NewReader(data))
		if err != nil && len(tasks) > 0 || len(tasks) > MaxTaskNames {
			t.Fatalf("%d tasks, %v", len(tasks), err)
		}
		for _, task := range tasks {
			if !task.Defined() || len(task.Bytes()) > maxTaskBytes {
				t.Fatalf("accepted %v", task)
			}
		}
	})
}
