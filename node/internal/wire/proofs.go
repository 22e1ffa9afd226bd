package wire

import (
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/invitation"
)

// prove exchanges proofs of the invitation on a stream that this node has opened: it proves the
// invitation to the peer and verifies the peer's proof. On an open task it does nothing.
func (t *Topic) prove(stream network.Stream) error {
	if t.keys == nil {
		return nil
	}
	ends := invitation.Ends{Opened: t.net.Host.ID(), Accepted: stream.Conn().RemotePeer(), Protocol: string(stream.Protocol())}
	return t.proven(stream, t.keys.Prove(stream, ends))
}

// demand exchanges proofs of the invitation, as prove does, on a stream that the peer has opened.
func (t *Topic) demand(stream network.Stream) error {
	if t.keys == nil {
		return nil
	}
	ends := invitation.Ends{Opened: stream.Conn().RemotePeer(), Accepted: t.net.Host.ID(), Protocol: string(stream.Protocol())}
	return t.proven(stream, t.keys.Answer(stream, ends))
}

func (t *Topic) proven(stream network.Stream, err error) error {
	if err != nil {
		return t.reportMalformed(stream, err)
	}
	id := stream.Conn().RemotePeer()
	if t.net.Policy.Admit(id, t.name()) {
		select {
		case t.admissions <- id:
		case <-t.ctx.Done():
		}
	}
	return nil
}

// OnTask returns the peers on the topic that have proven the invitation, or all peers on the topic
// of an open task.
func (t *Topic) OnTask() []peer.ID {
	return slices.DeleteFunc(t.topic.ListPeers(), func(id peer.ID) bool { return !t.net.Policy.Admitted(id, t.name()) })
}

// receiveUnadmitted begins to exchange messages with peers that were on the topic before they
// proved the invitation.
func (t *Topic) receiveUnadmitted() {
	for {
		select {
		case <-t.ctx.Done():
			return
		case id := <-t.admissions:
			if t.policy.OnTopic(id) {
				t.welcome(id)
			}
		}
	}
}

// Limits of the pause between requests for a proof.
const (
	firstProofPause   = time.Second
	longestProofPause = 30 * time.Second
)

// askProof repeats sync requests, which contain a proof of the invitation, to a peer on the topic.
// It ends when the peer has proven the invitation, has left the topic or is banned.
func (t *Topic) askProof(id peer.ID) {
	n := t.net
	for pause := firstProofPause; ; pause = min(2*pause, longestProofPause) {
		if n.Policy.Admitted(id, t.name()) || n.IsBanned(id) || !t.policy.OnTopic(id) {
			return
		}
		t.fetch(id)
		select {
		case <-t.ctx.Done():
			return
		case <-time.After(n.Policy.Jittered(pause)):
		}
	}
}
