package wire

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/ipfs/go-cid"
	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/invitation"
	"github.com/fbo-node/fbo/internal/store"
	"github.com/fbo-node/fbo/node/internal/hub"
	"github.com/fbo-node/fbo/node/internal/peers"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/task"
)

const (
	outboxSize     = 128
	syncInterval   = time.Minute            // between sync requests to a random peer (anti-entropy)
	firstSync      = time.Second            // before the first such request after a peer has joined; the pause then doubles up to syncInterval
	goodbyeLinger  = 200 * time.Millisecond // wait at the end for gossipsub to send the last shares
	receiveTimeout = 5 * time.Second
)

// TopicConfig has the parts of a session that a Topic uses.
type TopicConfig struct {
	Task *task.Task
	Keys *invitation.Keys // nil: the task is open
	Hubs []*hub.Link      // hubs that introduce the node to members
	Wait time.Duration    // maximum delay of the first design; zero: no delay
	Log  *slog.Logger

	Exchanges []string // names of the agent's exchanges; direct messages to others are malformed
	Store     *store.Store
	Metrics   Metrics

	// Do runs a function in the session's loop, and returns when its effects are on disk. After the
	// end of the session it returns an error.
	Do func(ctx context.Context, run func(a *agent.Agent, now time.Time)) error

	// Receive passes a share to the agent.
	Receive func(a *agent.Agent, now time.Time, share protocol.Share, age time.Duration, by agent.Source) (agent.ShareResult, error)
}

// Topic exchanges messages with the peers on one task, by gossip, sync requests and direct
// messages.
type Topic struct {
	net     *Network
	task    *task.Task
	id      string           // the task's ID
	keys    *invitation.Keys // nil: the task is open
	called  cid.Cid          // ID or tag in the names of the topic and protocols; see the function called
	meeting cid.Cid          // stands for the task at hubs: its ID, or the invitation's meeting point
	hubs    []*hub.Link
	wait    time.Duration
	log     *slog.Logger
	store   *store.Store
	metrics Metrics
	do      func(ctx context.Context, run func(a *agent.Agent, now time.Time)) error
	deliver func(a *agent.Agent, now time.Time, share protocol.Share, age time.Duration, by agent.Source) (agent.ShareResult, error)

	topic      *pubsub.Topic
	peers      *pubsub.TopicEventHandler
	inbox      *pubsub.Subscription
	policy     *peers.Task
	dialBacks  chan struct{} // semaphore for dial-backs in progress
	mismatches *mismatches
	direct     *directMessenger
	found      chan struct{} // receives a signal when the node may have learned of a member
	joined     chan struct{} // receives a signal when a peer joins
	admissions chan peer.ID  // receives peers that have proven the invitation
	proofs     coalescer     // runs askProof for a peer
	fetches    coalescer     // runs sync requests to a peer
	renewals   coalescer

	outbox  chan outgoing
	drained chan struct{} // closed when outbox is closed and empty
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// Join subscribes to a task's topic. Nothing is sent or received before Start.
func (n *Network) Join(ctx context.Context, c TopicConfig) (t *Topic, err error) {
	meeting := c.Task.ID()
	if c.Keys != nil {
		meeting = c.Keys.Meeting()
	}
	t = &Topic{
		net: n, task: c.Task, id: c.Task.ID().String(), keys: c.Keys, called: called(c.Task, c.Keys), meeting: meeting, hubs: c.Hubs, wait: c.Wait, log: c.Log,
		store: c.Store, metrics: c.Metrics, do: c.Do, deliver: c.Receive,

		policy:     n.Policy.NewTask(rosterOf(c.Task)),
		dialBacks:  make(chan struct{}, maxDialBacks),
		mismatches: newMismatches(c.Task.ID().String()),
		found:      make(chan struct{}, 1),
		joined:     make(chan struct{}, 1),
		admissions: make(chan peer.ID, outboxSize),
		outbox:     make(chan outgoing, outboxSize),
		drained:    make(chan struct{}),
	}
	t.direct = newDirectMessenger(t, c.Exchanges)
	t.ctx, t.cancel = context.WithCancel(context.Background())
	defer func() {
		if err != nil {
			t.Leave()
		}
	}()
	if t.keys != nil {
		n.Policy.RequireInvitation(t.name())
	}
	n.Policy.JoinTopic(t.name())
	if err := n.gossip.RegisterTopicValidator(t.name(), t.validate); err != nil {
		return nil, fmt.Errorf("topic: %w", err)
	}
	if t.topic, err = n.gossip.Join(t.name()); err != nil {
		return nil, fmt.Errorf("topic: %w", err)
	}
	if t.peers, err = t.topic.EventHandler(); err != nil {
		return nil, fmt.Errorf("topic: %w", err)
	}
	n.Host.SetStreamHandler(t.syncProtocol(), t.serveSync)
	n.Host.SetStreamHandler(t.direct.protocol(), t.direct.receive)
	if t.inbox, err = t.topic.Subscribe(pubsub.WithBufferSize(outboxSize)); err != nil {
		return nil, fmt.Errorf("topic: %w", err)
	}
	return t, ctx.Err()
}

// called returns the CID in the names of a task's topic and protocols: the tag if there is an
// invitation, else the ID.
func called(t *task.Task, keys *invitation.Keys) cid.Cid {
	if keys != nil {
		return keys.Tag()
	}
	return t.ID()
}

// TopicName returns the gossip topic of a task.
func TopicName(t *task.Task, keys *invitation.Keys) string {
	return peers.TopicName(called(t, keys).String())
}

func (t *Topic) name() string { return peers.TopicName(t.called.String()) }

// Start begins to send and receive messages. The session's loop must already run.
func (t *Topic) Start() {
	t.net.add(t)
	t.running.Go(t.send)
	t.running.Go(t.drain)
	t.running.Go(t.follow)
	t.running.Go(t.receiveUnadmitted)
	t.running.Go(t.reconcile)
	t.running.Go(t.maintainConnections)
	for _, h := range t.hubs {
		t.running.Go(func() { t.registerAtHub(h) })
		if t.keys != nil {
			t.running.Go(func() { t.registerForGuests(h) })
		}
	}
	if t.wait > 0 {
		t.running.Go(func() { t.awaitPeers(t.wait) })
	}
}

// outgoing is what send needs of a share. It is small, since the outbox of each task has room for
// many.
type outgoing struct {
	kind     string
	envelope []byte
}

// Publish queues a share for gossipsub and never blocks. If the queue is full or gossipsub loses
// the share, peers get it by sync requests. Without peers on the topic it does nothing: a peer that
// joins requests the shares that it does not have.
func (t *Topic) Publish(share protocol.Share) {
	if !t.policy.HasPeers() {
		return
	}
	select {
	case t.outbox <- outgoing{share.Kind, share.Envelope}:
	default:
		t.metrics.ShareUnpublished()
		t.log.Warn("outbox full, share not gossiped", "kind", share.Kind)
	}
}

func (t *Topic) send() {
	defer close(t.drained)
	for share := range t.outbox {
		message := share.envelope
		if keys := t.keys; keys != nil {
			message = keys.Seal(t.net.Host.ID(), message)
		}
		if err := t.topic.Publish(t.ctx, message); err != nil {
			t.metrics.ShareUnpublished()
			t.log.Warn("share not gossiped", "kind", share.kind, "error", err)
		}
	}
}

// drain reads and drops all messages of the subscription. The function validate has already
// delivered them to the agent.
func (t *Topic) drain() {
	for {
		if _, err := t.inbox.Next(t.ctx); err != nil {
			return
		}
	}
}

// follow handles peers that join or leave the topic. Gossipsub does not send earlier messages to a
// peer that joins, so each side requests the shares that it does not have.
func (t *Topic) follow() {
	for {
		event, err := t.peers.NextPeerEvent(t.ctx)
		if err != nil {
			return
		}
		if event.Type == pubsub.PeerLeave {
			t.log.Info("peer left the task", "peer", event.Peer)
			t.policy.Left(event.Peer)
			t.running.Go(func() { t.renewals.run(event.Peer, func() { t.reconnectStale(event.Peer) }) })
			continue
		}
		t.policy.Arrived(event.Peer)
		t.wake()
		if !t.net.Policy.Admitted(event.Peer, t.name()) {
			t.running.Go(func() { t.proofs.run(event.Peer, func() { t.askProof(event.Peer) }) })
			continue
		}
		t.welcome(event.Peer)
	}
}

// welcome begins to exchange messages with a peer that has joined the task.
func (t *Topic) welcome(id peer.ID) {
	if !t.policy.Joined(time.Now(), id) {
		return
	}
	t.log.Info("peer joined the task", "peer", id)
	t.startDialBacks(t.policy.Identified(time.Now(), id, t.recordOf(id)))
	t.net.Host.ConnManager().TagPeer(id, t.name(), peers.ValueOnTask)
	t.direct.retryNow(id)
	t.reportJoined(id)
	t.running.Go(func() { t.fetch(id) })
	select {
	case t.joined <- struct{}{}:
	default:
	}
}

// reconcile requests shares from a random peer once a minute, since gossipsub may lose messages.
// After a peer has joined it does so more often, because shares are also lost between members that
// are not yet connected. In a large topic every other request goes to a peer that may be a keeper, since
// keepers suggest authors.
func (t *Topic) reconcile() {
	keeper := true // the next request goes to a keeper
	pause := syncInterval
	next := time.NewTimer(pause)
	defer next.Stop()
	for {
		select {
		case <-t.ctx.Done():
			return
		case <-t.joined:
			if pause > firstSync {
				pause = firstSync
				next.Reset(t.net.Policy.Jittered(pause))
			}
		case <-next.C:
			from := t.OnTask()
			if len(from) == 0 {
				from = t.inReach()
			}
			if len(from) > 0 {
				if keepers := t.possibleKeepers(from); keeper && len(keepers) > 0 {
					from = keepers
				}
				keeper = !keeper
				t.fetch(from[rand.IntN(len(from))])
			}
			pause = min(2*pause, syncInterval)
			next.Reset(t.net.Policy.Jittered(pause))
		}
	}
}

func (t *Topic) possibleKeepers(of []peer.ID) (keepers []peer.ID) {
	if err := t.do(t.ctx, func(a *agent.Agent, now time.Time) { keepers = a.PossibleKeepers(now, of) }); err != nil {
		return nil // the session has ended
	}
	return keepers
}

// inReach returns the connected peers that support the task's sync protocol and have proven the
// invitation, whether they are on the topic or not. If two nodes run from copies of one data
// directory, a peer gossips only with one of them. The other has no peers on the topic, and learns
// the reason from sync responses of these peers.
func (t *Topic) inReach() []peer.ID {
	host := t.net.Host
	return slices.DeleteFunc(host.Network().Peers(), func(id peer.ID) bool {
		spoken, err := host.Peerstore().SupportsProtocols(id, t.syncProtocol())
		return err != nil || len(spoken) == 0 || !t.net.Policy.Admitted(id, t.name())
	})
}

// Close publishes the last shares and leaves the task. The session's loop must have ended.
func (t *Topic) Close() {
	t.net.remove(t)
	close(t.outbox)
	<-t.drained
	if len(t.OnTask()) > 0 {
		time.Sleep(goodbyeLinger)
	}
	t.storeAnchors(t.policy.Anchors(time.Now()))
	t.Leave()
	t.running.Wait()
	t.unprotectPeers()
}

// Leave undoes Join, also one that failed half-way.
func (t *Topic) Leave() {
	t.cancel()
	n := t.net
	if t.inbox != nil {
		t.inbox.Cancel()
	}
	n.Host.RemoveStreamHandler(t.syncProtocol())
	n.Host.RemoveStreamHandler(t.direct.protocol())
	if t.peers != nil {
		t.peers.Cancel()
	}
	if t.topic != nil {
		// Close returns an error until gossipsub has processed the end of the subscription. The end
		// of the gossip context frees the topic in any case.
		_ = t.topic.Close()
	}
	_ = n.gossip.UnregisterTopicValidator(t.name())
	n.Policy.LeaveTopic(t.name())
}

// Mismatches returns the connected peers on tasks of the same name with another ID.
func (t *Topic) Mismatches() []TaskMismatch { return t.mismatches.list() }

// Send queues a direct message and never blocks. If the queue is full, the message displaces the
// oldest one. Only the session's loop may call it, so that no messages are added after the loop has
// ended.
func (t *Topic) Send(d agent.Direct) { t.direct.enqueue(d) }

// Sending reports whether a direct message to a connected peer waits or is in progress.
func (t *Topic) Sending() bool { return t.direct.isBusy() }

// reportJoined reports to the agent that a peer has joined the task.
func (t *Topic) reportJoined(id peer.ID) {
	group := t.net.Policy.Group(id)
	_ = t.do(t.ctx, func(a *agent.Agent, _ time.Time) { a.Joined(id, group) }) // other code reports the session's end
}
