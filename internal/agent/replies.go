package agent

import (
	"errors"
	"fmt"
	"strconv"
)

// ErrKeyReused means that a key has been used for another request.
var ErrKeyReused = errors.New("this key was used for another request")

// MaxReplies is how many replies an agent remembers, the newest.
const MaxReplies = 4096

// MaxKey is how many bytes a key may have.
const MaxKey = 128

// Once makes a request that comes again, because its answer was lost, one that is
// carried out once. The zero Once is a request without that.
type Once struct {
	Key    string // chosen by who asks, another one for each request
	Digest string // of the request: the same key with another digest is an error
}

// Validate reports whether the key is one: 1 to MaxKey visible ASCII characters.
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

// Reply is what a request came to.
type Reply struct {
	Trials []uint64 `json:"trials,omitempty"` // that were given to a client
	Added  int      `json:"added,omitempty"`  // trials by an import
}

// replies is the memory of requests with keys. It changes by applying records.
type replies struct {
	last  uint64 // the number of the newest
	byKey map[string]ReplyRecord
	keys  map[uint64]string // by place
}

func newReplies() replies {
	return replies{byKey: map[string]ReplyRecord{}, keys: map[uint64]string{}}
}

// apply takes the place of the reply that is forgotten.
func (r *replies) apply(record ReplyRecord) error {
	if record.Number <= r.last {
		return fmt.Errorf("reply %d follows reply %d", record.Number, r.last)
	}
	place := record.Number % MaxReplies
	delete(r.byKey, r.keys[place])
	r.last, r.keys[place], r.byKey[record.Key] = record.Number, record.Key, record
	return nil
}

// key is of the record that takes the place of an earlier one.
func (r ReplyRecord) key() string { return "reply/" + strconv.FormatUint(r.Number%MaxReplies, 10) }

// Replied returns what a request came to that was carried out before. It never is for
// the zero Once. Error: ErrKeyReused.
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

// Remember keeps what a request came to, with what was recorded for it since the last
// Ready: both reach the disk or none does.
func (a *Agent) Remember(o Once, reply Reply) {
	if o == (Once{}) {
		return
	}
	a.record(Record{Reply: &ReplyRecord{Number: a.replies.last + 1, Key: o.Key, Digest: o.Digest, Reply: reply}})
}
