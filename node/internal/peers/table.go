package peers

import (
	"container/list"
	"math/rand/v2"
)

// table holds a bounded number of entries. If there are too many, it drops the entry whose last put
// or touch is the oldest.
type table[K comparable, V any] struct {
	most    int
	entries map[K]*list.Element
	order   *list.List // elements are tableEntry, oldest first
}

type tableEntry[K comparable, V any] struct {
	key   K
	value V
}

func newTable[K comparable, V any](most int) table[K, V] {
	return table[K, V]{most, map[K]*list.Element{}, list.New()}
}

func (t table[K, V]) len() int { return len(t.entries) }

// get returns the value of a key; ok is false if there is none.
func (t table[K, V]) get(key K) (value V, ok bool) {
	e, ok := t.entries[key]
	if ok {
		value = e.Value.(tableEntry[K, V]).value
	}
	return value, ok
}

func (t table[K, V]) touch(key K) { t.order.MoveToBack(t.entries[key]) }

// put adds or replaces an entry.
func (t table[K, V]) put(key K, value V) {
	t.delete(key)
	if oldest, _, ok := t.oldest(); ok && len(t.entries) >= t.most {
		t.delete(oldest)
	}
	t.entries[key] = t.order.PushBack(tableEntry[K, V]{key, value})
}

func (t table[K, V]) delete(key K) {
	if e, ok := t.entries[key]; ok {
		t.order.Remove(e)
		delete(t.entries, key)
	}
}

// oldest returns the entry whose last put or touch is the oldest.
func (t table[K, V]) oldest() (key K, value V, ok bool) {
	front := t.order.Front()
	if front == nil {
		return key, value, false
	}
	e := front.Value.(tableEntry[K, V])
	return e.key, e.value, true
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

// add adds a key, which must not be in the set.
func (s *keySet[K]) add(key K) {
	if s.places == nil {
		s.places = map[K]int{}
	}
	s.places[key] = len(s.keys)
	s.keys = append(s.keys, key)
}

// removeRandom removes a random key and returns it. The set must not be empty.
func (s *keySet[K]) removeRandom(r *rand.Rand) K {
	place, last := r.IntN(len(s.keys)), len(s.keys)-1
	key := s.keys[place]
	s.keys[place] = s.keys[last]
	s.places[s.keys[place]] = place
	s.keys = s.keys[:last]
	delete(s.places, key)
	return key
}
