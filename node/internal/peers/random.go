package peers

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
	"time"
)

// Jittered returns a pause between half of d and one and a half times d, d on average: many nodes may
// start at once and shall not continue in step. d is positive.
func (p *Policy) Jittered(d time.Duration) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return jittered(p.random, d)
}

func jittered(r *rand.Rand, d time.Duration) time.Duration {
	return d/2 + time.Duration(r.Int64N(int64(d)))
}

// maxPause is the longest pause of a backoff.
const maxPause = 10 * time.Minute

// backoff is when something is due that is done at growing intervals.
type backoff struct {
	next  time.Time
	pause time.Duration
}

func (b *backoff) isDue(now time.Time, r *rand.Rand) bool {
	if now.Before(b.next) {
		return false
	}
	b.next = now.Add(jittered(r, b.pause))
	b.pause = min(2*b.pause, maxPause)
	return true
}

// randomKey returns a random key of a map that is not empty.
func randomKey[K cmp.Ordered, V any](r *rand.Rand, m map[K]V) K {
	keys := slices.Sorted(maps.Keys(m))
	return keys[r.IntN(len(keys))]
}
