package wire

import (
	"context"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"
)

func TestRequestSlots(t *testing.T) {
	t.Parallel()
	slots := newRequestSlots(2)
	enter := func(ctx context.Context, id peer.ID) func() {
		leave, err := slots.enter(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		return leave
	}
	first, second := enter(t.Context(), "a"), enter(t.Context(), "a")
	other := enter(t.Context(), "b")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := slots.enter(ended, "a"); err == nil {
		t.Error("a third request to one peer has begun")
	}
	entered := make(chan func())
	go func() {
		leave, _ := slots.enter(t.Context(), "a")
		entered <- leave
	}()
	first()
	(<-entered)()
	second()
	other()
	if len(slots.peers) != 0 {
		t.Errorf("%d peers are left", len(slots.peers))
	}
}
