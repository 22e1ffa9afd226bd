package wire

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	libp2pprotocol "github.com/libp2p/go-libp2p/core/protocol"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/invitation"
	"github.com/fbo-node/fbo/internal/tasknames"
	"github.com/fbo-node/fbo/node/internal/access"
	"github.com/fbo-node/fbo/protocol"
)

const syncTimeout = 10 * time.Second

// Limits of concurrent streams with sync requests.
const (
	MaxSyncStreams       = 16 // each may use protocol.MaxSyncRequestBytes of memory
	maxSyncStreamsOfPeer = 8  // an honest peer opens at most maxFetchesFromPeer
	maxFetchesFromPeer   = 4  // concurrent sync requests to one peer, on all common tasks
)

func newSyncLimiter(streams int) *access.Limiter {
	return access.NewLimiter("fbo.sync", streams, min(maxSyncStreamsOfPeer, streams), protocol.MaxSyncRequestBytes, syncTimeout)
}

// errEnough ends the reading of a sync response early. A later request gets the rest.
var errEnough = errors.New("sends more than this node has a budget for")

func (t *Topic) syncProtocol() libp2pprotocol.ID {
	return libp2pprotocol.ID(tasknames.SyncPrefix + t.called.String())
}

// fetch requests from a peer the shares that this agent does not have. Calls during a request cause
// one more request after it.
func (t *Topic) fetch(from peer.ID) {
	t.fetches.run(from, func() { t.fetchOnce(from) })
}

func (t *Topic) fetchOnce(from peer.ID) {
	leave, err := t.net.fetching.enter(t.ctx, from)
	if err != nil {
		return
	}
	defer leave()
	ctx, cancel := context.WithTimeout(t.ctx, syncTimeout)
	defer cancel()
	err = t.fetchShares(ctx, from)
	if err == nil {
		err = t.do(ctx, func(a *agent.Agent, now time.Time) { a.CaughtUp(now, from) })
	}
	if t.ctx.Err() != nil {
		return
	}
	t.policy.Fetched(from)
	t.metrics.Fetched(err != nil)
	if err != nil {
		t.log.Info("cannot catch up on shares", "peer", from, "error", err)
	}
}

func (t *Topic) fetchShares(ctx context.Context, from peer.ID) error {
	return t.requestShares(ctx, from, t.memberRecords(), func(a *agent.Agent) protocol.SyncRequest { return a.SyncRequest() })
}

// requestShares sends the sync request that the agent makes to a peer, and handles the response.
func (t *Topic) requestShares(ctx context.Context, from peer.ID, records [][]byte, of func(*agent.Agent) protocol.SyncRequest) error {
	var request protocol.SyncRequest
	if err := t.do(ctx, func(a *agent.Agent, _ time.Time) {
		request = of(a)
		for _, c := range a.EquivocationProofs() {
			request.Equivocations = append(request.Equivocations, protocol.SealedEquivocationProof{First: c.First.Envelope, Second: c.Second.Envelope})
		}
	}); err != nil {
		return err
	}
	request.PeerRecords = records
	stream, err := t.net.Host.NewStream(ctx, from, t.syncProtocol())
	if err != nil {
		return err
	}
	if err := t.ask(ctx, stream, request); err != nil {
		_ = stream.Reset()
		return err
	}
	return stream.Close()
}

func (t *Topic) ask(ctx context.Context, stream network.Stream, request protocol.SyncRequest) error {
	if deadline, ok := ctx.Deadline(); ok {
		if err := stream.SetDeadline(deadline); err != nil {
			return err
		}
	}
	if err := t.prove(stream); err != nil {
		return err
	}
	if err := protocol.WriteSyncRequest(stream, request); err != nil {
		return err
	}
	if err := stream.CloseWrite(); err != nil {
		return err
	}
	policy, from := t.net.Policy, stream.Conn().RemotePeer()
	return t.reportMalformed(stream, protocol.ReadSyncItems(stream, func(item protocol.SyncItem) error {
		if item.PeerRecord != nil {
			return t.learn(item.PeerRecord, stream.Conn())
		}
		if len(item.Suggested) > 0 {
			if !request.Suggest {
				return fmt.Errorf("%w: %d authors suggested without a request", protocol.ErrMalformed, len(item.Suggested))
			}
			t.policy.Suggested(from)
			return t.do(ctx, func(a *agent.Agent, _ time.Time) { a.Suggest(item.Suggested) })
		}
		if !policy.AllowItem(time.Now(), from, stream.Conn().RemoteMultiaddr(), len(item.Envelope)+len(item.ConflictingEnvelope)) {
			return errEnough
		}
		if item.ConflictingEnvelope != nil {
			return t.contradicted(ctx, item.Envelope, item.ConflictingEnvelope)
		}
		share, err := protocol.Open(item.Envelope)
		if err != nil {
			t.metrics.ShareReceived(UnknownKind, agent.Malformed)
			return err
		}
		if !t.net.Policy.MayTakePart(share.Author) {
			return nil // the peer's allow list may have more peers than this node's
		}
		result, _, err := t.receive(ctx, share, item.Age, from, false)
		if result == agent.Equivocation {
			t.judge(result, from, share.Author, err)
			return nil
		}
		if result == agent.Malformed {
			return fmt.Errorf("%w: %s share of %s", err, result, share.Author)
		}
		return nil
	}))
}

// contradicted passes a proof of an equivocation, possibly by this node, to the agent. The proof is
// a violation neither of the peer that sends it nor of its author: that author may be this node,
// which learns from the proof that another process uses its key.
func (t *Topic) contradicted(ctx context.Context, first, second []byte) error {
	c, err := protocol.OpenEquivocationProof(first, second)
	if err != nil {
		return err
	}
	if !t.net.Policy.MayTakePart(c.First.Author) {
		return nil
	}
	return t.do(ctx, func(a *agent.Agent, now time.Time) { a.Equivocators(now, c) })
}

// reportMalformed reports a malformed message or a wrong proof of the invitation as a violation of
// the peer that sent it. Honest peers that know the protocol's name, which contains the tag, have
// the invitation.
func (t *Topic) reportMalformed(stream network.Stream, err error) error {
	if errors.Is(err, protocol.ErrMalformed) || errors.Is(err, invitation.ErrForeign) {
		t.net.ReportViolation(stream.Conn().RemotePeer(), 1, err)
	}
	return err
}

// serveSync answers a sync request of a peer.
func (t *Topic) serveSync(stream network.Stream) {
	if err := t.answer(stream); err != nil {
		t.log.Info("cannot serve a peer's catching up", "peer", stream.Conn().RemotePeer(), "error", err)
		_ = stream.Reset()
		return
	}
	_ = stream.Close()
}

func (t *Topic) answer(stream network.Stream) error {
	n, from := t.net, stream.Conn().RemotePeer()
	if !n.Policy.MayTakePart(from) {
		return errors.New("may not take part")
	}
	leave, err := n.syncing.Admit(stream, n.Policy, n.ReportViolation)
	if err != nil {
		return err
	}
	defer leave()
	if err := t.demand(stream); err != nil {
		return err
	}
	request, err := protocol.ReadSyncRequest(stream)
	if err != nil {
		return t.reportMalformed(stream, err)
	}
	for _, sealed := range request.PeerRecords {
		if err := t.learn(sealed, stream.Conn()); err != nil {
			return t.reportMalformed(stream, err)
		}
	}
	for _, c := range request.Equivocations {
		if err := t.contradicted(t.ctx, c.First, c.Second); err != nil {
			return t.reportMalformed(stream, err)
		}
	}
	var items []protocol.SyncItem
	if err := t.do(t.ctx, func(a *agent.Agent, now time.Time) { items = a.Answer(now, from, request) }); err != nil {
		return err
	}
	records := t.memberRecords()
	if len(request.Authors) > 0 && len(request.PeerRecords) == 0 {
		records = nil // the peer asks for shares only
	}
	for _, sealed := range records {
		items = append(items, protocol.SyncItem{PeerRecord: sealed})
	}
	for _, item := range items {
		if err := protocol.WriteSyncItem(stream, item); err != nil {
			return err
		}
	}
	return stream.CloseWrite()
}
