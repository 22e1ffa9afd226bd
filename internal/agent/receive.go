package agent

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/internal/recoverpanic"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
)

// Receive accepts a share that protocol.Open has verified. The argument age is the time since its
// author sent it, zero if it came by gossip. The error explains the results Malformed and
// Equivocation.
func (a *Agent) Receive(now time.Time, share protocol.Share, age time.Duration) (ShareResult, error) {
	return a.ReceiveBy(now, share, age, Source{})
}

// ReceiveBy is Receive with the source of the share.
func (a *Agent) ReceiveBy(now time.Time, share protocol.Share, age time.Duration, by Source) (ShareResult, error) {
	if share.Task == a.id && share.Author == a.self {
		a.checkKnown(now, share, age)
		return Stale, nil
	}
	result, err := a.accept(now, share, age, by)
	if result == Accepted && share.Kind != protocol.ReceiptKind {
		a.counts.Received[share.Kind]++
		a.event(Event{Type: ShareReceived, Peer: share.Author, Kind: share.Kind, Stamp: &share.Stamp, Bytes: len(share.Envelope)})
	}
	a.pump(now)
	return result, err
}

// accept validates a share of another author, stores it, and passes it to the exchange of its kind.
func (a *Agent) accept(now time.Time, share protocol.Share, age time.Duration, by Source) (ShareResult, error) {
	if share.Task != a.id {
		return Malformed, fmt.Errorf("%w: a share of task %v on the topic of task %v", protocol.ErrMalformed, share.Task, a.id)
	}
	if share.Kind == protocol.ReceiptKind && a.evidence.releases > 0 && share.Author != a.self {
		return a.acceptReceipt(now, share, age)
	}
	if roster := a.cfg.Task.Roster(); roster != nil && !slices.Contains(roster, share.Author) {
		return Stale, nil // only these nodes take part in the task
	}
	if share.Author == a.self || age >= share.TTL {
		return Stale, nil
	}
	exchange, ok := a.exchanges.byName[share.Kind]
	if !ok {
		return Stale, nil // no violation: a newer version of the program may have further kinds
	}
	value, slot, err := a.decode(exchange, share.Kind, share.Payload)
	if err != nil {
		return Malformed, err
	}
	if share.Slot != slot {
		return Stale, nil // no violation: a newer version of the program may have further slots
	}
	if share.Epoch > a.shares.void[share.Author] && a.contradicts(share, value) {
		a.shares.distrust(share.Author, share.Epoch)
		a.ready.PeerShares = true
		return Equivocation, fmt.Errorf("%s announced another share with stamp %v than it has published", share.Author, share.Stamp)
	}
	result, err := a.shares.judge(now, share, by)
	if result == Equivocation {
		a.ready.PeerShares = true
		other, _ := a.shares.atStamp(share)
		a.proveEquivocation(now, other, share)
	}
	if result != Accepted {
		return result, err
	}
	if by.Gossiped && a.topic.large && !a.shares.admit(now, share.Author, presence.Pause(true, a.topic.present)) {
		return Excess, nil
	}
	repeated := a.shares.repeats(now, share)
	received := strategy.Share{Share: share, Value: value}
	a.shares.put(received, now, age, by)
	a.ready.PeerShares = a.ready.PeerShares || isCached(share)
	if !repeated {
		a.step(now, share.Kind, strategy.Received{Share: received})
	}
	if share.Kind == presence.Kind {
		a.measure(now)
		a.consider(now, share.Author)
	}
	return Accepted, nil
}

// ageError is the error of the ages that peers report. They report whole seconds.
const ageError = 2 * time.Second

// checkKnown handles one of the agent's own shares that a peer sends back. If the agent does not
// have the share, its journal was lost while its key was kept. Peers would then ignore the agent's
// shares as outdated. So the agent opens a later epoch and publishes its shares again.
//
// It does not do so if the share was sent during this run: then another node uses the same key, and
// both would open later epochs in turn, without end.
func (a *Agent) checkKnown(now time.Time, share protocol.Share, age time.Duration) {
	if share.Kind == protocol.ReceiptKind && a.evidence.releases > 0 {
		a.checkReceipt(now, share)
	} else if exchange, ok := a.exchanges.byName[share.Kind]; ok {
		if value, _, err := a.decode(exchange, share.Kind, share.Payload); err == nil {
			a.step(now, share.Kind, strategy.Echo{Share: strategy.Share{Share: share, Value: value}})
		}
	}
	if other, ok := a.shares.atStamp(share); ok {
		a.proveEquivocation(now, other, share)
	}
	if share.Stamp.Compare(protocol.Stamp{Epoch: a.epoch, Sequence: a.sequence}) <= 0 {
		return
	}
	if now.Add(-age).After(a.born.Add(ageError)) {
		if !a.doubled {
			a.doubled = true
			a.warn("another node with this node's key works on the task, perhaps with a copy of its data directory: peers accept shares of at most one of them, so end one")
		}
		return
	}
	a.warn("peers know shares of this node that its journal does not (up to epoch %d, the journal says %d): was the data directory lost or restored from a backup?", share.Epoch, a.epoch)
	a.moveOn(now, share.Epoch+1)
}

// moveOn opens an epoch in which peers accept the agent's shares again, and publishes its valid
// shares in it.
func (a *Agent) moveOn(now time.Time, epoch uint64) {
	a.openEpoch(epoch)
	for _, own := range a.shares.sorted() {
		if own.Author == a.self && own.expires.After(now) && !a.withholdsRelease(own.Share.Share) {
			_, talks := a.exchanges.byName[own.Kind]
			if talks {
				a.publish(now, own.Kind, strategy.Publish{Slot: own.Slot, Payload: own.Payload, TTL: own.TTL, Ephemeral: own.ephemeral})
			}
		}
	}
}

// CaughtUp reports that a peer has sent all shares that it has and this agent did not have.
func (a *Agent) CaughtUp(now time.Time, peer peer.ID) {
	for _, name := range a.exchanges.order {
		a.step(now, name, strategy.CaughtUp{Peer: peer})
	}
	a.pump(now)
}

// Digest returns the IDs of the shares that the agent stores, including its own, and of its
// evidence.
func (a *Agent) Digest() []protocol.ShareID {
	return append(a.shares.digest(a.withholdsRelease), a.evidence.digest()...)
}

// Since returns the items that a peer does not have, given the IDs of those that it has. Receipts
// and equivocation proofs come first, because they are stronger evidence about an author than a
// single share.
func (a *Agent) Since(now time.Time, known []protocol.ShareID) []protocol.SyncItem {
	return append(a.evidence.since(known, now), a.shares.since(known, now, a.withholdsRelease)...)
}

// Trials returns all trials, sorted by ID.
func (a *Agent) Trials() []strategy.Trial { return slices.Clone(a.trials.list) }

// Best returns the best feasible trial so far, or nil if no trial is feasible.
func (a *Agent) Best() *strategy.Trial { return a.trials.bestTrial() }

// Status returns the status items of the exchanges, in the order of the exchanges, followed by the
// effect of peers' shares on predictions. The values are encoded as JSON.
func (a *Agent) Status() (items []strategy.StatusItem) {
	for _, name := range a.exchanges.order {
		reporter, ok := a.exchanges.results[name].(strategy.StatusReporter)
		if !ok {
			continue
		}
		reported, err := recoverpanic.Call(nameOf(name), func() ([]strategy.StatusItem, error) { return encodeItems(reporter.Status()) })
		if err != nil {
			reported = []strategy.StatusItem{{Key: name, Label: "error", Text: err.Error()}}
		}
		items = append(items, reported...)
	}
	if a.cfg.shares {
		effect, err := encodeItems([]strategy.StatusItem{strategy.PeerEffectOf(a.cfg.Task, a.cfg.disclosure, a.trials.list).Item()})
		if err == nil { // no error: the numbers are finite
			items = append(items, effect...)
		}
	}
	return items
}

func encodeItems(items []strategy.StatusItem) ([]strategy.StatusItem, error) {
	items = slices.Clone(items)
	for i, item := range items {
		value, err := json.Marshal(item.Value)
		if err != nil {
			return nil, fmt.Errorf("status item %q has no JSON form: %w", item.Key, err)
		}
		items[i].Value = json.RawMessage(value)
	}
	return items, nil
}

// Epoch returns the current epoch, which grows at each start.
func (a *Agent) Epoch() uint64 { return a.epoch }

// Counts returns the numbers of shares and direct messages in this run.
func (a *Agent) Counts() Counts {
	counts := a.counts
	counts.Sent, counts.Received = maps.Clone(counts.Sent), maps.Clone(counts.Received)
	return counts
}

// Kinds returns the kinds of shares on the task.
func (a *Agent) Kinds() []string { return slices.Clone(a.exchanges.order) }

// Present returns the present agents, as far as this agent knows. A keeper does not count itself.
func (a *Agent) Present(now time.Time) presence.Result {
	if a.keeping {
		return presence.Others(a.view(now))
	}
	return presence.Of(a.view(now))
}

// Keeping reports whether the agent is a keeper.
func (a *Agent) Keeping() bool { return a.keeping }

// OwnShares returns the number of the agent's own valid shares that peers keep across a restart.
func (a *Agent) OwnShares(now time.Time) int {
	count := 0
	for _, h := range a.shares.of(a.self) {
		if isCached(h.Share.Share) && h.expires.After(now) {
			count++
		}
	}
	return count
}

// Knowledge returns the numbers of peers and of their valid shares that the agent stores across a
// restart.
func (a *Agent) Knowledge(now time.Time) (authors, shares int) {
	last := peer.ID("")
	for _, share := range a.shares.valid(now) {
		if !isCached(share.Share) {
			continue
		}
		shares++
		if share.Author != last {
			authors, last = authors+1, share.Author
		}
	}
	return authors, shares
}
