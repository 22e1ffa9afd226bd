package strategy

import (
	"slices"
	"testing"
)

type roundOf int

func (r roundOf) Slot() uint64 { return uint64(r) }

func TestSharesOfOneType(t *testing.T) {
	view := View{Shares: []*Share{{Value: "a"}, {Value: 1}, {Value: nil}, {Value: "b"}, {Value: "c"}}}
	var said []string
	for share, value := range Shares[string](view) {
		if share.Value != value {
			t.Errorf("%q comes with the share of %v", value, share.Value)
		}
		if said = append(said, value); value == "b" {
			break
		}
	}
	if !slices.Equal(said, []string{"a", "b"}) {
		t.Errorf("said was %q", said)
	}
}

func TestResultOf(t *testing.T) {
	view := View{Results: map[string]any{"rounds": 7}}
	if n, ok := ResultOf[int](view, "rounds"); n != 7 || !ok {
		t.Errorf("the result is %d, %v", n, ok)
	}
	if n, ok := ResultOf[int](view, "presence"); n != 0 || ok {
		t.Errorf("an exchange without a result has %d, %v", n, ok)
	}
	if s, ok := ResultOf[string](view, "rounds"); s != "" || ok {
		t.Errorf("a result of another type is %q, %v", s, ok)
	}
}

func TestSlotOf(t *testing.T) {
	if SlotOf(roundOf(7)) != 7 || SlotOf("a") != 0 || SlotOf(nil) != 0 {
		t.Error("a value that is Slotted has its slot, any other slot 0")
	}
}
