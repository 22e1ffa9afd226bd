package node

import (
	"testing"
	"time"
)

func TestWaitIsBoundedByTheTimeOfAnEvaluation(t *testing.T) {
	for _, c := range []struct{ wait, evaluation, want time.Duration }{
		{0, 0, DefaultWait},
		{0, time.Hour, DefaultWait},
		{0, 20 * time.Second, 2 * time.Second},
		{time.Second, 0, time.Second},
		{time.Minute, 20 * time.Second, 2 * time.Second},
		{-1, 0, 0},
		{-1, time.Hour, 0},
	} {
		if got := (JoinOptions{Wait: c.wait}).wait(c.evaluation); got != c.want {
			t.Errorf("Wait %v, evaluations of %v: %v, want %v", c.wait, c.evaluation, got, c.want)
		}
	}
}
