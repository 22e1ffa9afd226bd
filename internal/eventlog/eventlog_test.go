package eventlog

import (
	"sync"
	"testing"
)

func numbers(items []Item[int]) (ns []uint64) {
	for _, item := range items {
		ns = append(ns, item.Number)
	}
	return ns
}

func TestLogAfterReturnsNewerItems(t *testing.T) {
	f := New[int](3, 100)
	if n := f.After(100); len(n.Items) > 0 || n.Missed || n.Closed {
		t.Errorf("at first: %+v", n)
	}
	for i := range 5 { // 101 to 105, of which 103 is the oldest
		f.Add(i)
	}
	for after, want := range map[uint64]struct {
		first  uint64
		count  int
		missed bool
	}{
		0: {103, 3, true}, 101: {103, 3, true}, 102: {103, 3, false}, 103: {104, 2, false}, 105: {0, 0, false}, 106: {103, 3, true}, 1 << 63: {103, 3, true},
	} {
		n := f.After(after)
		if len(n.Items) != want.count || n.Missed != want.missed || want.count > 0 && n.Items[0].Number != want.first {
			t.Errorf("after %d: %v, missed %t", after, numbers(n.Items), n.Missed)
		}
		for i, item := range n.Items {
			if item.Number != want.first+uint64(i) || item.Value != int(item.Number)-101 {
				t.Errorf("after %d: %+v", after, item)
			}
		}
	}
	f.Close()
	f.Close()
	f.Add(9)
	if n := f.After(105); !n.Closed || len(n.Items) > 0 || f.Last() != 105 {
		t.Errorf("closed: %+v", n)
	}
}

// Readers that keep up see everything once and in order.
func TestReadersBesideWriters(t *testing.T) {
	const writers, each = 4, 500
	f := New[int](writers*each, 0)
	var readers, writing sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			last := uint64(0)
			for {
				n := f.After(last)
				if n.Missed {
					t.Error("missed something")
				}
				for _, item := range n.Items {
					if item.Number != last+1 {
						t.Errorf("%d follows %d", item.Number, last)
					}
					last = item.Number
				}
				if n.Closed {
					if last != writers*each {
						t.Errorf("the last is %d", last)
					}
					return
				}
				<-n.Changed
			}
		})
	}
	for range writers {
		writing.Go(func() {
			for i := range each {
				f.Add(i)
			}
		})
	}
	writing.Wait()
	f.Close()
	readers.Wait()
}
