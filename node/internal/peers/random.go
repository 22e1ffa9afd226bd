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

// keySet is a set from which a random key can be removed in constant time.
type keySet[K comparable] struct {
	places map[K]int
	keys   []K
}

func (s *keySet[K]) has(key K) bool {
	_, ok := s.places[key]
	return ok
}

// add adds a key that is not in the set.
func (s *keySet[K]) add(key K) {
	if s.places == nil {
		s.places = map[K]int{}
	}
	s.places[key] = len(s.keys)
	s.keys = append(s.keys, key)
}

// removeRandom removes a key from a set that is not empty, and returns it.
func (s *keySet[K]) removeRandom(r *rand.Rand) K {
	place, last := r.IntN(len(s.keys)), len(s.keys)-1
	key := s.keys[place]
	s.keys[place] = s.keys[last]
	s.places[s.keys[place]] = place
	s.keys = s.keys[:last]
	delete(s.places, key)
	return key
}

// randomKey returns a random key of a map that is not empty.
func randomKey[K cmp.Ordered, V any](r *rand.Rand, m map[K]V) K {
	keys := slices.Sorted(maps.Keys(m))
	return keys[r.IntN(len(keys))]
}
