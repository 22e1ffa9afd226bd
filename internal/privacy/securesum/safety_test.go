package securesum

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/strategy"
)

// attack is a round under a scheduler that delivers in any order, late, twice or
// never, and restarts agents between any two outputs. It has as many members on
// its side as the threshold says: those deal and sum honestly, but vote for any
// set, and make certificates of all votes that were ever sent. Mostly it cuts the
// agents into two sides, tells each of a vote for another set, and keeps the
// votes of one from the other.
type attack struct {
	*world
	shape    shape
	quorum   int              // that agents go by
	traitors set              // by rank
	members  []int            // roster indices, by rank
	votes    map[string]votes // by set, of honest members
	summed   map[string]bool  // sets of which an honest member sent a sum
	forget   bool             // restarts lose the journal
	side     []int            // of each agent, 0 or 1
	sets     [2]set           // what the sides are to vote for
	flight   []flying
	names    [][32]byte // of the headers that were dealt
	broken   string     // the first promise that was broken
}

type flying struct {
	from, to int
	data     []byte
	attack   bool
}

// votes for one set, by rank.
type votes map[int]*vote

func newAttack(t testing.TB, cfg Config, quorum int, seed uint64) *attack {
	a := &attack{world: newWorld(t, cfg, seed), quorum: quorum, votes: map[string]votes{}, summed: map[string]bool{}, names: make([][32]byte, len(cfg.Roster))}
	a.lose = func(_, _ int) bool { return true } // run delivers
	a.sent = a.watch
	a.tune = func(e *Exchange) { e.cfg.Committee.Quorum = quorum } // unchecked, so that a wrong one can be shown to be wrong
	for _, x := range a.agents {
		a.tune(x.exchange)
	}
	a.shape, a.members = a.agents[0].exchange.shape, a.elected(1)
	a.traitors = newSet(cfg.Committee.Members)
	for _, rank := range a.random.Perm(cfg.Committee.Members)[:cfg.Committee.Threshold] {
		a.traitors.add(rank)
	}
	for range cfg.Roster {
		a.side = append(a.side, a.random.IntN(2))
	}
	return a
}

func (a *attack) breach(format string, args ...any) {
	if a.broken == "" {
		a.broken = fmt.Sprintf(format, args...)
	}
}

// watch sees what agents send, and holds honest members to their word.
func (a *attack) watch(from, to int, data []byte) {
	m, err := a.shape.decode(data)
	if err != nil {
		a.t.Fatal(err)
	}
	if m.kind == kindShare {
		a.names[from] = a.agents[from].exchange.name(dealing{1, from}, m.header)
	}
	rank := slices.Index(a.members, from)
	traitor := rank >= 0 && a.traitors.has(rank)
	if !traitor || m.status.vote == nil { // traitors vote by lies alone
		a.flight = append(a.flight, flying{from, to, data, false})
	}
	if rank < 0 || traitor {
		return
	}
	if v := m.status.vote; v != nil {
		for other, votes := range a.votes {
			if votes[rank] != nil && other != string(v.set) {
				a.breach("member %d voted for %08b and %08b", rank, []byte(other), v.set)
			}
		}
		if a.votes[string(v.set)] == nil {
			a.votes[string(v.set)] = votes{}
		}
		if a.votes[string(v.set)][rank] == nil && a.random.IntN(2) == 0 {
			a.agents[from].fuse = a.random.IntN(2 * len(a.side)) // while it tells the others
		}
		a.votes[string(v.set)][rank] = v
	}
	if m.kind == kindSum {
		if a.summed[string(m.certificate.set)] = true; len(a.summed) > 1 {
			a.breach("sums over two sets were sent")
		}
	}
}

func (a *attack) run(steps int) {
	for i := range a.agents {
		if a.random.IntN(10) == 0 {
			a.agents[i].fuse = a.random.IntN(8)
		}
		a.contribute(i)
	}
	for k := range steps {
		i := a.random.IntN(len(a.agents))
		if x := a.agents[i]; !x.alive && a.random.IntN(10) == 0 {
			if a.forget {
				x.journal = nil
			}
			a.side[i] = 1 - a.side[i]
			a.boot(i)
		}
		switch p := a.random.IntN(100); {
		case p < 80:
			a.fly(k < steps*2/3)
		case p < 88:
			a.step(i, strategy.Timer{Name: tickTimer})
		case p < 89:
			a.agents[i].fuse = a.random.IntN(10)
		case k < steps/8:
		case p < 97:
			a.attack(i)
		default:
			a.forge(i)
		}
	}
	a.judge()
}

// fly takes a message out of the air, and delivers it, or loses it, or delivers
// it and puts it back. While the sides are cut, nothing passes from which one
// could learn what the other votes for.
func (a *attack) fly(cut bool) {
	if len(a.flight) == 0 {
		return
	}
	k := a.random.IntN(len(a.flight))
	m := a.flight[k]
	vote := m.data[1] == kindCertificate || m.data[1] == kindSum || m.data[1] == kindStatus && m.data[headerBytes]&^flagNamed != 0
	if cut && vote && a.side[m.from] != a.side[m.to] && !m.attack {
		return
	}
	p := a.random.IntN(100)
	if p < 97 {
		a.flight[k] = a.flight[len(a.flight)-1]
		a.flight = a.flight[:len(a.flight)-1]
	}
	if p > 2 {
		a.step(m.to, strategy.Direct{From: a.cfg.Roster[m.from], Data: m.data})
	}
}

// target is a set worth voting for: that of the agent's side, anything an honest
// member voted for, or that but one.
func (a *attack) target(to int) set {
	if a.sets[0].count() <= a.cfg.MinContributors {
		a.sets[0] = a.everywhere()
		a.sets[1] = a.sets[0].clone()
		a.sets[1].remove(a.members[a.random.IntN(len(a.members))])
	}
	if a.random.IntN(8) > 0 {
		return a.sets[a.side[to]]
	}
	s := a.sets[0].clone()
	for _, key := range slices.Sorted(maps.Keys(a.votes)) {
		if a.random.IntN(2) == 0 {
			s = set(key).clone()
		}
	}
	if a.random.IntN(2) == 0 {
		s.remove(a.random.IntN(len(a.side)))
	}
	return s
}

// everywhere are the contributors whose shares all members hold that hold any.
func (a *attack) everywhere() set {
	s := fullSet(len(a.side))
	for _, i := range a.members {
		x := a.agents[i]
		if x.alive && x.exchange.current != nil && x.exchange.current.held.count() > 0 {
			for k := range a.side {
				if !x.exchange.current.held.has(k) {
					s.remove(k)
				}
			}
		}
	}
	return s
}

func (a *attack) forgedVote(rank int, s set) *vote {
	r := &round{e: a.anyone(), number: 1}
	c := a.choice(s)
	signature, _ := testSign(a.cfg.Roster[a.members[rank]])(r.statement(c))
	return &vote{c, signature}
}

// choice is a set under the headers that were dealt.
func (a *attack) choice(s set) choice {
	return (&round{names: a.names}).choice(s)
}

func (a *attack) anyone() *Exchange { return &Exchange{shape: a.shape} }

// attack tells one agent of a traitor's vote.
func (a *attack) attack(to int) {
	rank, target := a.random.IntN(len(a.members)), a.target(to)
	if !a.traitors.has(rank) || target.count() < a.cfg.MinContributors {
		return
	}
	s := status{held: fullSet(len(a.cfg.Roster)), sums: newSet(len(a.members)), vote: a.forgedVote(rank, target)}
	a.flight = append(a.flight, flying{a.members[rank], to, a.shape.encode(message{round: 1, kind: kindStatus, status: s}), true})
}

// forge sends, if it can, a certificate of honest votes and the traitors'.
func (a *attack) forge(to int) {
	s := a.target(to)
	c := certificate{choice: a.choice(s), voters: newSet(len(a.members))}
	for rank := range a.members {
		v := a.votes[string(s)][rank]
		if v == nil && a.traitors.has(rank) {
			v = a.forgedVote(rank, s)
		}
		if v != nil {
			c.voters.add(rank)
			c.signatures = append(c.signatures, v.signature)
		}
	}
	a.flight = append(a.flight, flying{a.members[a.random.IntN(len(a.members))], to, a.shape.encode(message{round: 1, kind: kindCertificate, certificate: c}), true})
}

// judge looks at what could be made of all that was ever sent.
func (a *attack) judge() {
	certifiable := 0
	for _, votes := range a.votes {
		if len(votes)+a.traitors.count() >= a.quorum {
			certifiable++
		}
	}
	if certifiable > 1 {
		a.breach("%d sets have a certificate", certifiable)
	}
	var contributors []string
	for i, x := range a.agents {
		for _, o := range x.outcomes {
			if !a.right(o) {
				a.breach("agent %d: wrong sum %+v", i, o)
			}
			if o.Err == nil {
				contributors = append(contributors, fmt.Sprint(o.Contributors))
			}
		}
	}
	slices.Sort(contributors)
	if len(slices.Compact(contributors)) > 1 {
		a.breach("agents know sums over two sets")
	}
}

var attacked = []struct{ n, members, threshold int }{{3, 3, 1}, {4, 4, 1}, {5, 5, 1}, {6, 5, 2}, {9, 7, 3}}

func attackConfig(t testing.TB, i int) Config {
	c := attacked[i]
	cfg := configOf(t, c.n, committeeOf(t, c.members, c.threshold))
	cfg.Deal, cfg.Turn, cfg.Deadline = 2, 2, 40
	return cfg
}

// No schedule, with restarts, crashes and traitors, gets two sets of a round
// summed, or a wrong sum.
func TestNoScheduleGetsTwoSets(t *testing.T) {
	sums, rounds := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		for i := range attacked {
			cfg := attackConfig(t, i)
			a := newAttack(t, cfg, cfg.Committee.Quorum, seed)
			a.run(200 * len(cfg.Roster))
			if a.broken != "" {
				rt.Fatalf("%+v: %s", attacked[i], a.broken)
			}
			sums += len(a.summed)
			rounds++
		}
	})
	if 10*sums < rounds {
		t.Errorf("only %d of %d rounds came as far as a sum, so that the test says little", sums, rounds)
	}
}

// The same attacks succeed where they must: against a quorum that is smaller by
// one, and against agents that forget their votes.
func TestAttacksHavePower(t *testing.T) {
	succeeded := map[string]int{}
	for i, c := range attacked {
		for seed := range uint64(40) {
			cfg := attackConfig(t, i)
			small := newAttack(t, cfg, cfg.Committee.Quorum-1, seed)
			forgetful := newAttack(t, cfg, cfg.Committee.Quorum, seed)
			forgetful.forget = true
			for name, a := range map[string]*attack{"smaller quorum": small, "lost journal": forgetful} {
				if a.run(300 * c.n); a.broken != "" {
					succeeded[name]++
				}
			}
		}
	}
	t.Logf("of 200 attacks each: %v", succeeded)
	if succeeded["smaller quorum"] < 3 || succeeded["lost journal"] < 3 {
		t.Errorf("of 200 attacks each succeeded only %v", succeeded)
	}
}
