package wire

import (
	"testing"
	"time"
)

func TestTimersEndTogether(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ now, pause, want time.Duration }{
		{0, time.Second, time.Second},
		{0, time.Second + 1, time.Second + timerGrain},
		{30 * time.Millisecond, time.Second, time.Second + 70*time.Millisecond},
		{99 * time.Millisecond, time.Millisecond, time.Millisecond},
	} {
		if got := aligned(c.now, c.pause); got != c.want {
			t.Errorf("at %v a pause of %v takes %v, expected %v", c.now, c.pause, got, c.want)
		}
	}
}
