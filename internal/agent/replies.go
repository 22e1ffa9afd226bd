package agent

import (
	"errors"
	"fmt"
	"strconv"
)

// ErrKeyReused means that a key has been used for another request.
var ErrKeyReused = errors.New("this key was used for another request")

// MaxReplies is the number of newest replies that an agent stores.
const MaxReplies = 4096

// MaxKey is the maximum number of bytes of a key.
const MaxKey = 128

// Once makes a request idempotent. If a client repeats the request because it did not receive the
// answer, the request is not executed again. The zero Once is for a request without this
// protection.
type Once struct {
	Key    string // idempotency key that the client chooses, different for each request
	Digest string // digest of the request; the same key with another digest is an error
}

// Validate returns an error unless the key has 1 to MaxKey visible ASCII characters.
func (o Once) Validate() error {
	ok := o.Key != "" && len(o.Key) <= MaxKey
	for _, b := range []byte(o.Key) {
		ok = ok && '!' <= b && b <= '~'
	}
	if !ok {
		return fmt.Errorf("key %.150q: expected 1 to %d visible ASCII characters", o.Key, MaxKey)
	}
	return nil
}

// Reply is the stored result of a request.
type Reply struct {
	Trials []uint64 `json:"trials,omitempty"` // IDs of the trials that the client received
	Added  int      `json:"added,omitempty"`  // number of trials that an import added
	Queued uint64   `json:"queued,omitempty"` // the ID of an enqueued design
}

// replies stores the results of requests with keys. It changes only by applying records.
type replies struct {
	last  uint64 // number of the newest reply
	byKey map[string]ReplyRecord
	keys  map[uint64]string // keys by reply number modulo MaxReplies
}

func newReplies() replies {
	return replies{byKey: map[string]ReplyRecord{}, keys: map[uint64]string{}}
}

// apply stores a reply in place of the oldest one.
func (r *replies) apply(record ReplyRecord) error {
	if record.Number <= r.last {
		return fmt.Errorf("reply %d follows reply %d", record.Number, r.last)
	}
	place := record.Number % MaxReplies
	delete(r.byKey, r.keys[place])
	r.last, r.keys[place], r.byKey[record.Key] = record.Number, record.Key, record
	return nil
}

// key returns the record's key in the journal (see Record.Key).
func (r ReplyRecord) key() string { return "reply/" + strconv.FormatUint(r.Number%MaxReplies, 10) }

// Replied returns the result of a request that was executed before. If it was not, and for the zero
// Once, ok is false. Error: ErrKeyReused.
func (a *Agent) Replied(o Once) (reply Reply, ok bool, err error) {
	if o == (Once{}) {
		return Reply{}, false, nil
	}
	if err := o.Validate(); err != nil {
		return Reply{}, false, err
	}
	record, ok := a.replies.byKey[o.Key]
	if ok && record.Digest != o.Digest {
		return Reply{}, false, fmt.Errorf("key %q: %w", o.Key, ErrKeyReused)
	}
	return record.Reply, ok, nil
}

// Remember stores the result of a request. Its record and all other records since the last Ready
// are written in one transaction, so that all or none reach the disk.
func (a *Agent) Remember(o Once, reply Reply) {
	if o == (Once{}) {
		return
	}
	a.record(Record{Reply: &ReplyRecord{Number: a.replies.last + 1, Key: o.Key, Digest: o.Digest, Reply: reply}})
}
