package fleet

import (
	"math"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"

	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/internal/largetopic"
)

// message is a presence message.
type message struct {
	author    int32
	announced uint32
	lifetime  time.Duration
	bytes     int
}

// step is the way of a message to one agent. With a weight above 1 it stands for as many messages.
type step struct {
	to, from int32
	weight   float64
}

// publish brings a message to all agents that it reaches. With a weight above 1 it stands for as many.
func (f *fleet) publish(m message, weight float64) {
	f.turn++
	f.seen[m.author] = f.turn
	author := f.agents[m.author]
	f.findPlaces(m.author)
	queue, forwarders := f.queue[:0], f.forwarders[:0]
	for _, l := range author.links {
		queue = append(queue, step{l.peer, m.author, weight})
	}
	measured := f.now() >= f.From
	var accepted int64
	for next, lazy := 0, 0; ; {
		if next < len(queue) {
			s := queue[next]
			next++
			a := f.agents[s.to]
			if f.parted(a, f.agents[s.from]) {
				continue
			}
			if measured {
				a.copies += s.weight * float64(m.bytes)
			}
			if f.seen[s.to] == f.turn || f.refuses(a, m.author) || f.refuses(a, s.from) {
				continue
			}
			f.seen[s.to] = f.turn
			if !f.checks(a, m, s) {
				continue
			}
			if measured {
				a.messages += s.weight
				a.gossip += s.weight * float64(m.bytes)
			}
			took, forwards := f.receive(m, s)
			if took > 0 {
				accepted++
			}
			if took == 0 || !forwards || a.behaviour != honest {
				continue
			}
			forwarders = append(forwarders, step{to: s.to, weight: took})
			for i := range a.links {
				if l := &a.links[i]; l.mesh && l.peer != s.from && l.peer != m.author {
					queue = append(queue, step{l.peer, s.to, took})
				}
			}
			continue
		}
		if lazy == len(forwarders) {
			break
		}
		id, took := forwarders[lazy].to, forwarders[lazy].weight
		lazy++
		a := f.agents[id]
		part := lazyPart(len(a.links) - meshSize(a))
		for i := range a.links {
			if l := &a.links[i]; !l.mesh && f.seen[l.peer] != f.turn && f.rng.Float64() < part {
				queue = append(queue, step{l.peer, id, took}) // the peer asks for the message, once
			}
		}
	}
	f.queue, f.forwarders = queue, forwarders
	f.result.Sent++
	f.result.Accepted += accepted
	if measured && author.behaviour == honest {
		f.reached += float64(accepted) / float64(max(f.running-1, 1))
		f.beats++
	}
}

// findPlaces notes the agents that have a place for an author at the present turn, and those that have met it.
func (f *fleet) findPlaces(author int32) {
	held := f.holders[author][:0]
	for _, h := range f.holders[author] {
		a := f.agents[h.agent]
		if int(h.place) < len(a.places) && a.places[h.place].Author == author && f.placed[h.agent] != f.turn {
			f.placed[h.agent], f.placeOf[h.agent] = f.turn, h.place
			held = append(held, h)
		}
	}
	f.holders[author] = held
	for id := range f.agents[author].met { // meetings are mutual
		f.acquainted[id] = f.turn
	}
}

// lazyPart returns the part of the peers outside of the mesh that receive the ID of a message: in each heartbeat some of them.
func lazyPart(others int) float64 {
	if others == 0 {
		return 0
	}
	each := min(1, max(pubsub.GossipSubGossipFactor, float64(pubsub.GossipSubDlazy)/float64(others)))
	return 1 - math.Pow(1-each, float64(pubsub.GossipSubHistoryGossip))
}

// demandTime is the time over which the rate of floods is averaged.
const demandTime = time.Minute

// checks reports whether an agent checks a message, within its limits of signatures. Peers have a separate budget for their own messages.
func (f *fleet) checks(a *agentState, m message, s step) bool {
	if a.demand > 0 || s.weight > 1 {
		a.demand *= math.Exp(-(f.now() - a.demanded).Seconds() / demandTime.Seconds())
		a.demanded = f.now()
	}
	if s.weight > 1 {
		a.demand += s.weight / demandTime.Seconds()
	}
	limit := float64(checkRate + groupRate*len(a.links))
	return a.demand <= limit || s.from == m.author && s.weight == 1 || f.rng.Float64() < limit/a.demand
}

// receive passes messages to an agent. It returns how many the agent accepts, and whether it forwards these.
func (f *fleet) receive(m message, s step) (accepts float64, forwards bool) {
	id, from := s.to, s.from
	a := f.agents[id]
	i := f.placeOf[id]
	if f.placed[id] != f.turn {
		var ok bool
		if i, ok = f.newPlace(id, m.author, from, f.acquainted[id] == f.turn); !ok {
			return 0, false
		}
	}
	k := &a.known[i]
	if a.large {
		if accepts = f.admit(a, k, s.weight); accepts == 0 {
			return 0, false
		}
	} else {
		accepts = s.weight
	}
	k.announced, k.expires, k.received = max(k.announced, m.announced), f.now()+m.lifetime, f.now()
	a.places[i].Received = f.clock().UnixNano()
	for _, peer := range []int32{from, m.author} {
		if l := a.linkTo(peer); l != nil {
			l.delivered = f.now()
		}
	}
	if !a.large && f.now()-a.measured >= time.Second {
		f.measure(a)
	}
	f.consider(id, i)
	return accepts, k.relays
}

// admit returns how many of some messages of an author an agent accepts in a large topic.
func (f *fleet) admit(a *agentState, k *known, messages float64) (accepts float64) {
	for ; accepts < messages; accepts++ {
		spent, ok := largetopic.Admit(began.Add(k.spent), f.clock(), presence.Pause(true, a.present))
		if k.spent = spent.Sub(began); !ok {
			break
		}
	}
	return accepts
}

// measure decides whether the topic is large.
func (f *fleet) measure(a *agentState) {
	a.measured, a.present = f.now(), a.count(f.now())
	a.large = largetopic.IsLarge(a.large, a.present, f.limits.Above)
}

// beat sends an agent's presence, and schedules the next one.
func (f *fleet) beat(id int32) {
	a := f.agents[id]
	f.measure(a)
	pause := presence.Pause(a.large, a.present)
	if a.large && !a.beaten {
		pause = presence.FirstPause(f.idOf(id), a.present)
	}
	a.beaten = a.large
	weight := 1.0
	if a.behaviour == flood && a.large {
		pause = demandTime
		weight = authorRate * pause.Seconds()
	}
	f.announce(id, weight)
	f.schedule(f.now()+pause, event{kind: beats, agent: id})
}

// announce sends an agent's presence, with its newest share in a large topic.
func (f *fleet) announce(id int32, weight float64) {
	a := f.agents[id]
	m := message{author: id, lifetime: presence.Lifetime(a.large, a.present), bytes: f.Message.Small}
	if a.large {
		m.bytes, m.announced = f.Message.Presence, f.newest(a)
	}
	f.publish(m, weight)
}

// newest returns the number of an agent's newest share. Hostile agents claim to have as many.
func (f *fleet) newest(a *agentState) uint32 {
	return uint32((f.now() - a.born + a.worked) / f.ShareEvery)
}
