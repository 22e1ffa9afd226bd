package largetopic

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/fbo-node/fbo/protocol"
)

const (
	turnPause  = 5 * time.Minute  // between choices of authors
	fetchPause = time.Second      // minimum time from an announcement until the fetch
	fetchSpan  = 9 * time.Second  // the fetch comes up to this time later, so that readers of one author do not ask at once
	retryPause = 20 * time.Second // until an unsuccessful fetch is repeated; it doubles each time
	maxFetches = 3                // fetches without success, after which another author takes the place
	barredTime = 10 * time.Minute // in which the author is not chosen again
	fetchBatch = 32               // authors fetched at once
)

// IsLarge reports whether a topic is large in which this many agents are present. A large topic is small
// again at three quarters of the limit.
func IsLarge(large bool, present, above int) bool {
	return present > above || large && present > above*3/4
}

// Known is what an agent knows about announcing authors.
type Known[ID cmp.Ordered] interface {
	// Announcers returns the present authors that announce shares. The caller does not change it, and uses it before
	// the next call only.
	Announcers() []Candidate[ID]

	// Lacks reports whether a present author announces a share that the agent does not have, and can use. The stamp is the
	// newest that the author announces.
	Lacks(ID) (lacks bool, newest protocol.Stamp)
}

// Choice is the choice of the authors whose announced shares an agent fetches, and the state of the
// fetches. A method with a limit uses it as the maximum number of authors.
type Choice[ID cmp.Ordered] struct {
	Chosen    map[ID]bool
	Suggested []ID
	Turned    time.Time // time of the latest choice
	Next      time.Time // time of the next fetch; zero: there is nothing to fetch

	rng      *rand.Rand
	attempts map[ID]attempt // of chosen authors with announced shares that the agent does not have
	barred   map[ID]time.Time
}

// attempt counts the fetches of an author's shares since the last one that succeeded.
type attempt struct {
	newest protocol.Stamp // that the author announced at the last fetch
	count  int
	next   time.Time // of the next fetch, unless the author announces a newer share before
}

// NewChoice returns an empty choice.
func NewChoice[ID cmp.Ordered](rng *rand.Rand) Choice[ID] {
	return Choice[ID]{Chosen: map[ID]bool{}, rng: rng, attempts: map[ID]attempt{}, barred: map[ID]time.Time{}}
}

// IsDue reports whether the authors are to be chosen anew.
func (c *Choice[ID]) IsDue(now time.Time) bool {
	return c.Turned.IsZero() || now.Sub(c.Turned) >= turnPause
}

// Offer chooses an announcing author if there is a place.
func (c *Choice[ID]) Offer(now time.Time, author ID, limit int) {
	if len(c.Chosen) < limit && !c.isBarred(author, now) {
		c.Chosen[author] = true
	}
}

func (c *Choice[ID]) isBarred(author ID, now time.Time) bool { return now.Before(c.barred[author]) }

// Schedule lets a fetch come soon, unless there is an earlier one.
func (c *Choice[ID]) Schedule(now time.Time) {
	c.Next = earliest(c.Next, now.Add(fetchPause+time.Duration(c.rng.Int64N(int64(fetchSpan)))))
}

// Turn chooses the authors anew, and returns those among which it has chosen.
func (c *Choice[ID]) Turn(now time.Time, limit int, known Known[ID]) []Candidate[ID] {
	all := c.eligible(now, known)
	served := slices.DeleteFunc(slices.Sorted(maps.Keys(c.Chosen)), func(id ID) bool {
		lacks, _ := known.Lacks(id)
		return lacks
	})
	c.Chosen = selectAuthors(limit, all, c.Suggested, served, c.rng)
	maps.DeleteFunc(c.barred, func(_ ID, until time.Time) bool { return !now.Before(until) })
	maps.DeleteFunc(c.attempts, func(id ID, _ attempt) bool { return !c.Chosen[id] })
	c.Schedule(now)
	return all
}

// eligible returns the announcers that are not barred.
func (c *Choice[ID]) eligible(now time.Time, known Known[ID]) []Candidate[ID] {
	all := known.Announcers()
	if len(c.barred) == 0 {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(a Candidate[ID]) bool { return c.isBarred(a.ID, now) })
}

// Fetch returns the authors whose announced shares are to be fetched now. Another author takes the place of
// one that could not be fetched.
func (c *Choice[ID]) Fetch(now time.Time, limit int, known Known[ID]) (due []ID) {
	if c.Next.IsZero() || now.Before(c.Next) {
		return nil
	}
	c.Next = time.Time{}
	var wait time.Time
	for _, id := range slices.Sorted(maps.Keys(c.Chosen)) {
		lacks, newest := known.Lacks(id)
		if !lacks {
			delete(c.attempts, id)
			continue
		}
		tried := c.attempts[id]
		if tried.newest != newest {
			tried.next = time.Time{}
		}
		switch {
		case tried.next.After(now):
			wait = earliest(wait, tried.next)
		case tried.count >= maxFetches:
			delete(c.attempts, id)
			delete(c.Chosen, id)
			c.barred[id] = now.Add(barredTime)
		case len(due) < fetchBatch:
			due = append(due, id)
			c.attempts[id] = attempt{newest, tried.count + 1, now.Add(retryPause << tried.count)}
			wait = earliest(wait, c.attempts[id].next)
		default:
			wait = earliest(wait, now.Add(fetchPause))
		}
	}
	if before := len(c.Chosen); before < limit {
		fillAtRandom(c.Chosen, limit, c.eligible(now, known), c.rng)
		if len(c.Chosen) > before {
			wait = earliest(wait, now.Add(fetchPause))
		}
	}
	c.Next = wait
	return due
}

// earliest returns the earlier of two times; a zero time is none.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
