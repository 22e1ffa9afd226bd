package wire

import (
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/invitation"
)

// prove shows the peer at the other end of a stream that this node has opened that the
// node has the invitation, and demands the same; nothing happens on an open task.
func (t *Topic) prove(stream network.Stream) error {
	if t.keys == nil {
		return nil
	}
	ends := invitation.Ends{Opened: t.net.Host.ID(), Accepted: stream.Conn().RemotePeer(), Protocol: string(stream.Protocol())}
	return t.proven(stream, t.keys.Prove(stream, ends))
}

// demand is prove for a stream that the peer has opened.
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

// OnTask lists the peers on the topic, without those that have not proven the
// invitation.
func (t *Topic) OnTask() []peer.ID {
	return slices.DeleteFunc(t.topic.ListPeers(), func(id peer.ID) bool { return !t.net.Policy.Admitted(id, t.name()) })
}

// receiveUnadmitted welcomes those who have proven the invitation when they were on the topic
// before.
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

// Between attempts to get a proof from a peer that has come to the topic.
const (
	firstProofPause   = time.Second
	longestProofPause = 30 * time.Second
)

// askProof goes on asking a peer that has come to the topic until it has proven the
// invitation, or is gone. What it catches up on by the way is no loss.
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
