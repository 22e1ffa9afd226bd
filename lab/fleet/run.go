package fleet

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/internal/largetopic"
	"github.com/fbo-node/fbo/internal/virtualtime"
)

// began is the start of virtual time: an arbitrary date.
var began = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

type eventKind uint8

const (
	starts  eventKind = iota // an agent starts
	beats                    // an agent sends its presence
	fetches                  // an agent fetches
	helps                    // an agent asks another peer for the share of an author that it could not dial
	arrives                  // a share arrives
	ticks                    // an agent keeps its connections, and compares shares
	ends                     // an agent is replaced
	samples                  // delivery is measured
)

type event struct {
	kind          eventKind
	agent, author int32
	from          int32
	number        uint32 // of a share
}

// fleet is the state of a simulation.
type fleet struct {
	Scenario
	limits agent.LargeTopic
	direct bool // every author can be asked itself; for tests
	rng    *rand.Rand
	salt   uint64
	events virtualtime.Queue[event]

	agents  []*agentState
	running int // number of agents that have started and run

	turn       uint32
	seen       []uint32   // turn of the latest message that each agent has seen
	holders    [][]holder // of each author; places that it has lost are removed late
	placed     []uint32   // turn at which each agent had a place for the author
	placeOf    []int32    // this place
	acquainted []uint32   // turn at which each agent had met the author
	queue      []step
	forwarders []step
	announcers []largetopic.Candidate[int32]
	latest     []int32
	chosen     []int32

	result  Result
	census  census
	reached float64 // sum over the messages of honest agents of the part of the agents that accept each
	beats   int     // number of these messages
}

// Run simulates a scenario. Equal scenarios have equal results.
func Run(s Scenario) (Result, error) {
	f, err := newFleet(s)
	if err != nil {
		return Result{}, err
	}
	return f.run(), nil
}

func newFleet(s Scenario) (*fleet, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	f := &fleet{Scenario: s, limits: agent.DefaultLargeTopic(), rng: s.Seed.Stream("fleet", 0)}
	f.salt = f.rng.Uint64()
	for i := range s.Agents {
		f.add(time.Duration(i)*s.Starts/time.Duration(s.Agents), false)
	}
	for i := range s.Newcomers {
		f.add(s.From+time.Duration(i)*(s.Till-s.From)/time.Duration(s.Newcomers), true)
	}
	for at := s.From; at <= s.Till; at += time.Minute {
		f.schedule(at, event{kind: samples})
	}
	return f, nil
}

// add adds an agent that starts at a time. Added newcomers are honest.
func (f *fleet) add(at time.Duration, honestly bool) {
	a := &agentState{
		name: strconv.Itoa(len(f.agents)), gone: true, second: len(f.agents)%2 == 1, born: at, first: -1, newcomer: at >= f.From, wakes: -1,
		met: map[int32]bool{}, banned: map[int32]time.Duration{}, wrong: map[int32]int{}, slots: map[int32]int32{}, groups: map[int32]int32{},
		choice: largetopic.NewChoice[int32](f.rng),
	}
	if !honestly && f.rng.Float64() < f.Hostile {
		if a.behaviour = silent + behaviour(f.rng.IntN(3)); a.behaviour == flood && f.NoFlood {
			a.behaviour = silent
		}
	}
	// The first contact introduces members, and the agent dials them.
	f.schedule(at+4*hop, event{kind: starts, agent: int32(len(f.agents))})
	if f.Working && at < f.Starts {
		a.worked = time.Duration(f.rng.Int64N(int64(f.ShareEvery)))
	}
	f.agents, f.seen, f.placed, f.placeOf = append(f.agents, a), append(f.seen, 0), append(f.placed, 0), append(f.placeOf, 0)
	f.holders, f.acquainted = append(f.holders, nil), append(f.acquainted, 0)
}

func (f *fleet) now() time.Duration { return f.events.Now() }

func (f *fleet) clock() time.Time { return began.Add(f.now()) }

// idOf returns the ID that determines when an agent first sends in a large topic.
func (f *fleet) idOf(id int32) peer.ID { return peer.ID(fmt.Sprintf("%d %d", f.salt, id)) }

func (f *fleet) schedule(at time.Duration, e event) { f.events.Schedule(at, e) }

func (f *fleet) run() Result {
	for at, ok := f.events.Next(); ok && at <= f.Till; at, ok = f.events.Next() {
		f.carryOut(f.events.Take())
	}
	return f.summary()
}

func (f *fleet) carryOut(e event) {
	if e.kind == samples {
		f.sample()
		return
	}
	if e.kind == starts {
		f.start(e.agent)
		return
	}
	a := f.agents[e.agent]
	if a.gone {
		return
	}
	switch e.kind {
	case beats:
		f.beat(e.agent)
	case fetches:
		if f.now() == a.wakes {
			f.fetch(e.agent)
		}
	case helps:
		f.askHelper(e.agent, e.author)
	case arrives:
		f.arrive(e.agent, e.author, e.from, e.number)
	case ticks:
		f.walk(e.agent)
		if a.ticks++; a.ticks%int(time.Minute/walkPause) == 0 && a.behaviour == honest {
			f.compare(e.agent)
		}
		f.schedule(f.now()+walkPause, event{kind: ticks, agent: e.agent})
	case ends:
		f.end(e.agent)
	}
}

// start lets an agent join: it connects to as many members as it wants active peers.
func (f *fleet) start(id int32) {
	a := f.agents[id]
	a.gone = false
	f.running++
	for range 4 * minActive {
		if len(a.links) >= minActive || f.running <= 1 {
			break
		}
		f.connect(id, int32(f.rng.IntN(len(f.agents))))
	}
	f.measure(a)
	f.announce(id, 1)
	f.schedule(f.now()+presence.Interval, event{kind: beats, agent: id})
	f.schedule(f.now()+time.Duration(f.rng.Int64N(int64(walkPause))), event{kind: ticks, agent: id})
	if f.Churn > 0 {
		life := time.Duration(f.rng.ExpFloat64() / f.Churn * float64(time.Hour))
		f.schedule(f.now()+min(life, 100*time.Hour), event{kind: ends, agent: id})
	}
}

// end ends an agent without notice. Another one enters.
func (f *fleet) end(id int32) {
	a := f.agents[id]
	for _, l := range slices.Clone(a.links) {
		f.disconnect(id, l.peer)
	}
	a.gone = true
	f.running--
	f.add(f.now(), false)
	a.places, a.known, a.slots, a.groups, a.met = nil, nil, nil, nil, nil
}

// census has sums over the agents at some times.
type census struct {
	agents, present, authors, hostileKnown, chosen, hostileChosen float64

	honest, some, age float64 // chosen honest authors that run, those of which the agent has a share, and the age of these
	wanted, delivered float64
}

// sample adds what the agents know at present to the census.
func (f *fleet) sample() {
	c := &f.census
	for _, a := range f.agents {
		if a.gone || a.behaviour != honest || a.newcomer {
			continue
		}
		c.agents++
		c.present += float64(a.count(f.now()))
		for i := range a.places {
			c.authors++
			if f.agents[a.places[i].Author].behaviour != honest {
				c.hostileKnown++
			}
		}
		for author := range a.choice.Chosen {
			c.chosen++
			b := f.agents[author]
			if b.behaviour != honest {
				c.hostileChosen++
				continue
			}
			if b.gone {
				continue
			}
			c.honest++
			i, ok := a.slots[author]
			if ok && a.known[i].has > 0 {
				c.some++
				c.age += float64(f.now() - b.born + b.worked - time.Duration(a.known[i].has)*f.ShareEvery)
			}
			if ok && f.now()-a.known[i].received < time.Minute {
				continue // perhaps it has just been announced
			}
			c.wanted++
			if ok && a.known[i].has > 0 && a.known[i].has >= a.known[i].announced {
				c.delivered++
			}
		}
	}
}

func ratio(part, of float64) float64 {
	if of == 0 {
		return 0
	}
	return part / of
}

func (f *fleet) summary() Result {
	r, c := f.result, f.census
	r.Known, r.Present, r.HostileKnown = ratio(c.authors, c.agents), ratio(c.present, c.agents), ratio(c.hostileKnown, c.authors)
	r.Chosen, r.HostileChosen = ratio(c.chosen, c.agents), ratio(c.hostileChosen, c.chosen)
	r.Delivered, r.Any, r.Age = ratio(c.delivered, c.wanted), ratio(c.some, c.honest), ratio(c.age, c.some)/float64(time.Second)
	r.Agents, r.Reach = f.running, ratio(f.reached, float64(f.beats))
	var agents, entered float64
	for _, a := range f.agents {
		if a.behaviour != honest {
			continue
		}
		if a.newcomer {
			switch {
			case a.first >= 0:
				r.First = append(r.First, a.first)
			case f.Till-a.born >= time.Minute && !a.gone:
				r.Without++
			}
			entered++
			r.NewcomerBytes += a.caught
			continue
		}
		if a.gone {
			continue
		}
		agents++
		for _, c := range []struct {
			sum *float64
			of  float64
		}{
			{&r.Messages, a.messages}, {&r.Gossip, a.gossip}, {&r.Copies, a.copies}, {&r.Fetches, a.fetches},
			{&r.Failed, a.failed}, {&r.Fetched, a.fetched}, {&r.Compared, a.compared},
		} {
			*c.sum += c.of
		}
	}
	per := agents * (f.Till - f.From).Minutes()
	for _, sum := range []*float64{&r.Messages, &r.Gossip, &r.Copies, &r.Fetches, &r.Failed, &r.Fetched, &r.Compared} {
		*sum = ratio(*sum, per)
	}
	r.NewcomerBytes = ratio(r.NewcomerBytes, entered)
	slices.SortFunc(r.First, cmp.Compare)
	return r
}
