package agent

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/largetopic"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
)

// recall gives a driver's agent what another has kept.
func (d *driver) recall(received PeerShares) (results []ShareResult) {
	d.t.Helper()
	for author, epoch := range received.Distrusted {
		d.agent.Distrust(author, epoch)
	}
	for _, kept := range received.Shares {
		if kept.ConflictingShare != nil {
			c, err := protocol.OpenEquivocationProof(kept.Envelope, kept.ConflictingShare)
			if err != nil {
				d.t.Fatal(err)
			}
			d.agent.Equivocators(d.now, c)
			continue
		}
		share, err := protocol.Open(kept.Envelope)
		if err != nil {
			d.t.Fatal(err)
		}
		result, _ := d.agent.RestorePeerShare(d.now, share, d.now.Sub(kept.Sent), kept.Connected)
		d.carryOut()
		results = append(results, result)
	}
	return results
}

func authors(received PeerShares) (all []peer.ID) {
	for _, kept := range received.Shares {
		share, err := protocol.Open(kept.Envelope)
		if err != nil {
			panic(err)
		}
		all = append(all, share.Author)
	}
	return all
}

// What was heard lives over a restart with its age and runs out when it would
// have without one; who was caught lying stays a liar.
func TestHeardLivesOverARestart(t *testing.T) {
	d := newDriver(t, configOf(t, newTask(t, "cup", concurrent), 1))
	key, liar := fbotest.Key(t, 50), fbotest.Key(t, 51)
	stamp := protocol.Stamp{Epoch: 1, Sequence: 1}
	d.receive(say(t, d, key, "weights", 0, stamp, 3*time.Hour, weights(t, 3, 1)))
	d.receive(say(t, d, key, "presence", 0, protocol.Stamp{Epoch: 1, Sequence: 2}, time.Minute, presenceOf(t)))
	d.receive(say(t, d, liar, "weights", 0, stamp, 3*time.Hour, weights(t, 3, 1)))
	if result := d.receive(say(t, d, liar, "weights", 0, stamp, 3*time.Hour, weights(t, 3, 2))); result != Equivocation {
		t.Fatalf("two shares with one stamp: %v", result)
	}
	d.pass(time.Hour)
	before := d.agent.View(d.now).Shares
	received := d.agent.PeerShares(d.now)
	if len(received.Shares) != 2 || received.Shares[1].ConflictingShare == nil || len(received.Distrusted) != 1 {
		t.Fatalf("kept: %+v", received)
	}

	d.pass(time.Hour)
	d.start()
	d.events = nil
	if results := d.recall(received); !slices.Equal(results, []ShareResult{Accepted}) {
		t.Fatalf("results %v", results)
	}
	after := d.agent.View(d.now).Shares
	if len(after) != 1 || after[0].Digest != before[0].Digest {
		t.Errorf("the view has %v, before the restart %v", after, before)
	}
	if len(d.events) != 0 || len(d.agent.Counts().Received) != 0 {
		t.Errorf("a share of an earlier run counts as received in this one: %v", d.events)
	}
	if result := d.receive(say(t, d, liar, "weights", 0, protocol.Stamp{Epoch: 1, Sequence: 9}, time.Hour, weights(t, 3, 1))); result != Stale {
		t.Errorf("a share of the liar's old epoch: %v", result)
	}
	d.pass(61 * time.Minute)
	if left := d.agent.View(d.now).Shares; len(left) != 0 {
		t.Errorf("three hours after it was sent the share is valid still: %v", left)
	}
	d.start()
	if results := d.recall(received); !slices.Equal(results, []ShareResult{Stale}) {
		t.Errorf("recalled when it had run out: %v", results)
	}
}

// Of authors that were never met the first are kept, and of those that were met
// all; one of the first that is met makes room for another.
func TestOthersCanFillOnlyAPartOfTheDisk(t *testing.T) {
	d := newDriver(t, configOf(t, newTask(t, "cup", concurrent), 1))
	var ids []peer.ID
	for i := range maxUnmet + 20 {
		key := fbotest.Key(t, 100+i)
		id, err := peer.IDFromPrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
		d.receive(say(t, d, key, "weights", 0, protocol.Stamp{Epoch: 1, Sequence: 1}, time.Hour, weights(t, 3, 1)))
		d.agent.PeerShares(d.now) // a node asks whenever something is new
	}
	if kept := authors(d.agent.PeerShares(d.now)); len(kept) != maxUnmet || slices.ContainsFunc(ids[maxUnmet:], func(id peer.ID) bool { return slices.Contains(kept, id) }) {
		t.Errorf("%d authors are kept, want the first %d", len(kept), maxUnmet)
	}
	for _, id := range ids[maxUnmet:] {
		d.agent.Joined(id, "")
	}
	if !d.agent.Ready().PeerShares {
		t.Error("to meet an author changes what is kept")
	}
	received := d.agent.PeerShares(d.now)
	if len(received.Shares) != len(ids) {
		t.Errorf("%d authors are kept, want all %d of which %d were met", len(received.Shares), len(ids), 20)
	}
	d.start()
	d.recall(received)
	if again := d.agent.PeerShares(d.now); len(again.Shares) != len(ids) {
		t.Errorf("after a restart %d authors are kept, want %d", len(again.Shares), len(ids))
	}
}

// Of a full table names that nobody has met take the places of such names alone,
// however long those are silent that were met: a keeper holds them for later.
func TestUnknownNamesDoNotDisplaceThoseThatWereMet(t *testing.T) {
	s, now := newShares("self"), epochStart
	s.met = map[peer.ID]bool{"newcomer": true}
	share := func(author string, at time.Time) ShareResult {
		news := protocol.Share{Key: protocol.Key{Author: peer.ID(author), Kind: "weights"},
			Stamp: protocol.Stamp{Epoch: 1, Sequence: 1}, TTL: 24 * time.Hour}
		result, _ := s.judge(at, news, Source{})
		if result == Accepted {
			s.put(strategy.Share{Share: news}, at, 0, Source{})
		}
		return result
	}
	for i := range maxAuthors {
		name := fmt.Sprintf("author %04d", i)
		s.met[peer.ID(name)] = i < maxAuthors-1
		share(name, now)
	}
	later := now.Add(largetopic.ProtectedTime + time.Second)
	for i := range 5 {
		if result := share(fmt.Sprintf("made up %d", i), later); (result == Accepted) != (i == 0) {
			t.Errorf("made-up name %d: %v; want the one place of another that was never met", i, result)
		}
	}
	if share("newcomer", later) != Accepted || s.authors() != maxAuthors {
		t.Errorf("one that was met has no place among %d", s.authors())
	}
	for i := range maxAuthors - 1 {
		if _, held := s.held[protocol.Key{Author: peer.ID(fmt.Sprintf("author %04d", i)), Kind: "weights"}]; !held {
			t.Fatalf("author %d, which was met, is forgotten", i)
		}
	}
}

// A keeper says nothing and is no member, but passes on what it holds and what it
// has once shared itself.
func TestKeeperOnlyPassesOn(t *testing.T) {
	spec := newTask(t, "cup", concurrent)
	author, keeper, late := newDriver(t, configOf(t, spec, 1)), newDriver(t, configOf(t, spec, 2)), newDriver(t, configOf(t, spec, 3))
	keeper.run(3, bowl) // it was an ordinary node once
	keeper.take()
	keeper.cfg.Keep = true
	keeper.start()
	author.run(3, bowl)
	exchange(author, keeper, late)
	for range 60 {
		keeper.pass(10 * time.Second)
	}
	if statements := keeper.take(); len(statements) != 0 {
		t.Errorf("the keeper published %v", statements)
	}
	if len(keeper.agent.Present(keeper.now).Present) > 2 || keeper.agent.Present(keeper.now).Has(keeper.self()) {
		t.Errorf("the keeper counts itself: %v", keeper.agent.Present(keeper.now))
	}
	late.start() // has heard nothing
	for _, item := range keeper.agent.Since(keeper.now, late.agent.Digest()) {
		share, err := protocol.Open(item.Envelope)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := late.agent.Receive(keeper.now, share, item.Age); err != nil {
			t.Fatal(err)
		}
	}
	var got []peer.ID
	for _, share := range late.agent.View(keeper.now).Shares {
		got = append(got, share.Author)
	}
	for _, id := range []peer.ID{author.self(), keeper.self()} {
		if !slices.Contains(got, id) {
			t.Errorf("the latecomer has shares of %v, %v is missing", got, id)
		}
	}
	keeper.agent.Ask(keeper.now, 77)
	keeper.carryOut()
	if last := keeper.answers[len(keeper.answers)-1]; last.Request != 77 || !errors.Is(last.Err, ErrKeeping) {
		t.Errorf("asked a keeper: %+v", last)
	}
}

// Keep hands back what runs and says goodbye; what is computed then is not said
// any more.
func TestKeepEndsTheOwnPart(t *testing.T) {
	spec := newTask(t, "cup", concurrent)
	d, other := newDriver(t, configOf(t, spec, 1)), newDriver(t, configOf(t, spec, 2))
	exchange(d, other)
	d.pass(2 * time.Second)
	exchange(d, other)
	if !other.agent.Present(other.now).Has(d.self()) {
		t.Fatal("the other does not see it")
	}
	d.run(2, bowl)
	d.hold = true
	d.agent.Ask(d.now, 90)
	d.carryOut()
	d.hold = false
	trialsBefore := len(d.agent.Trials())
	d.agent.Keep(d.now)
	d.carryOut()
	d.finish()
	exchange(d, other)
	if other.agent.Present(other.now).Has(d.self()) {
		t.Error("the other still takes it for present")
	}
	if !d.agent.Keeping() || !d.agent.Settled() || len(d.agent.Trials()) != trialsBefore {
		t.Errorf("keeping %v, settled %v, %d trials, before %d", d.agent.Keeping(), d.agent.Settled(), len(d.agent.Trials()), trialsBefore)
	}
	if last := d.answers[len(d.answers)-1]; last.Request != 90 || !errors.Is(last.Err, ErrKeeping) {
		t.Errorf("who asked before is answered %+v", last)
	}
	d.pass(time.Minute)
	if statements := d.take(); len(statements) != 0 {
		t.Errorf("it still says %v", statements)
	}
}

// A first design that is random in any case is not held back.
func TestRandomStartsAreNotHeld(t *testing.T) {
	cfg := configOf(t, newTask(t, "cup", concurrent), 1)
	cfg.Hold = true
	if d := newDriver(t, cfg); d.ask().Why.Source != strategy.Initial {
		t.Error("the first design is not random")
	}
}

func TestHeldUntilReleased(t *testing.T) {
	hold := func(t *testing.T) *driver {
		cfg := configOf(t, newTask(t, "cup", "type: peer-prior, initial_designs: 2"), 1)
		cfg.Hold = true
		d := newDriver(t, cfg)
		d.agent.Ask(d.now, 1)
		d.carryOut()
		if len(d.answers) != 0 || !d.agent.Held() {
			t.Fatalf("answers %v, held %v", d.answers, d.agent.Held())
		}
		return d
	}
	t.Run("release", func(t *testing.T) {
		d := hold(t)
		d.agent.Release(d.now)
		d.carryOut()
		if len(d.answers) != 1 || d.answers[0].Err != nil || d.agent.Held() {
			t.Errorf("answers %v, held %v", d.answers, d.agent.Held())
		}
	})
	t.Run("import", func(t *testing.T) {
		d := hold(t)
		design := d.cfg.Task.Space.Decode(make([]float64, d.cfg.Task.Space.Dim()))
		if _, err := d.agent.Import(d.now, []Past{{Design: design, Outcome: strategy.Outcome{Value: 1}}}); err != nil {
			t.Fatal(err)
		}
		d.carryOut()
		if len(d.answers) != 1 || d.agent.Held() {
			t.Errorf("answers %v, held %v", d.answers, d.agent.Held())
		}
	})
	t.Run("offer", func(t *testing.T) {
		d := hold(t)
		d.agent.Release(d.now)
		d.carryOut()
		d.start() // the trial is cut off, and offered again although the agent holds back
		if trial := d.ask(); trial.ID != 1 || !d.agent.Held() {
			t.Errorf("trial %d, held %v", trial.ID, d.agent.Held())
		}
	})
}

func TestEvaluationTime(t *testing.T) {
	d := newDriver(t, configOf(t, newTask(t, "cup", concurrent), 1))
	for i, span := range []time.Duration{time.Minute, 3 * time.Minute} {
		if got, want := d.agent.EvaluationTime(), time.Duration(i)*time.Minute; got != want {
			t.Errorf("after %d trials %v, want %v", i, got, want)
		}
		trial := d.ask()
		d.pass(span)
		if err := d.agent.Fail(d.now, trial.ID, "no luck"); err != nil {
			t.Fatal(err)
		}
	}
	if got := d.agent.EvaluationTime(); got != 2*time.Minute {
		t.Errorf("%v, want the average of 1m and 3m", got)
	}
}

// Nobody tells anything about tasks whose strategy shares nothing.
func TestNothingIsWaitedForWhereNothingIsShared(t *testing.T) {
	for _, keys := range []string{"type: ts", "type: logei", "type: ucb", "type: mes"} {
		cfg := configOf(t, newTask(t, "cup", keys), 1)
		cfg.Hold = true
		d := newDriver(t, cfg)
		d.agent.Ask(d.now, 1)
		d.carryOut()
		if len(d.answers) != 1 || d.agent.Held() {
			t.Errorf("%s: answers %v, held %v", keys, d.answers, d.agent.Held())
		}
	}
}

// A node that goes on as a keeper counts what it passes on of its own.
func TestOwnSharesAreCounted(t *testing.T) {
	d := newDriver(t, configOf(t, newTask(t, "cup", concurrent), 1))
	if own := d.agent.OwnShares(d.now); own != 0 {
		t.Errorf("%d shares before the first evaluation", own)
	}
	for range 5 {
		if err := d.agent.Tell(d.now, d.ask().ID, strategy.Outcome{Value: 1}); err != nil {
			t.Fatal(err)
		}
		d.carryOut()
	}
	if own := d.agent.OwnShares(d.now); own == 0 {
		t.Error("no share after five evaluations")
	}
	if authors, shares := d.agent.Knowledge(d.now); authors+shares != 0 {
		t.Errorf("%d authors and %d shares of others", authors, shares)
	}
}
