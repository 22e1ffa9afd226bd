package ratelimitlog

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// clock is moved by hand.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func newClock() *clock { return &clock{time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)} }

func TestLimitOfOnePeer(t *testing.T) {
	c := newClock()
	l := newLimit(c.now)
	for i := range peerBurst + 7 {
		if left, ok := l.Allow("refused", "mallory"); ok != (i < peerBurst) || left != 0 {
			t.Fatalf("number %d: %t, %d left out", i+1, ok, left)
		}
	}
	if _, ok := l.Allow("refused", "alice"); !ok {
		t.Error("another peer pays for it")
	}
	if _, ok := l.Allow("failed", "mallory"); !ok {
		t.Error("another kind pays for it")
	}
	c.at = c.at.Add(peerPause)
	if left, ok := l.Allow("refused", "mallory"); !ok || left != 7 {
		t.Errorf("after a while: %t, %d left out, want 7", ok, left)
	}
	if _, ok := l.Allow("refused", "mallory"); ok {
		t.Error("more than one after a while")
	}
	if left := l.Left(); len(left) != 1 || left["refused"] != 1 {
		t.Errorf("left out of which nothing was said: %v", left)
	}
	if left := l.Left(); len(left) != 0 {
		t.Errorf("said twice: %v", left)
	}
}

// Whoever takes a new name for each line is limited as well.
func TestLimitOfManyPeers(t *testing.T) {
	c := newClock()
	l := newLimit(c.now)
	said := 0
	for i := range 5000 {
		if _, ok := l.Allow("refused", fmt.Sprint("mallory ", i)); ok {
			said++
		}
	}
	if said != kindBurst {
		t.Errorf("%d lines about 5000 peers, want %d", said, kindBurst)
	}
	c.at = c.at.Add(peerPause) // since further peers count as one
	if left, ok := l.Allow("refused", "alice"); !ok || left < 4000-kindBurst {
		t.Errorf("after a while: %t, %d left out", ok, left)
	}
	if got := len(l.kinds["refused"].peers); got > maxPeers+1 {
		t.Errorf("%d peers are told apart", got)
	}
	for i := range 5000 {
		l.Allow(fmt.Sprint("kind ", i), "")
	}
	if got := len(l.kinds); got > maxKinds+1 {
		t.Errorf("%d kinds are told apart", got)
	}
}

// Nothing is left out without being counted, once.
func TestLimitCounts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := newClock()
		l := newLimit(c.now)
		asked, said, counted := 0, 0, 0
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			kind, peer := rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "kind"), rapid.SampledFrom([]string{"", "p", "q"}).Draw(rt, "peer")
			for range rapid.IntRange(1, 60).Draw(rt, "times") {
				asked++
				if left, ok := l.Allow(kind, peer); ok {
					said++
					counted += left
				}
			}
			if rapid.Bool().Draw(rt, "told") {
				for _, left := range l.Left() {
					counted += left
				}
			}
			c.at = c.at.Add(time.Duration(rapid.IntRange(0, 90).Draw(rt, "seconds")) * time.Second)
		}
		for _, left := range l.Left() {
			counted += left
		}
		if said+counted != asked {
			rt.Fatalf("%d said and %d counted of %d", said, counted, asked)
		}
	})
}

func TestShapeDropsNumbersAndIDs(t *testing.T) {
	const id = "QmYyQSo1c1Ym7orWxLYvCrM2EmxFTANf8wXmmE7DWjhx5N"
	want := "a share of peer was refused: its round is above"
	for _, n := range []int{1, 77} {
		if got := Shape(fmt.Sprintf("a share of peer %s was refused: its round %d is above %d", id, n, 3*n)); got != want {
			t.Errorf("%q", got)
		}
	}
	if got := Shape(strings.Repeat("x", 1000)); got != "" {
		t.Errorf("%q", got)
	}
}
