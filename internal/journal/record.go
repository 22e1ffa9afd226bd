package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// recordVersion is the first byte of every stored record.
const recordVersion = 1

// recordHeader is the length of the version and the checksum.
const recordHeader = 1 + 4

// Limits of one entry. They are far larger than the entries of a node, and smaller than the limits
// of bbolt. So Append rejects an oversized entry before it writes any.
const (
	MaxKey  = 1 << 10  // bytes in an entry's key and in a task's name
	MaxData = 16 << 20 // bytes in an entry's data
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Entry is one record of a log.
type Entry struct {
	// Key is empty for an entry that is kept forever. An entry with a key replaces the earlier
	// entry with the same key, and is appended at the end. So each key takes the space of one entry
	// only.
	Key string
	// Data is the record, at most MaxData bytes.
	Data []byte
}

func (e Entry) validate() error {
	if len(e.Key) > MaxKey {
		return fmt.Errorf("key of %d bytes; at most %d are accepted", len(e.Key), MaxKey)
	}
	if len(e.Data) > MaxData {
		return fmt.Errorf("data of %d bytes; at most %d are accepted", len(e.Data), MaxData)
	}
	return nil
}

// encodeRecord encodes an entry as
//
//	version (1 byte) | CRC-32C (4, big endian) | length of key (uvarint) | key | data
func encodeRecord(index uint64, e Entry) []byte {
	b := make([]byte, recordHeader, recordHeader+binary.MaxVarintLen64+len(e.Key)+len(e.Data))
	b[0] = recordVersion
	b = binary.AppendUvarint(b, uint64(len(e.Key)))
	b = append(b, e.Key...)
	b = append(b, e.Data...)
	binary.BigEndian.PutUint32(b[1:], checksum(index, b[recordHeader:]))
	return b
}

// decodeRecord is the inverse of encodeRecord. The returned data is a copy.
func decodeRecord(index uint64, b []byte) (Entry, error) {
	if len(b) < recordHeader {
		return Entry{}, errors.New("too short")
	}
	if b[0] != recordVersion {
		return Entry{}, fmt.Errorf("record format %d is unknown; this version reads format %d", b[0], recordVersion)
	}
	body := b[recordHeader:]
	if checksum(index, body) != binary.BigEndian.Uint32(b[1:]) {
		return Entry{}, errors.New("checksum does not match")
	}
	length, n := binary.Uvarint(body)
	if n <= 0 || length > MaxKey || length > uint64(len(body)-n) {
		return Entry{}, errors.New("length of the key is out of range")
	}
	rest := body[n:]
	return Entry{Key: string(rest[:length]), Data: append([]byte{}, rest[length:]...)}, nil
}

// checksum includes the index, so that an undamaged record at a wrong index is detected too.
func checksum(index uint64, body []byte) uint32 {
	sum := crc32.Checksum(binary.BigEndian.AppendUint64(nil, index), castagnoli)
	return crc32.Update(sum, castagnoli, body)
}
