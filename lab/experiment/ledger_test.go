package experiment

import (
	"testing"
	"time"
)

func TestLedgerDividesProcessorTimeAmongWhatIsUnderWay(t *testing.T) {
	used := 100 * time.Second
	l := newLedger(func() time.Duration { return used })
	used += time.Second // nobody's
	a := l.open()
	used += 10 * time.Second // a's alone
	b := l.open()
	used += 4 * time.Second // both
	l.close(a)
	used += 3 * time.Second // b's alone
	l.close(b)
	used += time.Second // nobody's
	if a.core != 12*time.Second || b.core != 5*time.Second {
		t.Errorf("a cost %v and b %v, want 12s and 5s", a.core, b.core)
	}
}

// The processor's clock runs while this process computes.
func TestProcessorTimeGrows(t *testing.T) {
	begin := processorTime()
	for deadline := time.Now().Add(time.Minute); processorTime() < begin+20*time.Millisecond; {
		if time.Now().After(deadline) {
			t.Fatal("no processor time in a minute of computing")
		}
	}
}
