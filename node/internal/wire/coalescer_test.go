package wire

import "testing"

// What is asked for while it is done is done once more, however often.
func TestCoalescerRunsOnceMore(t *testing.T) {
	var o coalescer
	done := 0
	o.run("peer", func() {
		if done++; done == 1 {
			for range 5 {
				o.run("peer", func() { t.Error("it is done twice at a time") })
			}
			o.run("another", func() { done += 10 })
		}
	})
	if done != 12 || len(o.again) != 0 {
		t.Errorf("done %d times, %d are left", done, len(o.again))
	}
}
