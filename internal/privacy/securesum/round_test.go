package securesum

import (
	"crypto/sha256"
	"errors"
	"slices"
	"testing"

	"github.com/fbo-node/fbo/strategy"
)

// alone is one agent in a round of five, all of whom serve, with a threshold of
// one and so a quorum of four; the test plays the others.
type alone struct {
	*world
	rank int
	me   *agent
	sent []message
}

func newAlone(t *testing.T, rank int) *alone {
	w := newWorld(t, configOf(t, 5, committeeOf(t, 5, 1)), 1)
	a := &alone{world: w, rank: rank, me: w.agents[w.elected(1)[rank]]}
	w.lose = func(_, _ int) bool { return true }
	w.sent = func(from, _ int, data []byte) {
		m, err := a.shape().decode(data)
		if err != nil || from != a.me.index {
			t.Fatal(from, err)
		}
		a.sent = append(a.sent, m)
	}
	return a
}

func (a *alone) shape() shape      { return a.me.exchange.shape }
func (a *alone) round() *round     { return a.me.exchange.current }
func (a *alone) peer(rank int) int { return a.elected(1)[rank] }
func (a *alone) kinds() (kinds []byte) {
	for _, m := range a.sent {
		kinds = append(kinds, m.kind)
	}
	return kinds
}

// tell plays a message of the member of this rank.
func (a *alone) tell(rank int, m message) {
	a.t.Helper()
	if m.round == 0 {
		m.round = 1
	}
	a.step(a.me.index, strategy.Direct{From: a.cfg.Roster[a.peer(rank)], Data: a.shape().encode(m)})
}

func (a *alone) ticks(n int) {
	for range n {
		a.step(a.me.index, strategy.Timer{Name: tickTimer})
	}
}

// shares plays the contributions of these members.
func (a *alone) shares(ranks ...int) {
	for _, rank := range ranks {
		a.tell(rank, a.share(rank, element(rank), 7))
	}
}

// dealt are the deals of a member with the same numbers for everybody.
func (a *alone) dealt(rank int, numbers ...element) deals {
	a.t.Helper()
	var parts []part
	for range a.cfg.Committee.Members {
		parts = append(parts, part{make([]byte, saltBytes), append(slices.Clone(numbers), make([]element, masks)...)})
	}
	d, err := a.agents[a.peer(rank)].exchange.seal(1, parts)
	if err != nil {
		a.t.Fatal(err)
	}
	return d
}

// share is the agent's part of them.
func (a *alone) share(rank int, numbers ...element) message {
	d := a.dealt(rank, numbers...)
	return message{kind: kindShare, header: d.header, part: d.parts[a.rank]}
}

// names are those of the headers that the agent has of these contributors, else of those that
// shares plays.
func (a *alone) names(s set) [][32]byte {
	names := make([][32]byte, 0)
	for i := range a.cfg.Roster {
		switch r := a.round(); {
		case !s.has(i):
		case r != nil && r.headers[i] != nil:
			names = append(names, r.names[i])
		default:
			rank := slices.Index(a.elected(1), i)
			names = append(names, a.me.exchange.name(dealing{1, i}, a.dealt(rank, element(rank), 7).header))
		}
	}
	return names
}

func (a *alone) choice(s set) choice {
	h := sha256.New()
	for _, name := range a.names(s) {
		h.Write(name[:])
	}
	return choice{s, [32]byte(h.Sum(nil))}
}

// of is a set of contributors, by rank.
func (a *alone) of(ranks ...int) set {
	s := newSet(5)
	for _, rank := range ranks {
		s.add(a.peer(rank))
	}
	return s
}

func (a *alone) signed(rank int, s set, number uint64) *vote {
	r := &round{e: a.me.exchange, number: number}
	c := a.choice(s)
	signature, _ := testSign(a.cfg.Roster[a.peer(rank)])(r.statement(c))
	return &vote{c, signature}
}

func (a *alone) status(held set, v *vote) message {
	return message{kind: kindStatus, status: status{held: held, sums: newSet(5), vote: v, names: a.names(held)}}
}

func (a *alone) certificate(s set, number uint64, ranks ...int) certificate {
	c := certificate{choice: a.choice(s), voters: newSet(5)}
	for _, rank := range ranks { // in order
		c.voters.add(rank)
		c.signatures = append(c.signatures, a.signed(rank, s, number).signature)
	}
	return c
}

// own is the set that the agent has voted for, or nil.
func (a *alone) own() set {
	if v := a.round().votes[a.rank]; v != nil {
		return v.set
	}
	return nil
}

func (a *alone) votedFor(s set) {
	a.t.Helper()
	if !a.own().equal(s) {
		a.t.Fatalf("the vote is for %08b, want %08b", a.own(), s)
	}
}

func TestAMemberVotesOnlyForWhatItHolds(t *testing.T) {
	a := newAlone(t, 2)
	a.shares(0, 1, 3)
	a.ticks(5)
	proposed := a.of(0, 1, 3, 4)
	a.tell(0, a.status(proposed, a.signed(0, proposed, 1)))
	a.votedFor(nil)
	a.shares(4)
	a.votedFor(proposed)
}

func TestAMemberVotesWhenDealingIsOver(t *testing.T) {
	a := newAlone(t, 2)
	a.shares(0, 1, 3)
	proposed := a.of(0, 1, 3)
	a.tell(0, a.status(proposed, a.signed(0, proposed, 1)))
	a.ticks(4)
	a.votedFor(nil)
	a.ticks(1)
	a.votedFor(proposed)
}

func TestOnlyTheFirstProposesEarly(t *testing.T) {
	for rank, want := range []bool{true, false, false} {
		a := newAlone(t, rank)
		a.contribute(a.me.index)
		for other := range 5 {
			if other != rank {
				a.shares(other)
				a.tell(other, a.status(fullSet(5), nil))
			}
		}
		if got := a.own() != nil; got != want {
			t.Errorf("rank %d has voted: %v", rank, got)
		}
	}
}

func TestAProposerThatKnowsAVoteFollows(t *testing.T) {
	a := newAlone(t, 0)
	a.shares(1, 2, 3, 4)
	less := a.of(1, 2)
	a.tell(1, a.status(a.of(1, 2, 3, 4), nil))
	a.tell(2, a.status(a.of(1, 2, 3, 4), nil))
	a.tell(3, a.status(a.of(1, 2, 3, 4), nil))
	a.tell(4, a.status(a.of(1, 2, 3, 4), a.signed(4, less, 1)))
	a.ticks(5)
	a.votedFor(less)
}

// Whatever others vote for, a member that has voted in an earlier run says the
// same again.
func TestARestartDoesNotChangeAVote(t *testing.T) {
	a := newAlone(t, 2)
	a.shares(0, 1, 3, 4)
	first, other := a.of(0, 1, 3, 4), a.of(0, 1, 3)
	a.tell(0, a.status(first, a.signed(0, first, 1)))
	a.ticks(5)
	a.votedFor(first)
	a.crash(a.me.index)
	a.boot(a.me.index)
	a.sent = nil
	a.shares(0, 1, 3, 4)
	for _, rank := range []int{0, 1, 3, 4} {
		a.tell(rank, a.status(other, a.signed(rank, other, 1)))
	}
	a.ticks(6)
	a.votedFor(first)
	for _, m := range a.sent {
		if m.kind == kindStatus && (m.status.vote == nil || !m.status.vote.set.equal(first)) {
			t.Fatalf("after the restart: %+v", m.status)
		}
	}
	// It adds up over what the others agreed on.
	if !slices.Contains(a.kinds(), kindSum) || !a.round().certificate.set.equal(other) {
		t.Error("the certificate of the others does not count")
	}
}

// A vote of an earlier run under another configuration is not sent, and none in
// its place.
func TestAVoteUnderAnotherConfigurationIsSpent(t *testing.T) {
	a := newAlone(t, 2)
	a.shares(0, 1, 3)
	a.me.journal = append(a.me.journal, record{kind: recordVoted, round: 1, digest: [32]byte{9}, signature: make([]byte, signatureBytes), choice: a.of(0, 1)}.encode())
	a.crash(a.me.index)
	a.boot(a.me.index)
	a.shares(0, 1, 3)
	a.tell(0, a.status(a.of(0, 1, 3), a.signed(0, a.of(0, 1, 3), 1)))
	a.ticks(6)
	a.votedFor(nil)
}

// A round that others opened is taken up again after a restart.
func TestAnOpenedRoundIsRemembered(t *testing.T) {
	a := newAlone(t, 2)
	a.shares(0)
	a.crash(a.me.index)
	a.boot(a.me.index)
	if a.round() == nil || a.round().number != 1 {
		t.Fatal("the round is forgotten")
	}
	if next, ok := a.me.exchange.Next(); !ok || next != 1 {
		t.Error("the agent cannot contribute any more, although it has not")
	}
}

func TestForgeriesDoNotCount(t *testing.T) {
	a := newAlone(t, 2)
	a.shares(0, 1, 3, 4)
	s, small := a.of(0, 1, 3, 4), a.of(3)
	badly := a.certificate(s, 1, 0, 1, 3, 4)
	badly.signatures[2] = badly.signatures[1]
	elsewhere := a.certificate(s, 1, 0, 1, 3, 4)
	elsewhere.set = a.of(0, 1, 3)
	for name, c := range map[string]certificate{
		"three votes":     a.certificate(s, 1, 0, 1, 3),
		"a wrong vote":    badly,
		"another round":   a.certificate(s, 2, 0, 1, 3, 4),
		"another set":     elsewhere,
		"too small a set": a.certificate(small, 1, 0, 1, 3, 4),
		"voters mixed up": {choice: a.choice(s), voters: a.certificate(s, 1, 0, 1, 2, 3).voters, signatures: a.certificate(s, 1, 0, 1, 3, 4).signatures},
	} {
		a.tell(0, message{kind: kindCertificate, certificate: c})
		a.tell(1, message{kind: kindSum, certificate: c, vector: make([]element, 2)})
		if a.round().certificate != nil || a.round().sums[1] != nil {
			t.Fatalf("%s: accepted", name)
		}
	}
	a.tell(3, a.status(s, a.signed(4, s, 1)))
	a.tell(4, a.status(s, a.signed(4, s, 2)))
	if a.round().votes[3] != nil || a.round().votes[4] != nil {
		t.Fatal("a vote signed by somebody else, or in another round, counts")
	}
	a.tell(0, message{kind: kindCertificate, certificate: a.certificate(s, 1, 0, 1, 3, 4)})
	if a.round().certificate == nil || !slices.Contains(a.kinds(), kindSum) {
		t.Fatal("a good certificate does not count")
	}
	// One of the colluders might hold a vote more than the certificate.
	a.tell(1, message{kind: kindSum, certificate: a.certificate(a.of(0, 1), 1, 0, 1, 3, 4), vector: make([]element, 2)})
	if a.round().sums[1] != nil {
		t.Fatal("a sum over another set counts")
	}
}

// Of one contributor's shares the first counts, so that a sum is said once.
func TestTheFirstShareCounts(t *testing.T) {
	a := newAlone(t, 2)
	a.shares(0, 1, 3)
	a.tell(0, a.share(0, 55, 55))
	a.tell(0, message{kind: kindCertificate, certificate: a.certificate(a.of(0, 1, 3), 1, 0, 1, 3, 4)})
	if sum := a.round().sums[2]; !slices.Equal(sum, []element{0 + 1 + 3, 21}) {
		t.Errorf("sum %v", sum)
	}
}

// A member that lacks a share does not add up, and passes the certificate on.
func TestAMemberThatLacksAShareAbstains(t *testing.T) {
	a := newAlone(t, 2)
	a.shares(0, 1)
	a.tell(0, message{kind: kindCertificate, certificate: a.certificate(a.of(0, 1, 3), 1, 0, 1, 3, 4)})
	a.tell(4, a.status(a.of(0), nil))
	if kinds := a.kinds(); slices.Contains(kinds, kindSum) || !slices.Contains(kinds, kindCertificate) {
		t.Errorf("sent %v", kinds)
	}
}

// What is under way is not sent again in the same tick.
func TestSharesAreNotSentAgainAtOnce(t *testing.T) {
	a := newAlone(t, 2)
	a.contribute(a.me.index)
	a.sent = nil
	a.tell(0, a.status(newSet(5), nil))
	a.ticks(1)
	a.tell(0, a.status(newSet(5), nil))
	if slices.Contains(a.kinds(), kindShare) {
		t.Error("a share was sent again at once")
	}
	a.ticks(1)
	a.tell(0, a.status(newSet(5), nil))
	a.tell(0, a.status(newSet(5), nil))
	if n := len(slices.DeleteFunc(a.kinds(), func(k byte) bool { return k != kindShare })); n != 1 {
		t.Errorf("the share was sent again %d times", n)
	}
}

// With more than the threshold but less than a quorum of sums a round ends a
// turn later, with fewer at the deadline.
func TestRoundWithFewerSumsThanQuorum(t *testing.T) {
	for sums, want := range []int{-1, -1, 3, 3, 0} {
		a := newAlone(t, 2)
		c := a.certificate(fullSet(5), 1, 0, 1, 3, 4)
		for k, rank := range []int{0, 1, 3, 4}[:sums] {
			a.tell(rank, message{kind: kindSum, certificate: c, vector: []element{1, 1}})
			if over := a.round().over(); over != (k == 3) {
				t.Fatalf("after %d sums: over %v", k+1, over)
			}
		}
		if want > 0 {
			a.ticks(want - 1)
			if a.round().over() {
				t.Errorf("%d sums: over too early", sums)
			}
			a.ticks(1)
			if o := a.me.outcomes; len(o) != 1 || o[0].Err != nil || o[0].Answers != sums {
				t.Errorf("%d sums: %+v", sums, o)
			}
		}
		if want < 0 && sums > 0 {
			a.ticks(a.me.exchange.cfg.Deadline)
			if o := a.me.outcomes; len(o) != 1 || !errors.Is(o[0].Err, ErrTooFewSums) {
				t.Errorf("%d sums: %+v", sums, o)
			}
		}
	}
}

// TestColludersCannotSetASum lets the sums of colluding members and of one honest member arrive
// first. The false polynomial of degree t has the honest point. With MinAnswers 2t+1 the round waits
// for the others, which outvote the false sums, and has no sum without them.
func TestColludersCannotSetASum(t *testing.T) {
	for name, c := range map[string]struct {
		least, honest int
		want          int64 // the sum, 0 for none
	}{
		"threshold + 1":              {0, 1, 9},
		"2·threshold + 1":            {3, 3, 7},
		"2·threshold + 1, too few":   {3, 2, 0},
		"2·threshold + 1, no others": {3, 1, 0},
	} {
		a := newAlone(t, 3)
		a.me.exchange.cfg.MinAnswers = max(c.least, a.me.exchange.cfg.Committee.Threshold+1)
		cert := a.certificate(fullSet(5), 1, 0, 1, 3, 4)
		// The line through the honest answer of rank 1, which is 7+3·2, with the value 9 at 0.
		a.tell(0, message{kind: kindSum, certificate: cert, vector: []element{9 + 2, 9 + 2}})
		for _, rank := range []int{1, 2, 4}[:c.honest] {
			honest := 7 + 3*element(rank+1) // 7 is the sum
			a.tell(rank, message{kind: kindSum, certificate: cert, vector: []element{honest, honest}})
			a.ticks(a.me.exchange.cfg.Turn) // late for a round with enough answers
		}
		a.ticks(a.me.exchange.cfg.Deadline)
		o := a.me.outcomes
		if len(o) != 1 {
			t.Fatalf("%s: outcomes %+v, expected one", name, o)
		}
		if (o[0].Err == nil) != (c.want != 0) || c.want != 0 && o[0].Sum[0] != c.want {
			t.Errorf("%s: %+v, expected %d", name, o[0], c.want)
		}
	}
}

// Contributor and member that lack most are struck off, never more members than
// can be spared.
func TestCommonSetsDropFewestMembers(t *testing.T) {
	for _, c := range []struct {
		name string
		rows []string // of members, by contributor; empty: has said nothing
		want string
	}{
		{"everything", []string{"11111", "11111", "11111", "11111", "11111"}, "11111"},
		{"an absent contributor", []string{"11011", "11011", "11011", "11011", "11011"}, "11011"},
		{"one who vanished while dealing", []string{"11111", "11111", "11111", "11111", "11101"}, "11101"},
		{"a member that came back", []string{"11111", "11111", "00000", "11111", "11111"}, "11111"},
		{"and an absent contributor", []string{"11101", "11101", "00000", "11101", "11101"}, "11101"},
		{"two that came back, one too many", []string{"11111", "00001", "00001", "11111", "11111"}, "00001"},
		{"one that came back, one silent", []string{"11111", "00010", "", "11111", "11111"}, "00010"},
		{"one silent", []string{"11110", "11110", "", "11110", "11111"}, "11110"},
		{"nothing", []string{"00000", "00000", "00000", "00000", "00000"}, "00000"},
	} {
		a := newAlone(t, 0)
		a.shares(1)
		var ranks []int
		for rank, row := range c.rows {
			if row != "" {
				ranks = append(ranks, rank)
				a.round().rows[rank].held = setOf(row)
				a.round().rows[rank].names = a.names(setOf(row))
			}
		}
		if got := a.round().common(ranks); !got.equal(setOf(c.want)) {
			t.Errorf("%s: %08b, want %08b", c.name, got, setOf(c.want))
		}
	}
}

func setOf(text string) set {
	s := newSet(len(text))
	for i, c := range text {
		if c == '1' {
			s.add(i)
		}
	}
	return s
}

// Agents that differ in what they must have in common do not listen to each
// other.
func TestTheDigestTellsConfigurationsApart(t *testing.T) {
	base := configOf(t, 7, committeeOf(t, 5, 2))
	seen := map[[32]byte]bool{base.digest(): true}
	for _, change := range []func(*Config){
		func(c *Config) { c.Task = taskID(t, "other") },
		func(c *Config) { c.Roster = rosterOf(8) },
		func(c *Config) { c.Roster = rosterOf(8)[1:] },
		func(c *Config) { c.Committee.Members++ },
		func(c *Config) { c.Committee.Threshold++ },
		func(c *Config) { c.Committee.Quorum++ },
		func(c *Config) { c.MinContributors++ },
		func(c *Config) { c.Dimension++ },
		func(c *Config) { c.Rounds++ },
	} {
		c := base
		change(&c)
		if seen[c.digest()] {
			t.Errorf("%+v has the digest of another", c)
		}
		seen[c.digest()] = true
	}
}
