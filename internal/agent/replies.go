package agent

import (
	"errors"
	"fmt"
	"strconv"
)

// ErrKeyReused means that a key has been used for another request.
var ErrKeyReused = errors.New("this key was used for another request")

// MaxReplies is the number of replies that an agent remembers, the newest ones.
const MaxReplies = 4096

// MaxKey is the maximum number of bytes of a key.
const MaxKey = 128

// Once makes a request idempotent: if it is repeated because its answer was lost, it is not carried
// out again. The zero Once is a request without that.
type Once struct {
	Key    string // chosen by the client, a different one for each request
	Digest string // of the request: the same key with another digest is an error
}

// Validate returns an error unless the key has 1 to MaxKey visible ASCII characters.
func (o Once) Validate() error {
	ok := o.Key != "" && len(o.Key) <= MaxKey
	for _, b := range []byte(o.Key) {
		ok = ok && '!' <= b && b <= '~'
	}
	if !ok {
		return fmt.Errorf("key %.150q: accepted are 1 to %d visible ASCII characters", o.Key, MaxKey)
	}
	return nil
}

// Reply is the result of a request.
type Reply struct {
	Trials []uint64 `json:"trials,omitempty"` // given to a client
	Added  int      `json:"added,omitempty"`  // number of trials that an import added
	Queued uint64   `json:"queued,omitempty"` // the ID of an enqueued design
}

// replies stores the results of requests with keys. It changes by applying records.
type replies struct {
	last  uint64 // number of the newest
	byKey map[string]ReplyRecord
	keys  map[uint64]string // by number modulo MaxReplies
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

// key returns the key of the record; the record replaces the earlier one with this key.
func (r ReplyRecord) key() string { return "reply/" + strconv.FormatUint(r.Number%MaxReplies, 10) }

// Replied returns the result of a request that was carried out before; ok is false if it was not,
// and for the zero Once. Error: ErrKeyReused.
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

// Remember stores the result of a request, together with the records made for it since the last
// Ready: either all reach the disk or none.
func (a *Agent) Remember(o Once, reply Reply) {
	if o == (Once{}) {
		return
	}
	a.record(Record{Reply: &ReplyRecord{Number: a.replies.last + 1, Key: o.Key, Digest: o.Digest, Reply: reply}})
}
