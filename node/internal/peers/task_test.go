package peers

import (
	"math/rand/v2"
	"testing"
	"time"
)

// config is that of a policy whose random choices are the same in every run.
func config() Config { return Config{Self: "self", Random: rand.NewPCG(1, 2)} }

func random() *rand.Rand { return rand.New(config().Random) }

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// TestSilentPeersAreInactive checks that newcomers count as active only until newcomerTime ends.
func TestSilentPeersAreInactive(t *testing.T) {
	s := New(config()).NewTask(nil)
	s.Joined(noon, "a")
	s.Joined(noon, "b")
	s.Delivered(noon, "stranger", "stranger")
	s.Delivered(noon.Add(time.Second), "a", "a")
	if _, strange := s.peers["stranger"]; strange || s.peers["a"].received != noon.Add(time.Second) {
		t.Error("a delivery counts for a peer that is not on the task, or not for one that is")
	}
	for after, want := range map[time.Duration]int{0: 2, newcomerTime: 1, ActiveTime: 1, ActiveTime + time.Second: 0} {
		if got := s.Active(noon.Add(after)); got != want {
			t.Errorf("after %v %d are active, want %d", after, got, want)
		}
	}
	s.Left("a")
	if got := s.Active(noon.Add(newcomerTime)); got != 0 {
		t.Errorf("%d are left", got)
	}
}
