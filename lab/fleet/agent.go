package fleet

import (
	"slices"
	"time"

	"github.com/fbo-node/fbo/internal/largetopic"
	"github.com/fbo-node/fbo/protocol"
)

// The agents that a scenario makes hostile. All of them announce, and forward and answer nothing.
type behaviour uint8

const (
	honest  behaviour = iota
	silent            // serves nothing
	garbage           // serves garbage
	flood             // sends as many presence messages as an author may, and serves nothing
)

// agentState is the state of one agent.
type agentState struct {
	name      string
	behaviour behaviour
	gone      bool
	second    bool // in the second half during a partition
	newcomer  bool // entered in the measured time
	born      time.Duration
	worked    time.Duration // time that the agent has worked on its first share before its start
	first     time.Duration // time of the first share of an honest author; negative: none

	links  []link
	met    map[int32]bool
	banned map[int32]time.Duration // until then nothing of these is read
	wrong  map[int32]int           // garbage that each has served

	places  []largetopic.Place[int32]
	known   []known         // of the author in the same place
	slots   map[int32]int32 // place of each author
	groups  map[int32]int32 // index of a group; a group is an agent that delivered an author first, or the author if it was met
	origins []int32         // the agent of each group
	sizes   []int           // number of authors of each group
	relayed []int           // number of unmet authors of each group that are relayed
	most    int             // at least the largest size
	quietly int64           // at most the Received of each unmet author

	large, beaten bool // the topic is large; the latest beat was that of a large topic
	measured      time.Duration
	present       int
	choice        largetopic.Choice[int32]
	wakes         time.Duration // time of the scheduled fetch; negative: none
	ticks         int

	demand   float64 // messages a second of floods that arrive
	demanded time.Duration

	messages, gossip, copies, fetches, failed, fetched, compared, caught float64
}

// known is what an agent stores of an author, beside its place.
type known struct {
	expires   time.Duration // of the presence message
	received  time.Duration // time at which the presence message arrived
	announced uint32        // number of the announced share; 0: none
	has       uint32        // number of the stored share
	hasAt     time.Duration // time at which it arrived
	spent     time.Duration // state of largetopic.Admit
	relays    bool
}

// holder is an agent that has once had a place for an author, and the place.
type holder struct{ agent, place int32 }

// link is a connection, at one of its ends.
type link struct {
	peer      int32
	mesh      bool
	since     time.Duration
	delivered time.Duration // latest time at which the peer delivered something new; negative: never
}

func (a *agentState) linkTo(id int32) *link {
	for i := range a.links {
		if a.links[i].peer == id {
			return &a.links[i]
		}
	}
	return nil
}

// groupOf returns the index of a group.
func (a *agentState) groupOf(origin int32) int32 {
	g, ok := a.groups[origin]
	if !ok {
		g = int32(len(a.sizes))
		a.groups[origin] = g
		a.sizes, a.relayed, a.origins = append(a.sizes, 0), append(a.relayed, 0), append(a.origins, origin)
	}
	return g
}

// meet notes that an author has been connected: its group is its own.
func (a *agentState) meet(id int32) {
	if a.met[id] {
		return
	}
	a.met[id] = true
	i, ok := a.slots[id]
	if !ok {
		return
	}
	a.leaveGroup(i)
	g := a.groupOf(id)
	a.places[i].Group, a.places[i].Met, a.known[i].relays = g, true, true
	a.sizes[g]++
	a.most = max(a.most, a.sizes[g])
}

func (a *agentState) leaveGroup(i int32) {
	g := a.places[i].Group
	a.sizes[g]--
	if a.known[i].relays && !a.places[i].Met {
		a.relayed[g]--
	}
}

// place returns the place of an author. A new author may displace another; ok is false if there is no place for it.
func (f *fleet) place(id, author, from int32) (i int32, ok bool) {
	a := f.agents[id]
	if i, ok = a.slots[author]; ok {
		return i, true
	}
	return f.newPlace(id, author, from, a.met[author])
}

func (f *fleet) newPlace(id, author, from int32, met bool) (i int32, ok bool) {
	a := f.agents[id]
	origin := from
	if met {
		origin = author
	}
	g := a.groupOf(origin)
	relays := met || largetopic.RelaysUnmet(len(a.places), largetopic.MaxAuthors, a.relayed[g])
	i = int32(len(a.places))
	if i < largetopic.MaxAuthors {
		if len(a.places) == cap(a.places) {
			more := min(3*len(a.places)+64, largetopic.MaxAuthors) - len(a.places)
			a.places, a.known = slices.Grow(a.places, more), slices.Grow(a.known, more)
		}
		a.places, a.known = append(a.places, largetopic.Place[int32]{}), append(a.known, known{})
	} else if i, ok = f.displace(a, largetopic.Newcomer[int32]{Author: author, Group: g, Grows: 1, Met: met}); !ok {
		return 0, false
	}
	a.places[i] = largetopic.Place[int32]{Author: author, Group: g, Size: 1, Met: met}
	a.known[i] = known{relays: relays}
	a.slots[author] = i
	f.holders[author] = append(f.holders[author], holder{id, i})
	a.sizes[g]++
	a.most = max(a.most, a.sizes[g])
	if relays && !met {
		a.relayed[g]++
	}
	return i, true
}

// displace returns a place that an author has lost.
func (f *fleet) displace(a *agentState, n largetopic.Newcomer[int32]) (int32, bool) {
	now := f.clock()
	if !a.mayDisplace(now.Add(-largetopic.ProtectedTime).UnixNano(), n) {
		return 0, false
	}
	gone, ok := largetopic.Evict(now, a.places, a.sizes, n, 1, false)
	if !ok {
		return 0, false
	}
	i := int32(gone[0])
	a.sizes[a.places[i].Group]++ // Evict has subtracted it, as leaveGroup does
	a.leaveGroup(i)
	delete(a.slots, a.places[i].Author)
	a.most = 0
	for _, size := range a.sizes {
		a.most = max(a.most, size)
	}
	f.result.Evicted++
	return i, true
}

// mayDisplace reports whether Evict can find a place. It is fast, since most messages of a large topic have unknown authors.
func (a *agentState) mayDisplace(silent int64, n largetopic.Newcomer[int32]) bool {
	if n.Met || a.most > a.sizes[n.Group]+n.Grows {
		return true
	}
	if a.quietly >= silent {
		return false
	}
	a.quietly = 1 << 62
	for i := range a.places {
		if !a.places[i].Met {
			a.quietly = min(a.quietly, a.places[i].Received)
		}
	}
	return a.quietly < silent
}

// reader implements largetopic.Known for an agent.
type reader struct {
	*fleet
	*agentState
	id int32
}

// Announcers implements largetopic.Known.
func (r reader) Announcers() []largetopic.Candidate[int32] {
	r.announcers = r.announcers[:0]
	for i := range r.places {
		if k := &r.known[i]; k.announced > 0 && k.expires > r.now() {
			p := &r.places[i]
			r.announcers = append(r.announcers, largetopic.Candidate[int32]{
				ID: p.Author, Group: r.fleet.agents[r.origins[p.Group]].name,
				Remote: !r.direct && r.linkTo(p.Author) == nil && !r.canDial(r.id, p.Author),
			})
		}
	}
	return r.announcers
}

// Lacks implements largetopic.Known.
func (r reader) Lacks(author int32) (bool, protocol.Stamp) {
	i, ok := r.slots[author]
	if !ok {
		return false, protocol.Stamp{}
	}
	k := &r.known[i]
	return k.expires > r.now() && k.announced > k.has, protocol.Stamp{Epoch: 1, Sequence: uint64(k.announced)}
}

// count returns the number of present agents, the agent itself included.
func (a *agentState) count(now time.Duration) int {
	present := 1
	for i := range a.known {
		if a.known[i].expires > now {
			present++
		}
	}
	return present
}
