package protocol

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protodelim"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/fbo-node/fbo/internal/pb"
)

func delimited(t testing.TB, m proto.Message) []byte {
	t.Helper()
	var wire bytes.Buffer
	if _, err := protodelim.MarshalTo(&wire, m); err != nil {
		t.Fatal(err)
	}
	return wire.Bytes()
}

func TestRendezvousRequest(t *testing.T) {
	task := exampleShare(t).Task
	largest := make([]byte, MaxRecordBytes)
	var wire bytes.Buffer
	if err := WriteRendezvousRequest(&wire, RendezvousRequest{task, largest}); err != nil {
		t.Fatal(err)
	}
	whole := bytes.Clone(wire.Bytes())
	got, err := ReadRendezvousRequest(&wire)
	if err != nil || !got.Task.Equals(task) || !bytes.Equal(got.PeerRecord, largest) {
		t.Errorf("%v, %v", got.Task, err)
	}
	for name, c := range map[string]struct {
		data      []byte
		malformed bool
	}{
		"empty stream":   {nil, false},
		"cut":            {whole[:len(whole)/2], false},
		"no task":        {delimited(t, &pb.RendezvousRequest{PeerRecord: []byte("r")}), true},
		"task is no CID": {delimited(t, &pb.RendezvousRequest{Task: []byte("bowl")}), true},
		"long task":      {delimited(t, &pb.RendezvousRequest{Task: make([]byte, maxTaskBytes+1)}), true},
		"no message":     {[]byte{3, 0xff, 0xff, 0xff}, true},
		"too large":      {protowire.AppendVarint(nil, maxRendezvousRequestBytes+1), true},
	} {
		if got, err := ReadRendezvousRequest(bytes.NewReader(c.data)); err == nil || errors.Is(err, ErrMalformed) != c.malformed {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestRendezvousResponse(t *testing.T) {
	records := make([][]byte, MaxRecords+3)
	for i := range records {
		records[i] = bytes.Repeat([]byte{byte(i)}, MaxRecordBytes)
	}
	for count, want := range map[int]int{0: 0, 1: 1, MaxRecords: MaxRecords, MaxRecords + 3: MaxRecords} {
		var wire bytes.Buffer
		if err := WriteRendezvousResponse(&wire, records[:count]); err != nil {
			t.Fatal(err)
		}
		got, err := ReadRendezvousResponse(&wire)
		if err != nil || !slices.EqualFunc(got, records[:want], bytes.Equal) {
			t.Errorf("of %d records %d came back, %v", count, len(got), err)
		}
	}
	for name, data := range map[string][]byte{
		"too many":  delimited(t, &pb.RendezvousResponse{PeerRecords: make([][]byte, MaxRecords+1)}),
		"too large": protowire.AppendVarint(nil, maxRendezvousResponseBytes+1),
	} {
		if got, err := ReadRendezvousResponse(bytes.NewReader(data)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %d records, %v", name, len(got), err)
		}
	}
}
