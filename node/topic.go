package node

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/node/internal/peers"
	"github.com/fbo-node/fbo/protocol"
)

const (
	outboxSize     = 128
	syncInterval   = time.Minute            // anti-entropy with one random peer
	firstSync      = time.Second            // the same after a peer has joined, then ever more seldom
	goodbyeLinger  = 200 * time.Millisecond // for the last share to get onto the wire
	receiveTimeout = 5 * time.Second
)

// topic is a session's conversation with its peers: gossip, catching up, and
// direct messages.
type topic struct {
	session    *Session
	topic      *pubsub.Topic
	peers      *pubsub.TopicEventHandler
	inbox      *pubsub.Subscription
	policy     *peers.Task
	dialBacks  chan struct{} // holds one for each that is under way
	mismatches *mismatches
	direct     *directMessenger
	joined     chan struct{} // a peer has joined
	admissions chan peer.ID  // peers that have proven the invitation
	proofs     coalescer     // asking for them
	fetches    coalescer     // catching up
	renewals   coalescer

	outbox  chan protocol.Share
	drained chan struct{} // closed when the outbox is closed and empty
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// joinTopic subscribes; nothing is sent or received before start.
func joinTopic(ctx context.Context, s *Session) (t *topic, err error) {
	t = &topic{
		session:    s,
		policy:     s.node.policy.NewTask(rosterOf(s.task)),
		dialBacks:  make(chan struct{}, maxDialBacks),
		mismatches: newMismatches(s.id),
		joined:     make(chan struct{}, 1),
		admissions: make(chan peer.ID, outboxSize),
		outbox:     make(chan protocol.Share, outboxSize),
		drained:    make(chan struct{}),
	}
	t.direct = newDirectMessenger(t)
	t.ctx, t.cancel = context.WithCancel(context.Background())
	defer func() {
		if err != nil {
			t.cancel()
			t.leave()
		}
	}()
	if s.keys != nil {
		s.node.policy.RequireInvitation(t.name())
	}
	s.node.policy.JoinTopic(t.name())
	if err := s.node.pubsub.RegisterTopicValidator(t.name(), t.validate); err != nil {
		return nil, fmt.Errorf("topic: %w", err)
	}
	if t.topic, err = s.node.pubsub.Join(t.name()); err != nil {
		return nil, fmt.Errorf("topic: %w", err)
	}
	if t.peers, err = t.topic.EventHandler(); err != nil {
		return nil, fmt.Errorf("topic: %w", err)
	}
	s.node.host.SetStreamHandler(t.syncProtocol(), t.serveSync)
	s.node.host.SetStreamHandler(t.direct.protocol(), t.direct.receive)
	if t.inbox, err = t.topic.Subscribe(pubsub.WithBufferSize(outboxSize)); err != nil {
		return nil, fmt.Errorf("topic: %w", err)
	}
	return t, ctx.Err()
}

func (t *topic) name() string { return peers.TopicName(t.session.called.String()) }

func (t *topic) start() {
	t.running.Go(t.send)
	t.running.Go(t.drain)
	t.running.Go(t.follow)
	t.running.Go(t.receiveUnadmitted)
	t.running.Go(t.reconcile)
	t.running.Go(t.maintainConnections)
	t.running.Go(t.compareTaskNames)
	for _, h := range t.session.node.hubs {
		t.running.Go(func() { t.registerAtHubs(h) })
	}
	if t.session.wait > 0 {
		t.running.Go(func() { t.awaitPeers(t.session.wait) })
	}
}

// publish never blocks: gossip may lose a share, and what is lost is fetched by
// the sync stream.
func (t *topic) publish(share protocol.Share) {
	select {
	case t.outbox <- share:
	default:
		t.session.metrics.shareUnpublished()
		t.session.logger.Warn("outbox full, share not gossiped", "kind", share.Kind)
	}
}

func (t *topic) send() {
	defer close(t.drained)
	for share := range t.outbox {
		message := share.Envelope
		if keys := t.session.keys; keys != nil {
			message = keys.Seal(t.session.node.host.ID(), message)
		}
		if err := t.topic.Publish(t.ctx, message); err != nil {
			t.session.metrics.shareUnpublished()
			t.session.logger.Warn("share not gossiped", "kind", share.Kind, "error", err)
		}
	}
}

// drain empties the subscription: validate has delivered its messages already.
func (t *topic) drain() {
	for {
		if _, err := t.inbox.Next(t.ctx); err != nil {
			return
		}
	}
}

// follow watches peers come and go. Gossip does not repeat the past to a peer
// that joins, so each side fetches what it lacks from the other.
func (t *topic) follow() {
	for {
		event, err := t.peers.NextPeerEvent(t.ctx)
		if err != nil {
			return
		}
		if event.Type == pubsub.PeerLeave {
			t.session.logger.Info("peer left the task", "peer", event.Peer)
			t.policy.Left(event.Peer)
			t.running.Go(func() { t.renewals.run(event.Peer, func() { t.reconnectStale(event.Peer) }) })
			continue
		}
		t.policy.Arrived(event.Peer)
		if !t.session.node.policy.Admitted(event.Peer, t.name()) {
			t.running.Go(func() { t.proofs.run(event.Peer, func() { t.askProof(event.Peer) }) })
			continue
		}
		t.welcome(event.Peer)
	}
}

// welcome begins to talk to a peer on the task.
func (t *topic) welcome(id peer.ID) {
	if !t.policy.Joined(time.Now(), id) {
		return
	}
	t.session.logger.Info("peer joined the task", "peer", id)
	t.startDialBacks(t.policy.Identified(time.Now(), id, t.recordOf(id)))
	t.session.node.host.ConnManager().TagPeer(id, t.name(), peers.ValueOnTask)
	t.direct.retryNow(id)
	_ = t.session.joined(t.ctx, id) // the session's end is seen by all
	t.running.Go(func() { t.fetch(id) })
	select {
	case t.joined <- struct{}{}:
	default:
	}
}

// reconcile compares with a random peer what both hold, since gossip may lose
// anything: once a minute, and more often after a peer has joined, when shares
// are lost between those who do not yet know each other.
func (t *topic) reconcile() {
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
				next.Reset(t.session.node.policy.Jittered(pause))
			}
		case <-next.C:
			from := t.onTask()
			if len(from) == 0 {
				from = t.inReach()
			}
			if len(from) > 0 {
				t.fetch(from[rand.IntN(len(from))])
			}
			pause = min(2*pause, syncInterval)
			next.Reset(t.session.node.policy.Jittered(pause))
		}
	}
}

// inReach lists the connected peers that answer questions about the task, on the topic
// or not, without those that have not proven the invitation: a peer gossips with one node of each identity, so that the second of two
// copies of a data directory is on the topic with nobody, and has to hear why.
func (t *topic) inReach() []peer.ID {
	host := t.session.node.host
	return slices.DeleteFunc(host.Network().Peers(), func(id peer.ID) bool {
		spoken, err := host.Peerstore().SupportsProtocols(id, t.syncProtocol())
		return err != nil || len(spoken) == 0 || !t.session.node.policy.Admitted(id, t.name())
	})
}

// close is called after the session's loop has ended.
func (t *topic) close() {
	close(t.outbox)
	<-t.drained
	if len(t.onTask()) > 0 {
		time.Sleep(goodbyeLinger)
	}
	t.storeAnchors(t.policy.Anchors(time.Now()))
	t.cancel()
	t.leave()
	t.running.Wait()
	t.unprotectPeers()
}

// leave undoes joinTopic, as far as it got.
func (t *topic) leave() {
	n := t.session.node
	if t.inbox != nil {
		t.inbox.Cancel()
	}
	n.host.RemoveStreamHandler(t.syncProtocol())
	n.host.RemoveStreamHandler(t.direct.protocol())
	if t.peers != nil {
		t.peers.Cancel()
	}
	if t.topic != nil {
		// Until the cancelled subscription has been taken note of, closing
		// fails; the end of the node's gossip context frees the topic anyway.
		_ = t.topic.Close()
	}
	_ = n.pubsub.UnregisterTopicValidator(t.name())
	n.policy.LeaveTopic(t.name())
}
