package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

var sensible = settings{gain: 0.08, integralTime: 20, mode: "smooth"}

func score(t *testing.T, device uint64, s settings, seed uint64) float64 {
	t.Helper()
	value, err := newCabinet(device).score(t.Context(), s, 0, rand.New(rand.NewPCG(seed, 0)))
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func TestScoreIsRepeatableAndNoisy(t *testing.T) {
	value := score(t, 1, sensible, 1)
	if again := score(t, 1, sensible, 1); again != value {
		t.Errorf("the same seed gave %g, then %g", value, again)
	}
	if other := score(t, 1, sensible, 2); other == value {
		t.Error("another seed gave the same noise")
	}
	if other := score(t, 2, sensible, 1); other == value {
		t.Error("another device gave the same score")
	}
}

// The noise of a score is about 0.1; the margin is many times that.
func TestSettingsMatterOnEveryDevice(t *testing.T) {
	nervous := settings{gain: 1, integralTime: 200, mode: "pulses"}
	for device := uint64(1); device <= 5; device++ {
		good, bad := score(t, device, sensible, 1), score(t, device, nervous, 1)
		if good > bad-5 {
			t.Errorf("device %d: %.2f with sensible settings, %.2f with nervous ones", device, good, bad)
		}
		_, err := newCabinet(device).score(t.Context(), settings{gain: 0.005, integralTime: 1000, mode: "smooth"}, 0, rand.New(rand.NewPCG(1, 0)))
		if err == nil || !strings.Contains(err.Error(), "tripped") {
			t.Errorf("device %d does not trip with a fan that hardly turns: %v", device, err)
		}
	}
}

func TestScoreEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Millisecond, errors.New("too slow"))
	defer cancel()
	_, err := newCabinet(1).score(ctx, sensible, time.Hour, rand.New(rand.NewPCG(1, 0)))
	if err == nil || err.Error() != "too slow" {
		t.Errorf("error %v", err)
	}
}
