package fleet

import (
	"cmp"
	"slices"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"

	"github.com/fbo-node/fbo/internal/nethost"
)

// Numbers of package peers, which no other folder can import. A test compares them with docs/network.md.
const (
	minActive     = 10 // active peers, below which a node dials more
	memberRecords = 512
	fetchDials    = 8 // of one fetch, in docs/wire.md
	maxViolations = 3
	authorRate    = 10
	checkRate     = 200
	groupRate     = 5

	walkPause   = 15 * time.Second // between dials of unknown members
	activeTime  = 2 * time.Minute
	banTime     = 10 * time.Minute
	dialTimeout = 10 * time.Second
)

// hop is the time of a message between two agents, as in the crowds of package sim.
const hop = 50 * time.Millisecond

// parted reports whether a partition separates two agents.
func (f *fleet) parted(a, b *agentState) bool { return a.second != b.second && f.Split.holds(f.now()) }

// canDial reports whether an agent has the record of another. It is a random sample of the agents.
func (f *fleet) canDial(id, other int32) bool {
	if f.running <= memberRecords {
		return true
	}
	x := uint64(id)<<32 ^ uint64(other) ^ f.salt
	x = (x ^ x>>31) * 0x9e3779b97f4a7c15
	x = (x ^ x>>29) * 0xbf58476d1ce4e5b9
	x ^= x >> 32
	return float64(x>>11)/(1<<53) < memberRecords/float64(f.running)
}

// connect makes a connection from one agent to another, unless that is impossible.
func (f *fleet) connect(id, other int32) bool {
	a, b := f.agents[id], f.agents[other]
	if id == other || b.gone || f.parted(a, b) || a.linkTo(other) != nil || f.refuses(a, other) || f.refuses(b, id) {
		return false
	}
	a.links = append(a.links, link{peer: other, since: f.now(), delivered: -time.Hour})
	b.links = append(b.links, link{peer: id, since: f.now(), delivered: -time.Hour})
	a.meet(other)
	b.meet(id)
	f.graft(id)
	f.graft(other)
	f.prune(id)
	f.prune(other)
	if !a.large {
		f.answer(id, other)
	}
	if !b.large {
		f.answer(other, id)
	}
	return true
}

func (f *fleet) refuses(a *agentState, other int32) bool {
	return len(a.banned) > 0 && f.now() < a.banned[other]
}

func (f *fleet) disconnect(id, other int32) {
	drop := func(a *agentState, peer int32) {
		a.links = slices.DeleteFunc(a.links, func(l link) bool { return l.peer == peer })
	}
	drop(f.agents[id], other)
	drop(f.agents[other], id)
}

// prune closes connections above the maximum until three quarters are left: silent peers first, none of the mesh, none younger than a minute.
func (f *fleet) prune(id int32) {
	a := f.agents[id]
	if len(a.links) <= nethost.MaxConnections {
		return
	}
	worth := func(l link) int {
		if f.now()-l.delivered < activeTime {
			return 1
		}
		return 0
	}
	all := slices.DeleteFunc(slices.Clone(a.links), func(l link) bool { return l.mesh || f.now()-l.since < time.Minute })
	f.rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	slices.SortStableFunc(all, func(x, y link) int { return cmp.Compare(worth(x), worth(y)) })
	for _, l := range all[:min(len(all), len(a.links)-nethost.MaxConnections*3/4)] {
		f.disconnect(id, l.peer)
	}
}

// graft fills the mesh of an agent from its connections.
func (f *fleet) graft(id int32) {
	a := f.agents[id]
	size := meshSize(a)
	if size >= pubsub.GossipSubDlo {
		return
	}
	for _, i := range f.rng.Perm(len(a.links)) {
		l := &a.links[i]
		b := f.agents[l.peer]
		if size == pubsub.GossipSubD {
			return
		}
		if !l.mesh && !f.parted(a, b) && meshSize(b) < pubsub.GossipSubDhi {
			l.mesh = true
			b.linkTo(id).mesh = true
			size++
		}
	}
}

func meshSize(a *agentState) (size int) {
	for i := range a.links {
		if a.links[i].mesh {
			size++
		}
	}
	return size
}

// walk keeps the connections of an agent: it dials as many members as it lacks active peers, or else one.
func (f *fleet) walk(id int32) {
	a := f.agents[id]
	active := 0
	for _, l := range a.links {
		if f.now()-max(l.delivered, l.since) < activeTime && !f.parted(a, f.agents[l.peer]) {
			active++
		}
	}
	for range max(minActive-active, 1) {
		for range 8 { // tries to find a member that it may dial
			other := int32(f.rng.IntN(len(f.agents)))
			if (active < minActive || !a.met[other]) && !f.agents[other].gone && f.canDial(id, other) && f.connect(id, other) {
				break
			}
		}
	}
	f.graft(id)
}
