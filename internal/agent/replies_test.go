package agent

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestRepliesAreRememberedOverRestarts(t *testing.T) {
	d := newBowl(t)
	asked := Once{Key: "key-1", Digest: "ask 2"}
	d.agent.Remember(asked, Reply{Trials: []uint64{1, 2}})
	d.agent.Remember(Once{Key: "key-2", Digest: "import"}, Reply{Added: 5})
	d.agent.Remember(Once{}, Reply{Added: 7})
	d.carryOut()
	for range 2 {
		reply, ok, err := d.agent.Replied(asked)
		if err != nil || !ok || !reflect.DeepEqual(reply, Reply{Trials: []uint64{1, 2}}) {
			t.Errorf("%+v, %t, %v", reply, ok, err)
		}
		if _, _, err := d.agent.Replied(Once{Key: "key-1", Digest: "ask 3"}); !errors.Is(err, ErrKeyReused) {
			t.Errorf("another request with the key: %v", err)
		}
		for _, unknown := range []Once{{}, {Key: "key-3", Digest: "ask 2"}} {
			if _, ok, err := d.agent.Replied(unknown); ok || err != nil {
				t.Errorf("%+v: %t, %v", unknown, ok, err)
			}
		}
		d.start()
	}
	for _, key := range []string{"a b", "ä", "a\n", strings.Repeat("k", MaxKey+1)} {
		if _, _, err := d.agent.Replied(Once{Key: key}); err == nil || !strings.Contains(err.Error(), "expected") {
			t.Errorf("%q: %v", key, err)
		}
	}
}

func TestTheOldestRepliesAreForgotten(t *testing.T) {
	d := newBowl(t)
	for i := range MaxReplies + 3 {
		d.agent.Remember(Once{Key: fmt.Sprint(i)}, Reply{Added: i})
	}
	d.carryOut()
	d.journal = compact(t, d.journal)
	for range 2 {
		for i, want := range map[int]bool{0: false, 2: false, 3: true, MaxReplies + 2: true} {
			if reply, ok, err := d.agent.Replied(Once{Key: fmt.Sprint(i)}); ok != want || err != nil || ok && reply.Added != i {
				t.Errorf("reply %d: %+v, %t, %v", i, reply, ok, err)
			}
		}
		d.start()
	}
}
