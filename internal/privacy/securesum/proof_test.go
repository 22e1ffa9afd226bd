package securesum

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/strategy"
)

// cheat commits a dealer to other parts than those that its checks are of.
func cheat(t testing.TB, e *Exchange, round uint64, good, dealt []part) deals {
	t.Helper()
	d, h := dealing{round, e.self}, header{}
	for rank, p := range dealt {
		h.commitments = append(h.commitments, e.commitment(d, rank, p))
	}
	weights := e.weights(d, h.commitments)
	for _, p := range good[:e.cfg.Committee.Threshold+1] {
		h.checks = append(h.checks, combine(weights, p))
	}
	signature, err := e.cfg.Sign(e.statement(d, h))
	if err != nil {
		t.Fatal(err)
	}
	h.signature = signature
	return deals{h, dealt}
}

// spoilt are parts of which those of these members are wrong in one number.
func spoilt(good []part, ranks []int, number int) []part {
	parts := slices.Clone(good)
	for _, rank := range ranks {
		parts[rank].values = slices.Clone(parts[rank].values)
		parts[rank].values[number] = add(parts[rank].values[number], element(1+rank))
	}
	return parts
}

func (w *world) split(i int, round uint64) deals {
	w.t.Helper()
	var vector []element
	for _, v := range w.vector(i, round) {
		vector = append(vector, encode(v))
	}
	d, err := w.agents[i].exchange.split(round, vector)
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}

// give sends deals as the contribution of an agent to its next round; those of the second kind
// go to members of odd rank.
func (w *world) give(i int, even, odd deals) {
	w.t.Helper()
	e := w.agents[i].exchange
	round, ok := e.Next()
	if !ok {
		w.t.Fatalf("agent %d cannot contribute", i)
	}
	if e.current == nil || e.current.number != round {
		e.open(round)
	}
	r := e.current
	r.dealt = true
	for rank, member := range r.committee {
		d := even
		if rank%2 == 1 {
			d = odd
		}
		switch {
		case member != i:
			e.send(member, message{round: round, kind: kindShare, header: d.header, part: d.parts[rank]})
		default:
			r.keep(i, d.header, d.parts[rank])
		}
	}
	w.carry(i, e.take())
}

// exposed fails unless all living agents but the dealer have the round's right sum without it,
// and name it.
func (w *world) exposed(round uint64, dealer, contributors int) {
	w.t.Helper()
	w.everybodyGot(round, contributors)
	for i, a := range w.agents {
		if !a.alive {
			continue
		}
		k := slices.IndexFunc(a.outcomes, func(o Outcome) bool { return o.Round == round })
		if o := a.outcomes[k]; !slices.Equal(o.Disqualified, w.cfg.Roster[dealer:dealer+1]) || slices.Contains(o.Contributors, w.cfg.Roster[dealer]) || o.Outvoted != nil {
			w.t.Fatalf("agent %d: %+v; want %d named and left out", i, o, dealer)
		}
	}
}

func TestPartsOfAnHonestDealerFit(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := rapid.SampledFrom(attacked).Draw(rt, "case")
		cfg := configOf(t, c.n, committeeOf(t, c.members, c.threshold))
		cfg.Dimension = rapid.IntRange(1, 9).Draw(rt, "dimension")
		w := newWorld(t, cfg, rapid.Uint64().Draw(rt, "seed"))
		dealer, judge := w.agents[1].exchange, w.agents[0].exchange
		d := dealing{rapid.Uint64Range(1, cfg.Rounds).Draw(rt, "round"), 1}
		deals, err := dealer.split(d.round, vectorOf(rt, cfg.Dimension, "vector"))
		if err != nil {
			rt.Fatal(err)
		}
		if !judge.signed(d, deals.header) {
			rt.Fatal("the signature does not count")
		}
		for rank, p := range deals.parts {
			if !judge.opens(d, deals.header, rank, p) || !judge.fits(d, deals.header, rank, p) {
				rt.Fatalf("part %d does not fit", rank)
			}
			if judge.proves(message{round: d.round, kind: kindComplaint, dealer: 1, rank: rank, header: deals.header, part: p}) {
				rt.Fatalf("part %d is a proof", rank)
			}
		}
		// One number that is wrong, that of a mask too, shows to whom it went, and to nobody else.
		victim := rapid.IntRange(0, c.members-1).Draw(rt, "victim")
		wrong := cheat(t, dealer, d.round, deals.parts, spoilt(deals.parts, []int{victim}, rapid.IntRange(0, cfg.Dimension+masks-1).Draw(rt, "number")))
		for rank, p := range wrong.parts {
			if !judge.opens(d, wrong.header, rank, p) || judge.fits(d, wrong.header, rank, p) != (rank != victim) {
				rt.Fatalf("part %d, of which %d is wrong, fits: %v", rank, victim, rank == victim)
			}
		}
	})
}

// A hash depends on all that it is of, so that no part of one member, dealer, round or task
// passes for one of another, and no part can be tried without its salt.
func TestCommitmentsToDifferentParts(t *testing.T) {
	w := newWorld(t, configOf(t, 5, committeeOf(t, 5, 1)), 1)
	other := w.cfg
	other.Task = taskID(t, "other")
	o := newWorld(t, other, 1)
	e, d, p := w.agents[0].exchange, dealing{1, 2}, w.split(0, 1).parts[0]
	salt, value := part{slices.Clone(p.salt), p.values}, part{p.salt, slices.Clone(p.values)}
	salt.salt[saltBytes-1]++
	value.values[len(p.values)-1]++
	seen := map[[32]byte]bool{}
	for _, c := range [][32]byte{
		e.commitment(d, 0, p), e.commitment(d, 1, p), e.commitment(dealing{2, 2}, 0, p), e.commitment(dealing{1, 3}, 0, p),
		e.commitment(d, 0, salt), e.commitment(d, 0, value), o.agents[0].exchange.commitment(d, 0, p),
	} {
		if seen[c] {
			t.Error("two hashes are equal")
		}
		seen[c] = true
	}
}

// Without masks the checks at 0 would be combinations of the vector.
func TestMasksAreDrawn(t *testing.T) {
	w := newWorld(t, configOf(t, 5, committeeOf(t, 5, 1)), 1)
	h := w.split(0, 1).header
	var answers []answer
	for k, values := range h.checks {
		answers = append(answers, answer{element(k + 1), values})
	}
	bare := part{values: make([]element, w.cfg.Dimension+masks)}
	for k, v := range w.vector(0, 1) {
		bare.values[k] = encode(v)
	}
	for i, v := range combine(w.agents[0].exchange.weights(dealing{1, 0}, h.commitments), bare) {
		if interpolate(answers, 0)[i] == v {
			t.Errorf("mask %d is zero", i)
		}
	}
}

// Who has a proof proposes a set without the dealer, although everybody else holds its parts.
func TestAProposerLeavesOutTheDisqualified(t *testing.T) {
	a := newAlone(t, 0)
	a.shares(1, 2, 3, 4)
	a.ticks(4)
	for rank := 1; rank < 5; rank++ {
		a.tell(rank, a.status(a.of(1, 2, 3, 4), nil))
	}
	first, second := a.dealt(3, 3, 7), a.dealt(3, 3, 8)
	a.tell(1, message{kind: kindContradiction, dealer: a.peer(3), header: first.header, other: second.header})
	a.ticks(1)
	a.votedFor(a.of(1, 2, 4))
}

// A dealer that knew the weights could make wrong parts that fit. They follow from its
// commitments, so that other parts have other weights.
func TestWrongPartsAreNotMadeToMeasure(t *testing.T) {
	cfg := configOf(t, 7, committeeOf(t, 7, 3))
	cfg.Dimension = masks + 1
	w := newWorld(t, cfg, 1)
	e := w.agents[0].exchange
	d := dealing{1, 0}
	good := w.split(0, 1)
	weights := e.weights(d, good.header.commitments)
	var equations [][]element
	for _, row := range weights {
		equations = append(equations, append(slices.Clone(row[:masks]), subtract(0, row[masks])))
	}
	parts := slices.Clone(good.parts)
	parts[5].values = slices.Clone(parts[5].values)
	addTo(parts[5].values, append(solve(equations, masks), 1))
	if slices.Equal(parts[5].share(), good.parts[5].share()) || !slices.Equal(combine(weights, parts[5]), combine(weights, good.parts[5])) {
		t.Fatal("the part is not wrong, or was not made to measure")
	}
	wrong := cheat(t, e, 1, good.parts, parts)
	if e.fits(d, wrong.header, 5, wrong.parts[5]) {
		t.Error("a wrong part fits")
	}
	wrong.header.checks = good.header.checks
	if e.fits(d, wrong.header, 5, wrong.parts[5]) {
		t.Error("a wrong part fits the checks of others")
	}
}

// However many members get wrong parts, the others have the sum without their dealer, in time,
// and so in the next round, for which it deals as it should.
func TestADealerOfWrongPartsIsExposed(t *testing.T) {
	for _, c := range []struct{ n, members, threshold int }{{4, 4, 1}, {7, 7, 3}, {12, 5, 1}, {20, 20, 9}} {
		outvoted := (c.members - c.threshold - 1) / 2
		for _, wrong := range []int{1, outvoted + 1, c.members - 1} {
			t.Run(fmt.Sprintf("%d agents, %d of %d, %d wrong", c.n, c.threshold, c.members, wrong), func(t *testing.T) {
				w := newWorld(t, configOf(t, c.n, committeeOf(t, c.members, c.threshold)), uint64(wrong))
				members := w.elected(1)
				dealer := members[c.members-1]
				good := w.split(dealer, 1)
				bad := cheat(t, w.agents[dealer].exchange, 1, good.parts, spoilt(good.parts, upTo(wrong), 0))
				w.give(dealer, bad, bad)
				for i := range w.agents {
					if i != dealer {
						w.contribute(i)
					}
				}
				w.pass(time.Second)
				w.exposed(1, dealer, c.n-1)
				if _, ok := w.agents[dealer].exchange.Next(); ok {
					t.Error("the dealer goes on to contribute for nothing")
				}
				w.agents[dealer].exchange.disqualified.remove(dealer) // but it does
				for i := range w.agents {
					w.contribute(i)
				}
				w.agents[dealer].exchange.disqualified.add(dealer)
				w.pass(time.Second)
				w.exposed(2, dealer, c.n-1)
				for i, a := range w.agents {
					if i != dealer && a.exchange.current.held.has(dealer) {
						t.Errorf("agent %d has accepted a deal", i)
					}
				}
			})
		}
	}
}

// Two headers of one dealer are a proof, although every member's part fits the one it got.
func TestADealerOfTwoHeadersIsExposed(t *testing.T) {
	for _, c := range []struct{ n, members, threshold int }{{4, 4, 1}, {7, 7, 3}, {12, 5, 1}} {
		w := newWorld(t, configOf(t, c.n, committeeOf(t, c.members, c.threshold)), 1)
		dealer := w.elected(1)[1]
		w.give(dealer, w.split(dealer, 1), w.split(dealer, 1))
		for i := range w.agents {
			if i != dealer {
				w.contribute(i)
			}
		}
		w.pass(w.length())
		w.exposed(1, dealer, c.n-1)
	}
}

// Another header to the same member is a proof as well, and another signature is none.
func TestSecondHeaderProvesEquivocation(t *testing.T) {
	a := newAlone(t, 2)
	a.shares(0, 1)
	again := a.share(1, 1, 7)
	again.header.signature = make([]byte, signatureBytes)
	a.tell(1, again)
	forged := a.share(1, 1, 8)
	forged.header.signature = make([]byte, signatureBytes)
	a.tell(1, forged)
	if a.me.exchange.disqualified.count() > 0 {
		t.Fatal("what the dealer has not signed counts against it")
	}
	a.tell(0, a.share(0, 1, 8))
	if got := a.me.exchange.disqualified; !got.equal(a.of(0)) || !slices.Contains(a.kinds(), kindContradiction) {
		t.Errorf("disqualified %08b, sent %v", got, a.kinds())
	}
}

// What is no part of the round counts as if nothing had come, and not against its dealer.
func TestPartsThatAreNone(t *testing.T) {
	a := newAlone(t, 2)
	other := a.share(0, 1, 7)
	other.part.values[0]++
	unsigned := a.share(0, 1, 7)
	unsigned.header.checks[0][0]++
	stranger := a.share(1, 1, 7)
	earlier := a.share(0, 1, 7)
	earlier.round = 2
	a.ticks(1)
	for name, m := range map[string]message{"another part": other, "other checks": unsigned, "another dealer's": stranger} {
		a.tell(0, m)
		if a.round().held.count() > 0 || a.me.exchange.disqualified.count() > 0 || slices.Contains(a.kinds(), kindComplaint) {
			t.Fatalf("%s: counts", name)
		}
	}
	a.me.exchange.current.abort(ErrLeftBehind)
	a.tell(0, earlier) // opens the next round
	if a.round().number != 2 || a.round().held.count() > 0 || a.me.exchange.disqualified.count() > 0 {
		t.Error("a deal of an earlier round counts")
	}
}

// Without a misdeed of the dealer there is no proof, and who claims one is heard no more.
func TestFalseComplaintsCountForNothing(t *testing.T) {
	a := newAlone(t, 2)
	honest := a.dealt(0, 1, 7)
	d := dealing{1, a.peer(0)}
	resigned := honest.header
	resigned.signature = make([]byte, signatureBytes)
	later, err := a.agents[d.dealer].exchange.seal(2, honest.parts)
	if err != nil {
		t.Fatal(err)
	}
	lied := part{honest.parts[1].salt, slices.Clone(honest.parts[1].values)}
	lied.values[0]++
	forged := cheat(t, a.agents[a.peer(1)].exchange, 1, honest.parts, spoilt(honest.parts, []int{3}, 0))
	proof := cheat(t, a.agents[d.dealer].exchange, 1, honest.parts, spoilt(honest.parts, []int{3}, 0))
	unsigned := proof.header
	unsigned.signature = forged.header.signature
	for name, m := range map[string]message{
		"a part that fits":         {kind: kindComplaint, rank: 1, header: honest.header, part: honest.parts[1]},
		"a part of its own making": {kind: kindComplaint, rank: 1, header: honest.header, part: lied},
		"a part of another":        {kind: kindComplaint, rank: 1, header: honest.header, part: honest.parts[2]},
		"a deal of its own":        {kind: kindComplaint, rank: 3, header: forged.header, part: forged.parts[3]},
		"an unsigned deal":         {kind: kindComplaint, rank: 3, header: unsigned, part: proof.parts[3]},
		"a proof of another round": {kind: kindComplaint, round: 2, rank: 3, header: proof.header, part: proof.parts[3]},
		"one header twice":         {kind: kindContradiction, header: honest.header, other: honest.header},
		"another signature":        {kind: kindContradiction, header: honest.header, other: resigned},
		"headers of two rounds":    {kind: kindContradiction, header: honest.header, other: later.header},
	} {
		a := newAlone(t, 2)
		checks := 0
		a.me.exchange.cfg.Verify = func(id peer.ID, statement, signature []byte) bool {
			checks++
			return testVerify(id, statement, signature)
		}
		m.dealer = d.dealer
		for range 50 {
			a.tell(1, m)
		}
		if len(a.me.warnings) != 1 || !strings.Contains(a.me.warnings[0], "node "+a.cfg.Roster[a.peer(1)].String()+" says") || checks > 2 {
			t.Errorf("%s: %d checks, warnings %q", name, checks, a.me.warnings)
		}
		real := message{kind: kindComplaint, dealer: d.dealer, rank: 3, header: proof.header, part: proof.parts[3]}
		a.tell(1, real)
		if e := a.me.exchange; e.disqualified.count() > 0 || e.current != nil || len(a.me.journal) > 0 || len(a.sent) > 0 {
			t.Errorf("%s: counts", name)
		}
		a.tell(3, real)
		if e := a.me.exchange; !e.disqualified.equal(a.of(0)) || e.current != nil {
			t.Errorf("%s: a true one does not count any more", name)
		}
	}
}

// Who was away when a dealer was exposed hears of it from the others, and who restarts remembers.
func TestProofsReachWhoMissedThem(t *testing.T) {
	w := newWorld(t, configOf(t, 7, committeeOf(t, 7, 3)), 1)
	dealer, away, restarts := w.elected(1)[1], w.elected(1)[2], w.elected(1)[3]
	w.crash(away)
	good := w.split(dealer, 1)
	bad := cheat(t, w.agents[dealer].exchange, 1, good.parts, spoilt(good.parts, []int{4}, 1))
	w.give(dealer, bad, bad)
	for i := range w.agents {
		if i != dealer {
			w.contribute(i)
		}
	}
	w.pass(w.length())
	w.exposed(1, dealer, 5)
	w.boot(away)
	w.crash(restarts)
	w.boot(restarts)
	if e := w.agents[restarts].exchange; !e.disqualified.has(dealer) || e.proofs[dealer] != nil {
		t.Fatal("after a restart it does not remember the dealer, or has the proof on disk")
	}
	w.pass(10 * time.Second) // it comes back into the round that is over
	w.agents[dealer].exchange.disqualified.remove(dealer)
	for i := range w.agents {
		w.contribute(i)
	}
	w.pass(w.length())
	w.exposed(2, dealer, 6)
}

// Where the proof is late, a vote for a set with the dealer in it is followed: whoever holds
// the parts adds up what fits.
func TestALateProofDoesNotEndARound(t *testing.T) {
	a := newAlone(t, 2)
	a.shares(0, 1, 3, 4)
	all := a.of(0, 1, 3, 4)
	first := a.dealt(0, 0, 7)
	second := a.dealt(0, 1, 7)
	a.tell(3, message{kind: kindContradiction, dealer: a.peer(0), header: first.header, other: second.header})
	a.tell(1, a.status(all, a.signed(1, all, 1)))
	a.ticks(5)
	a.votedFor(all)
	if s := a.sent[len(a.sent)-1].status; s.held.has(a.peer(0)) {
		t.Error("the dealer's part is said to be held")
	}
	a.tell(1, message{kind: kindCertificate, certificate: a.certificate(all, 1, 0, 1, 3, 4)})
	if !slices.Contains(a.kinds(), kindSum) {
		t.Error("the sum of the certified set is not sent")
	}
}

// A member does not vote for, nor add up, what it holds under other headers.
func TestOtherHeadersAreNotVotedFor(t *testing.T) {
	a := newAlone(t, 2)
	a.shares(0, 1, 3, 4)
	all := a.of(0, 1, 3, 4)
	v, c := a.signed(1, all, 1), a.certificate(all, 1, 0, 1, 3, 4)
	a.crash(a.me.index)
	a.boot(a.me.index)
	a.shares(1, 3, 4)
	a.tell(0, a.share(0, 0, 8))
	a.tell(1, a.status(all, v))
	a.ticks(6)
	a.votedFor(nil)
	a.tell(1, message{kind: kindCertificate, certificate: c})
	if a.round().certificate == nil || slices.Contains(a.kinds(), kindSum) {
		t.Error("the sum of a set with another header is sent")
	}
}

// A record of another roster disqualifies nobody.
func TestDisqualifiedByAnotherConfiguration(t *testing.T) {
	a := newAlone(t, 2)
	a.me.journal = append(a.me.journal, record{kind: recordDisqualified, round: 1, digest: [32]byte{9}, dealer: 900}.encode())
	a.crash(a.me.index)
	a.boot(a.me.index)
	if e := a.me.exchange; e.broken != nil || e.disqualified.count() > 0 {
		t.Errorf("%v, disqualified %08b", e.broken, e.disqualified)
	}
	a.step(a.me.index, strategy.Timer{Name: tickTimer})
}
