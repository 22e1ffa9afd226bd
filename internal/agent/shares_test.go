package agent

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/largetopic"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
)

// say seals whatever an author might say.
func say(t testing.TB, d *driver, key crypto.PrivKey, kind string, slot uint64, stamp protocol.Stamp, ttl time.Duration, payload []byte) protocol.Share {
	t.Helper()
	share, err := protocol.Seal(protocol.Share{
		Task: d.agent.id, Key: protocol.Key{Kind: kind, Slot: slot}, Stamp: stamp, TTL: ttl, Payload: payload,
	}, key)
	if err != nil {
		t.Fatal(err)
	}
	return share
}

func weights(t testing.TB, observations int, first float64) []byte {
	t.Helper()
	values := make([]float64, 16)
	values[0] = first
	payload, err := protocol.Weights{Observations: observations, Values: values}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return payload
}

func presenceOf(t testing.TB, ids ...peer.ID) []byte {
	t.Helper()
	payload, err := protocol.Presence{Members: protocol.MembersOf(ids)}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return payload
}

func TestReceiveVerdicts(t *testing.T) {
	d := newBowl(t)
	key := fbotest.Key(t, 50)
	at := func(epoch, sequence uint64) protocol.Stamp { return protocol.Stamp{Epoch: epoch, Sequence: sequence} }
	good := weights(t, 3, 1)
	elsewhere := newDriver(t, configOf(t, newTask(t, "coin", concurrent), 1))
	for i, c := range []struct {
		name  string
		share protocol.Share
		age   time.Duration
		want  ShareResult
	}{
		{"first", say(t, d, key, "weights", 0, at(2, 5), time.Hour, good), 0, Accepted},
		{"again", say(t, d, key, "weights", 0, at(2, 5), time.Hour, good), 0, Duplicate},
		{"again, older", say(t, d, key, "weights", 0, at(2, 5), time.Hour, good), time.Minute, Duplicate},
		{"the stamp of another", say(t, d, key, "weights", 0, at(2, 5), time.Hour, weights(t, 3, 2)), 0, Equivocation},
		{"an earlier sequence", say(t, d, key, "weights", 0, at(2, 4), time.Hour, good), 0, Stale},
		{"an earlier epoch", say(t, d, key, "weights", 0, at(1, 99), time.Hour, good), 0, Stale},
		{"a later epoch", say(t, d, key, "weights", 0, at(3, 1), time.Hour, good), 0, Accepted},
		{"run out", say(t, d, key, "weights", 0, at(3, 2), time.Hour, good), time.Hour, Stale},
		{"almost run out", say(t, d, key, "weights", 0, at(3, 2), time.Hour, good), time.Hour - time.Second, Accepted},
		{"too short", say(t, d, key, "weights", 0, at(3, 3), time.Hour, good[:20]), 0, Malformed},
		{"noise", say(t, d, key, "presence", 0, at(3, 3), time.Hour, []byte("?")), 0, Malformed},
		{"a kind of the future", say(t, d, key, "auction", 0, at(3, 3), time.Hour, []byte("?")), 0, Stale},
		{"another task", say(t, elsewhere, key, "weights", 0, at(3, 3), time.Hour, good), 0, Malformed},
	} {
		counts := d.agent.Counts().Received["weights"]
		result, err := d.agent.Receive(d.now, c.share, c.age)
		d.carryOut()
		if result != c.want {
			t.Errorf("%d, %s: %v, want %v", i, c.name, result, c.want)
		}
		if (err != nil) != (result == Malformed || result == Equivocation) || result == Malformed && !errors.Is(err, protocol.ErrMalformed) {
			t.Errorf("%s: %v with error %v", c.name, result, err)
		}
		if news := d.agent.Counts().Received["weights"] - counts; news == 1 != (result == Accepted) {
			t.Errorf("%s: counted %d", c.name, news)
		}
	}
}

func TestSharesRunOut(t *testing.T) {
	d := newBowl(t)
	share := say(t, d, fbotest.Key(t, 50), "weights", 0, protocol.Stamp{Epoch: 1, Sequence: 1}, time.Hour, weights(t, 3, 1))
	if result, _ := d.agent.Receive(d.now, share, 20*time.Minute); result != Accepted {
		t.Fatal(result)
	}
	d.carryOut()
	d.pass(40*time.Minute - 1)
	if len(d.agent.view(d.now).Shares) != 1 {
		t.Error("gone too early")
	}
	items := d.agent.Since(d.now, nil)
	i := slices.IndexFunc(items, func(i protocol.SyncItem) bool { return string(i.Envelope) == string(share.Envelope) })
	if i < 0 || items[i].Age != time.Hour-1 {
		t.Errorf("item %d of %v, want an age that counts both ways", i, items)
	}
	d.pass(1)
	if len(d.agent.view(d.now).Shares) != 0 {
		t.Error("still shown after its time")
	}
	for _, item := range d.agent.Since(d.now, nil) {
		if string(item.Envelope) == string(share.Envelope) {
			t.Error("still passed on after its time")
		}
	}
	if d.receive(share) != Duplicate {
		t.Error("a share that has run out came back to life")
	}
}

// The highest slots of an author are kept. One that would be dropped at once
// is not accepted in the first place, or sync would fetch it for ever.
func TestSlotsAreBounded(t *testing.T) {
	d := newTalker(t)
	key := fbotest.Key(t, 50)
	for i, slot := range []byte{5, 9, 7, 8} {
		share := say(t, d, key, "rounds", uint64(slot), protocol.Stamp{Epoch: 1, Sequence: uint64(i + 1)}, time.Hour, []byte{slot})
		if result := d.receive(share); result != Accepted {
			t.Errorf("slot %d: %v", slot, result)
		}
	}
	var slots []uint64
	for _, held := range d.agent.Digest() {
		if held.Kind == "rounds" {
			slots = append(slots, held.Slot)
		}
	}
	if !slices.Equal(slots, []uint64{7, 8, 9}) {
		t.Errorf("slots %v, want the three highest", slots)
	}
	late := say(t, d, key, "rounds", 6, protocol.Stamp{Epoch: 1, Sequence: 9}, time.Hour, []byte{6})
	if result := d.receive(late); result != Stale {
		t.Errorf("a slot below those kept: %v, want stale", result)
	}
}

// A peer has one voice, in however many slots it speaks: of each kind the agent takes
// what stands in the slot of its payload, and nothing else. What honest agents say
// stands there.
func TestSlotsGiveNoSecondVoice(t *testing.T) {
	settings := slices.Collect(maps.Values(readers))
	settings = append(settings, "type: ts", "type: fts, mode: one-shot, share_after: 2", "type: consensus, initial_designs: 2, mode: asynchronous")
	for _, keys := range settings {
		spec := newTask(t, "bowl", keys)
		honest, d := newDriver(t, configOf(t, spec, 1)), newDriver(t, configOf(t, spec, 2))
		for request := range uint64(4) {
			honest.agent.Ask(honest.now, request)
			honest.carryOut()
			honest.pass(time.Minute) // a strategy may wait for a round to end
			trial := honest.answers[len(honest.answers)-1].Trial
			honest.tell(trial.ID, bowl(trial.Design))
		}
		statements := map[string]bool{}
		sequence := uint64(0)
		for _, share := range honest.take() {
			statements[share.Kind] = true
			if result := d.receive(share); result != Accepted {
				t.Errorf("%s: %s in slot %d of an honest author: %v", keys, share.Kind, share.Slot, result)
			}
			for i, slot := range []uint64{0, 1, 2, 3, 4, 18, math.MaxUint64} {
				sequence++
				attack := say(t, d, fbotest.Key(t, 50+i), share.Kind, slot, protocol.Stamp{Epoch: 1, Sequence: sequence}, time.Hour, share.Payload)
				if result := d.receive(attack); result != Stale && slot != share.Slot {
					t.Errorf("%s: %s of slot %d in slot %d: %v", keys, share.Kind, share.Slot, slot, result)
				}
			}
		}
		if len(statements) != len(d.agent.Kinds()) {
			t.Errorf("%s: said was %v, the task has the kinds %v", keys, statements, d.agent.Kinds())
		}
	}
}

func TestAuthorsAreBounded(t *testing.T) {
	s := newShares("self")
	put := func(author string, at time.Time) {
		s.put(strategy.Share{Share: protocol.Share{
			Key: protocol.Key{Author: peer.ID(author), Kind: "weights"}, TTL: time.Hour,
		}}, at, 0, Source{})
	}
	put("self", epochStart.Add(-time.Hour))
	for i := range maxAuthors + 50 {
		put(fmt.Sprintf("author %04d", i), epochStart.Add(time.Duration(i)*time.Second))
	}
	if len(s.held) != maxAuthors+1 {
		t.Errorf("%d shares are held, want those of %d authors and the own", len(s.held), maxAuthors)
	}
	for author, want := range map[string]bool{"self": true, "author 0049": false, "author 0050": true} {
		if _, ok := s.held[protocol.Key{Author: peer.ID(author), Kind: "weights"}]; ok != want {
			t.Errorf("%s is held: %v, want %v", author, ok, want)
		}
	}
}

// Who floods the topic with new names gets the places of the silent, not of
// those that are heard.
func TestNewAuthorsDoNotDisplaceThoseThatAreHeard(t *testing.T) {
	s := newShares("self")
	now := epochStart
	share := func(author string, at time.Time) ShareResult {
		news := protocol.Share{Key: protocol.Key{Author: peer.ID(author), Kind: "weights"},
			Stamp: protocol.Stamp{Epoch: 1, Sequence: uint64(at.Sub(epochStart)) + 1}, TTL: time.Hour}
		result, _ := s.judge(at, news, Source{})
		if result == Accepted {
			s.put(strategy.Share{Share: news}, at, 0, Source{})
		}
		return result
	}
	for i := range maxAuthors {
		if result := share(fmt.Sprintf("author %04d", i), now); result != Accepted {
			t.Fatalf("author %d: %v", i, result)
		}
	}
	if result := share("newcomer", now.Add(time.Minute)); result != Stale {
		t.Errorf("a newcomer to a full task: %v", result)
	}
	if result := share("author 0003", now.Add(time.Minute)); result != Accepted {
		t.Errorf("one of the known: %v", result)
	}
	later := now.Add(largetopic.ProtectedTime + time.Second)
	if result := share("newcomer", later); result != Accepted {
		t.Errorf("a newcomer when others have fallen silent: %v", result)
	}
	if _, held := s.held[protocol.Key{Author: "author 0003", Kind: "weights"}]; !held || s.authors() != maxAuthors {
		t.Errorf("%d authors, the one that was heard among them: %v", s.authors(), held)
	}
}

// A stamp names one statement, whatever its kind and slot. Who breaks that is
// not believed again before its next epoch.
func TestEquivocation(t *testing.T) {
	d := newBowl(t)
	key := fbotest.Key(t, 50)
	author, err := peer.IDFromPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	at := func(epoch, sequence uint64) protocol.Stamp { return protocol.Stamp{Epoch: epoch, Sequence: sequence} }
	if result := d.receive(say(t, d, key, "weights", 0, at(4, 7), time.Hour, weights(t, 3, 1))); result != Accepted {
		t.Fatal(result)
	}
	other := say(t, d, key, "presence", 0, at(4, 7), time.Hour, presenceOf(t, author))
	if result, err := d.agent.Receive(d.now, other, 0); result != Equivocation || err == nil {
		t.Fatalf("%v, %v", result, err)
	}
	d.carryOut()
	if shares := d.agent.view(d.now).Shares; len(shares) != 0 {
		t.Errorf("strategies still see %v", shares)
	}
	if result := d.receive(say(t, d, key, "weights", 0, at(4, 8), time.Hour, weights(t, 3, 1))); result != Stale {
		t.Errorf("later in the same epoch: %v", result)
	}
	if result := d.receive(say(t, d, key, "weights", 0, at(5, 1), time.Hour, weights(t, 3, 1))); result != Accepted {
		t.Errorf("in a new epoch: %v", result)
	}
	if shares := d.agent.view(d.now).Shares; len(shares) != 1 {
		t.Errorf("strategies see %v", shares)
	}
}

// TestProvenEquivocationCountsOnce: after a proof, the author's next own gossip in that epoch is an
// equivocation. Later gossip, copies from others and shares of earlier runs are only stale.
func TestProvenEquivocationCountsOnce(t *testing.T) {
	spec := newTask(t, "bowl", concurrent)
	key := fbotest.Key(t, 50)
	share := func(d *driver, sequence uint64, first float64) protocol.Share {
		return say(t, d, key, "weights", 0, protocol.Stamp{Epoch: 4, Sequence: sequence}, time.Hour, weights(t, 3, first))
	}
	own, copied := Source{Gossiped: true, Author: true}, Source{Gossiped: true}
	prove := func(d *driver) {
		c, ok := protocol.ProveEquivocation(share(d, 7, 1), share(d, 7, 2))
		if !ok {
			t.Fatal("no proof")
		}
		d.agent.Equivocators(d.now, c)
		d.carryOut()
	}
	expect := func(name string, d *driver, sequence uint64, by Source, want ShareResult) {
		t.Helper()
		result, err := d.agent.ReceiveBy(d.now, share(d, sequence, 1), 0, by)
		d.carryOut()
		if result != want || (err != nil) != (want == Equivocation) {
			t.Errorf("%s: %v, %v, expected %v", name, result, err, want)
		}
	}

	informed := newDriver(t, configOf(t, spec, 1))
	prove(informed)
	expect("a copy from another peer", informed, 8, copied, Stale)
	expect("fetched from the author", informed, 8, Source{Author: true}, Stale)
	expect("gossiped by the author", informed, 8, own, Equivocation)
	expect("gossiped by the author again", informed, 9, own, Stale)
	prove(informed)
	expect("after the same proof", informed, 10, own, Stale)

	witness := newDriver(t, configOf(t, spec, 2))
	expect("the first share", witness, 7, own, Accepted)
	if result, err := witness.agent.ReceiveBy(witness.now, share(witness, 7, 2), 0, copied); result != Equivocation || err == nil {
		t.Errorf("the second share: %v, %v", result, err)
	}
	prove(witness)
	expect("after both shares and a proof", witness, 8, own, Stale)

	received := informed.agent.PeerShares(informed.now)
	informed.start()
	informed.recall(received)
	expect("after a restart", informed, 11, own, Stale)
}

// A whole digest fits one request.
func TestDigestFitsOneRequest(t *testing.T) {
	if most := (maxAuthors+1)*2*maxSlots + maxAuthors + maxContradicted + 2; most > protocol.MaxShareIDs {
		t.Errorf("up to %d shares are held, a request names %d", most, protocol.MaxShareIDs)
	}
}

// reconcile lets one agent fetch from another, as the sync stream does.
func reconcile(t testing.TB, to, from *driver) int {
	items := from.agent.Since(from.now, to.agent.Digest())
	for _, item := range items {
		share, err := protocol.Open(item.Envelope)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := to.agent.Receive(to.now, share, item.Age); err != nil {
			t.Fatal(err)
		}
		to.carryOut()
	}
	return len(items)
}

func TestSyncReconciles(t *testing.T) {
	spec := newTask(t, "bowl", concurrent)
	all := []*driver{newDriver(t, configOf(t, spec, 1)), newDriver(t, configOf(t, spec, 2)), newDriver(t, configOf(t, spec, 3))}
	for i, d := range all {
		d.run(2+i, bowl)
	}
	reconcile(t, all[0], all[1])
	reconcile(t, all[2], all[0]) // hears of 1 by way of 0
	reconcile(t, all[0], all[2])
	reconcile(t, all[1], all[0])
	for _, d := range all[1:] {
		if got, want := fmt.Sprint(d.agent.Digest()), fmt.Sprint(all[0].agent.Digest()); got != want {
			t.Errorf("digest %s, want %s", got, want)
		}
	}
	for _, from := range all {
		for _, to := range all {
			if n := reconcile(t, to, from); n != 0 {
				t.Errorf("%d shares were fetched though nothing was missing", n)
			}
		}
	}
}

// What an agent sent is passed on in the same bytes, also after a restart.
func TestResendsAreTheSameBytes(t *testing.T) {
	cfg := configOf(t, newTask(t, "bowl", "type: fts, mode: one-shot, share_after: 2"), 1)
	d := newDriver(t, cfg)
	d.run(2, bowl)
	var sent []byte
	for _, share := range d.take() {
		if share.Kind == "weights" {
			sent = share.Envelope
		}
	}
	if sent == nil {
		t.Fatal("nothing was shared")
	}
	d.pass(time.Hour)
	d.journal = compact(t, d.journal)
	d.start()
	for _, item := range d.agent.Since(d.now, nil) {
		if string(item.Envelope) == string(sent) && item.Age == time.Hour {
			return
		}
	}
	t.Error("the share from before the restart is not offered, or not with its age")
}

// An agent that lost its journal learns of its former epochs, however old.
func TestALostJournalIsRecognised(t *testing.T) {
	for _, silence := range []time.Duration{0, time.Minute, 30 * 24 * time.Hour} {
		for _, keys := range []string{"type: ts", concurrent} {
			spec := newTask(t, "bowl", keys)
			lost, witness := newDriver(t, configOf(t, spec, 1)), newDriver(t, configOf(t, spec, 2))
			for range 3 {
				lost.start()
			}
			lost.run(3, bowl)
			exchange(lost, witness)
			lost.journal, lost.stamps = nil, map[protocol.Stamp][32]byte{}
			for _, d := range []*driver{lost, witness} {
				d.now = d.now.Add(silence)
			}
			witness.agent.Tick(witness.now)
			witness.carryOut()
			witness.take()
			lost.start()
			if lost.agent.Epoch() != 1 {
				t.Fatal("the journal was not lost")
			}
			reconcile(t, lost, witness)
			if got := lost.agent.Epoch(); got != 5 {
				t.Errorf("%s, %v later: epoch %d, want 5", keys, silence, got)
			}
			exchange(lost, witness)
			if !witness.agent.Present(witness.now).Has(lost.self()) {
				t.Errorf("%s, %v later: the witness does not see the agent", keys, silence)
			}
			lost.start()
			if got := lost.agent.Epoch(); got != 6 {
				t.Errorf("after a restart epoch %d, want 6", got)
			}
		}
	}
}

func TestItsOwnSharesTellAnAgentNothing(t *testing.T) {
	d := newBowl(t)
	d.run(3, bowl)
	before := d.snapshot()
	for _, share := range d.take() {
		if result := d.receive(share); result != Stale {
			t.Errorf("%v: %v", share.Stamp, result)
		}
	}
	if d.snapshot() != before {
		t.Error("something changed")
	}
}

// Outcomes that arrive while a fit is under way must not make the agent send
// one draw under two stamps: a peer would use it twice.
func TestNoDrawIsSentTwice(t *testing.T) {
	d := newBowl(t)
	d.run(2, bowl)
	trials := []strategy.Trial{d.ask(), d.ask(), d.ask()}
	d.hold = true
	for _, trial := range trials {
		if err := d.agent.Tell(d.now, trial.ID, strategy.Outcome{Value: bowl(trial.Design)}); err != nil {
			t.Fatal(err)
		}
		d.carryOut()
	}
	d.finish()
	seen := map[string]protocol.Stamp{}
	for _, share := range d.take() {
		if share.Kind != "weights" {
			continue
		}
		if stamp, ok := seen[string(share.Payload)]; ok {
			t.Errorf("the draw of share %v is sent again in %v", stamp, share.Stamp)
		}
		seen[string(share.Payload)] = share.Stamp
	}
}

// Whatever is put and dropped, the order lists what is held, each once.
func TestOrderListsWhatIsHeld(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s, now := newShares("self"), time.Unix(0, 0)
		for i := range rapid.IntRange(1, 60).Draw(rt, "puts") {
			key := protocol.Key{
				Author: peer.ID(rapid.SampledFrom([]string{"self", "a", "ab", "b"}).Draw(rt, "author")),
				Kind:   rapid.SampledFrom([]string{"", "mean", "weights"}).Draw(rt, "kind"),
				Slot:   rapid.Uint64Range(0, 6).Draw(rt, "slot"),
			}
			s.put(strategy.Share{Share: protocol.Share{Key: key, TTL: time.Hour, Stamp: protocol.Stamp{Sequence: uint64(i + 1)}}}, now, 0, Source{})
			if rapid.IntRange(0, 9).Draw(rt, "forget") == 0 {
				for _, h := range slices.Clone(s.of(key.Author)) {
					s.remove(h.Key)
				}
			}
			if !slices.IsSortedFunc(s.order, func(a, b *held) int { return compareKeys(a.Key, b.Key) }) || len(s.order) != len(s.held) {
				rt.Fatalf("%d held in the order %v", len(s.held), s.order)
			}
			for _, h := range s.order {
				if s.held[h.Key] != h {
					rt.Fatalf("%v is in the order and not held", key)
				}
			}
		}
	})
}

// A node that has lost its journal begins its slots anew: what it said before,
// under higher slots, must not keep it unheard.
func TestALaterStartTakesThePlaceOfAllBefore(t *testing.T) {
	d := newTalker(t)
	key := fbotest.Key(t, 50)
	receive := func(epoch, sequence, slot uint64) ShareResult {
		share := say(t, d, key, "rounds", slot, protocol.Stamp{Epoch: epoch, Sequence: sequence}, time.Hour, []byte{byte(slot), byte(sequence)})
		result, err := d.agent.Receive(d.now, share, 0)
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	for i, c := range []struct {
		epoch, sequence, slot uint64
		want                  ShareResult
	}{
		{3, 1, 18, Accepted}, {3, 2, 19, Accepted}, {3, 3, 20, Accepted}, {3, 4, 1, Stale},
		{4, 1, 1, Accepted}, {3, 5, 21, Stale}, {4, 2, 2, Accepted},
	} {
		if got := receive(c.epoch, c.sequence, c.slot); got != c.want {
			t.Errorf("share %d (epoch %d, slot %d): %v, want %v", i, c.epoch, c.slot, got, c.want)
		}
	}
	var slots []uint64
	for _, share := range d.agent.View(d.now).Shares {
		slots = append(slots, share.Slot)
	}
	if !slices.Equal(slots, []uint64{1, 2}) {
		t.Errorf("held are slots %v", slots)
	}
}

// The journal keeps as many shares of a kind as are held, however many slots a
// long run takes.
func TestJournalKeepsFewShares(t *testing.T) {
	keys := map[string]bool{}
	for slot := range uint64(1000) {
		keys[Record{Sent: &SentRecord{Kind: "candidate", Slot: slot}}.Key()] = true
	}
	if !keys["sent/candidate/2"] {
		t.Errorf("the keys are %v", keys)
	}
	if len(keys) != maxSlots {
		t.Errorf("%d records are kept for 1000 slots", len(keys))
	}
}
