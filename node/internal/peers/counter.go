package peers

import (
	"maps"
	"time"
)

// maxKept is the maximum number of keys with spent units. Beyond it, new keys get none.
const maxKept = 4096

// counter is a token bucket for each key: up to most units at once, and one more after each pause.
type counter[K comparable] struct {
	most  float64
	pause time.Duration
	spent map[K]spending
	swept time.Time // time at which full buckets were last removed
}

type spending struct {
	count float64
	at    time.Time
}

func newCounter[K comparable](most float64, pause time.Duration) *counter[K] {
	return &counter[K]{most: most, pause: pause, spent: map[K]spending{}}
}

func (b *counter[K]) settled(key K, now time.Time) float64 {
	s := b.spent[key]
	return max(0, s.count-float64(now.Sub(s.at))/float64(b.pause))
}

// has reports whether the key has a unit left.
func (b *counter[K]) has(key K, now time.Time) bool {
	if _, known := b.spent[key]; !known && len(b.spent) >= maxKept {
		if now.Sub(b.swept) < b.pause {
			return false
		}
		b.swept = now
		maps.DeleteFunc(b.spent, func(other K, _ spending) bool { return b.settled(other, now) == 0 })
		if len(b.spent) >= maxKept {
			return false
		}
	}
	return b.settled(key, now)+1 <= b.most
}

// take spends one unit of a key, if has is true for it. giveBack refunds one.
func (b *counter[K]) take(key K, now time.Time) {
	b.spent[key] = spending{b.settled(key, now) + 1, now}
}

func (b *counter[K]) giveBack(key K, now time.Time) {
	if count := b.settled(key, now) - 1; count > 0 {
		b.spent[key] = spending{count, now}
	} else {
		delete(b.spent, key)
	}
}
