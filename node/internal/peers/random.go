package peers

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
	"time"
)

// Jittered returns a random pause between d/2 and 3d/2, whose mean is d. Without jitter, nodes that
// start together would remain synchronised. d must be positive.
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

// backoff schedules an action at growing intervals.
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

// randomKey returns a random key of a map, which must not be empty.
func randomKey[K cmp.Ordered, V any](r *rand.Rand, m map[K]V) K {
	keys := slices.Sorted(maps.Keys(m))
	return keys[r.IntN(len(keys))]
}
