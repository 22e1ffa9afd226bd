package journal

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

func TestRecordRoundTripAndDamage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		index := rapid.Uint64().Draw(t, "index")
		entry := Entry{
			Key:  rapid.StringN(0, 20, MaxKey).Draw(t, "key"),
			Data: rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(t, "data"),
		}
		record := encodeRecord(index, entry)
		got, err := decodeRecord(index, record)
		if err != nil || got.Key != entry.Key || !bytes.Equal(got.Data, entry.Data) {
			t.Fatalf("got %v, %v; want %v", got, err, entry)
		}
		if _, err := decodeRecord(index+1, record); err == nil {
			t.Fatal("a record in another place was accepted")
		}
		// CRC-32C detects every burst of errors up to 32 bits.
		at := rapid.IntRange(0, len(record)-1).Draw(t, "at")
		record[at] ^= byte(rapid.IntRange(1, 255).Draw(t, "flip"))
		if _, err := decodeRecord(index, record); err == nil {
			t.Fatalf("damage at byte %d was not noticed", at)
		}
	})
}

func FuzzDecodeRecord(f *testing.F) {
	f.Add(uint64(1), encodeRecord(1, Entry{Key: "key", Data: []byte("data")}))
	f.Add(uint64(7), encodeRecord(7, Entry{}))
	f.Add(uint64(1), []byte{recordVersion, 0, 0, 0, 0, 0x80})
	f.Fuzz(func(t *testing.T, index uint64, record []byte) {
		entry, err := decodeRecord(index, record)
		if err != nil {
			return
		}
		// What decodes is a valid entry; only the length of its key may have been
		// written in more bytes than needed.
		if err := entry.validate(); err != nil && len(record) < MaxData {
			t.Fatal(err)
		}
		again, err := decodeRecord(index, encodeRecord(index, entry))
		if err != nil || again.Key != entry.Key || !bytes.Equal(again.Data, entry.Data) {
			t.Fatalf("%v became %v, %v", entry, again, err)
		}
	})
}
