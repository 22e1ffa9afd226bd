package compare

import (
	"errors"
	"fmt"
	"testing"
)

func TestBudgetIsSpent(t *testing.T) {
	b, err := NewBudget(2)
	if err != nil {
		t.Fatal(err)
	}
	if b.Spent() {
		t.Error("something is spent of a new budget")
	}
	for i := range 2 {
		if err := b.Check("a"); err != nil {
			t.Fatalf("answer %d: %v", i+1, err)
		}
		b.Spend("a")
	}
	if err := b.Check("a"); !errors.Is(err, ErrSpent) {
		t.Errorf("a third answer: %v", err)
	}
	if err := b.Check("b"); err != nil {
		t.Errorf("another peer: %v", err)
	}
	if b.Renew(); b.Spent() || b.Check("a") != nil {
		t.Error("the next hour has not begun")
	}
	for i := range MaxCounted {
		b.Spend(fmt.Sprint(i))
	}
	if err := b.Check("one more"); !errors.Is(err, ErrSpent) {
		t.Errorf("peer %d: %v", MaxCounted+1, err)
	}
	if err := b.Check("7"); err != nil {
		t.Errorf("a peer that is counted: %v", err)
	}
	if _, err := NewBudget(0); err == nil {
		t.Error("a budget of nothing is taken")
	}
}
