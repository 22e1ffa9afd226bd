package fleet

import (
	"cmp"
	"slices"
	"time"

	"github.com/fbo-node/fbo/internal/exchange/presence"
)

// consider lets an agent choose and fetch authors after a presence message of the author at a place.
func (f *fleet) consider(id, i int32) {
	a := f.agents[id]
	author, k := a.places[i].Author, &a.known[i]
	if k.announced == 0 || a.behaviour != honest {
		return
	}
	now := f.clock()
	if a.choice.IsDue(now) {
		a.choice.Turned = now
		a.choice.Turn(now, f.limits.Authors, reader{f, a, id})
	} else {
		a.choice.Offer(now, author, f.limits.Authors)
	}
	if k.announced > k.has && a.choice.Chosen[author] {
		a.choice.Schedule(now)
	}
	f.wake(id)
}

// wake schedules the next fetch of an agent.
func (f *fleet) wake(id int32) {
	a := f.agents[id]
	if a.choice.Next.IsZero() {
		return
	}
	if at := a.choice.Next.Sub(began); a.wakes < f.now() || at < a.wakes {
		a.wakes = at
		f.schedule(at, event{kind: fetches, agent: id})
	}
}

// fetch requests the announced shares of authors as package wire does: from the author if it is connected or can be
// dialled, else from another peer.
func (f *fleet) fetch(id int32) {
	a := f.agents[id]
	a.wakes = -1
	var rest []int32
	dials := 0
	for _, author := range a.choice.Fetch(f.clock(), f.limits.Authors, reader{f, a, id}) {
		f.count(&a.fetches, 1)
		switch {
		case f.refuses(a, author):
		case f.direct || a.linkTo(author) != nil:
			f.ask(id, author, author, 2*hop)
		case dials < fetchDials && f.canDial(id, author):
			if dials++; f.connect(id, author) {
				f.ask(id, author, author, 4*hop)
			} else {
				f.schedule(f.now()+dialTimeout, event{kind: helps, agent: id, author: author})
			}
		default:
			rest = append(rest, author)
		}
	}
	if len(rest) > 0 {
		f.askHelper(id, rest...)
	}
	f.wake(id)
}

// askHelper requests shares from a random active peer.
func (f *fleet) askHelper(id int32, authors ...int32) {
	a := f.agents[id]
	active := make([]int32, 0, len(a.links))
	for _, l := range a.links {
		if f.now()-l.delivered < activeTime {
			active = append(active, l.peer)
		}
	}
	if len(active) == 0 {
		for _, l := range a.links {
			active = append(active, l.peer)
		}
	}
	if len(active) == 0 {
		f.count(&a.failed, float64(len(authors)))
		return
	}
	helper := active[f.rng.IntN(len(active))]
	for _, author := range authors {
		f.ask(id, helper, author, 2*hop)
	}
}

// ask requests the share of an author from a peer. What it serves arrives after some time.
func (f *fleet) ask(id, from, author int32, after time.Duration) {
	a, b := f.agents[id], f.agents[from]
	size := f.Message.Request + f.Message.Author
	var has uint32
	if i, ok := a.slots[author]; ok {
		if has = a.known[i].has; has > 0 {
			size += f.Message.Have
		}
	}
	f.count(&a.fetched, float64(size))
	if b.gone || f.parted(a, b) {
		f.count(&a.failed, 1)
		return
	}
	serves := uint32(0)
	switch {
	case b.behaviour == garbage:
		f.count(&a.fetched, float64(f.Message.Item))
		if a.wrong[from]++; a.wrong[from] >= maxViolations {
			delete(a.wrong, from)
			a.banned[from] = f.now() + banTime
			f.disconnect(id, from)
		}
	case b.behaviour != honest:
	case from == author:
		serves = f.newest(b)
	default:
		if i, ok := b.slots[author]; ok && b.known[i].relays {
			serves = b.known[i].has
		}
	}
	if serves <= has {
		f.count(&a.failed, 1)
		return
	}
	f.count(&a.fetched, float64(f.Message.Item))
	f.schedule(f.now()+after, event{kind: arrives, agent: id, author: author, from: from, number: serves})
}

// arrive stores a share.
func (f *fleet) arrive(id, author, from int32, number uint32) {
	a := f.agents[id]
	if f.parted(a, f.agents[from]) {
		return
	}
	i, ok := f.place(id, author, from)
	if !ok || a.known[i].has >= number {
		return
	}
	a.known[i].has, a.known[i].hasAt = number, f.now()
	a.places[i].Received = f.clock().UnixNano()
	if a.first < 0 && f.agents[author].behaviour == honest {
		a.first = f.now() - a.born
	}
}

// answer gives an agent the presence messages and shares of a peer, as package agent answers a request for all shares.
func (f *fleet) answer(id, from int32) {
	a, b := f.agents[id], f.agents[from]
	if b.behaviour != honest {
		return
	}
	size := f.Message.Request
	present, shares := len(b.places), len(b.places)
	if b.large {
		present, shares = f.limits.Above*3/2, f.limits.Authors
	}
	latest := func(count int, counts func(k *known) bool, time func(k *known) time.Duration) []int32 {
		list := f.latest[:0]
		for i := range b.places {
			if k := &b.known[i]; b.places[i].Author != id && k.relays && counts(k) {
				list = append(list, int32(i))
			}
		}
		slices.SortFunc(list, func(i, j int32) int {
			return cmp.Or(cmp.Compare(time(&b.known[j]), time(&b.known[i])), cmp.Compare(i, j))
		})
		f.latest = list
		return list[:min(count, len(list))]
	}
	if i, ok := f.place(id, from, from); ok {
		k := &a.known[i]
		k.received, k.expires = f.now(), max(k.expires, f.now()+presence.Lifetime(b.large, b.present))
		a.places[i].Received = f.clock().UnixNano()
		if n := f.newest(b); n > 0 {
			if b.large {
				k.announced = max(k.announced, n)
			}
			size += f.Message.Item
			f.schedule(f.now()+2*hop, event{kind: arrives, agent: id, author: from, from: from, number: n})
		}
	}
	for _, i := range latest(present, func(k *known) bool { return k.expires > f.now() }, func(k *known) time.Duration { return k.received }) {
		theirs := b.known[i]
		author := b.places[i].Author
		size += f.Message.PresenceItem
		if mine, ok := f.place(id, author, from); ok && a.known[mine].expires < theirs.expires {
			k := &a.known[mine]
			k.expires, k.received, k.announced = theirs.expires, theirs.received, max(k.announced, theirs.announced)
			a.places[mine].Received = max(a.places[mine].Received, began.Add(theirs.received).UnixNano())
			f.measureEarly(a)
			f.consider(id, mine)
		}
	}
	for _, i := range latest(shares, func(k *known) bool { return k.has > 0 }, func(k *known) time.Duration { return k.hasAt }) {
		size += f.Message.Item
		f.schedule(f.now()+2*hop, event{kind: arrives, agent: id, author: b.places[i].Author, from: from, number: b.known[i].has})
	}
	a.caught += float64(size)
}

// measureEarly decides whether the topic is large, if it can be by the number of known authors.
func (f *fleet) measureEarly(a *agentState) {
	if !a.large && len(a.places) >= f.limits.Above {
		f.measure(a)
	}
}

// compare requests shares of the chosen authors from a random peer, as each node does once a minute.
func (f *fleet) compare(id int32) {
	a := f.agents[id]
	if len(a.links) == 0 {
		return
	}
	from := a.links[f.rng.IntN(len(a.links))].peer
	b := f.agents[from]
	if f.parted(a, b) {
		return
	}
	if !a.large {
		f.answer(id, from)
		return
	}
	size := f.Message.Request + f.Message.Author
	if f.newest(a) > 0 {
		size += f.Message.Have
	}
	f.chosen = f.chosen[:0]
	for author := range a.choice.Chosen {
		f.chosen = append(f.chosen, author)
	}
	slices.Sort(f.chosen)
	for _, author := range f.chosen {
		size += f.Message.Author
		has := uint32(0)
		if i, ok := a.slots[author]; ok {
			has = a.known[i].has
		}
		if has > 0 {
			size += f.Message.Have
		}
		if b.behaviour != honest {
			continue
		}
		serves := uint32(0)
		if i, ok := b.slots[author]; ok && b.known[i].relays {
			serves = b.known[i].has
		}
		if author == from {
			serves = f.newest(b)
		}
		if serves > has {
			size += f.Message.Item
			f.schedule(f.now()+2*hop, event{kind: arrives, agent: id, author: author, from: from, number: serves})
		}
	}
	f.count(&a.compared, float64(size))
}

// count adds to a sum of the measured time.
func (f *fleet) count(sum *float64, amount float64) {
	if f.now() >= f.From {
		*sum += amount
	}
}
