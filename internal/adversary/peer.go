package adversary

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"time"

	"github.com/libp2p/go-libp2p"
	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"
	libp2pprotocol "github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	"github.com/multiformats/go-multiaddr"
	"google.golang.org/protobuf/encoding/protodelim"

	"github.com/fbo-node/fbo/protocol"
)

const (
	dialTimeout = 10 * time.Second
	maxRPC      = 1 << 20 // maximum size of a gossip RPC that a peer reads
)

// Peer is one identity of an attacker: a libp2p host without limits. It supports only protocols for
// which it sets a handler. It reads gossip messages and discards them.
type Peer struct {
	Host     host.Host
	Key      crypto.PrivKey
	Received func(*pb.Message) // gets the gossip messages that nodes send; must be set before the first Line

	field *Field
}

// Peer creates an identity that listens at one of the attackers' addresses and dials from it.
func (f *Field) Peer(at int) (*Peer, error) {
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	ip := net.ParseIP(f.Address(at))
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: ip}}
	h, err := libp2p.New(
		libp2p.Identity(key),
		libp2p.ListenAddrStrings("/ip4/"+ip.String()+"/tcp/0"),
		libp2p.Transport(tcp.NewTCPTransport, tcp.WithDialerForAddr(func(multiaddr.Multiaddr) (tcp.ContextDialer, error) { return dialer, nil })),
		libp2p.ResourceManager(&network.NullResourceManager{}),
		libp2p.DisableIdentifyAddressDiscovery(),
		libp2p.DisableRelay(),
		libp2p.DisableMetrics(),
	)
	if err != nil {
		return nil, err
	}
	p := &Peer{Host: h, Key: key, field: f}
	h.SetStreamHandler(pubsub.GossipSubID_v11, p.listen)
	return p, nil
}

func (p *Peer) Close() { _ = p.Host.Close() }

// listen reads the gossip RPCs that a node sends to the peer.
func (p *Peer) listen(s network.Stream) {
	defer s.Reset()
	in := reader{s}
	for {
		rpc := &pb.RPC{}
		if err := (protodelim.UnmarshalOptions{MaxSize: maxRPC}).UnmarshalFrom(in, rpc); err != nil {
			return
		}
		for _, m := range rpc.Publish {
			if p.Received != nil {
				p.Received(m)
			}
		}
	}
}

// reader adds ReadByte to a stream.
type reader struct{ network.Stream }

func (r reader) ReadByte() (byte, error) {
	var b [1]byte
	_, err := r.Read(b[:])
	return b[0], err
}

// Connect dials a target without libp2p's backoff.
func (p *Peer) Connect(ctx context.Context, target peer.AddrInfo) error {
	if s, ok := p.Host.Network().(*swarm.Swarm); ok {
		s.Backoff().Clear(target.ID)
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	return p.Host.Connect(ctx, target)
}

// Open opens a stream to a target, and dials the target first if necessary. The stream is reset
// when ctx ends.
func (p *Peer) Open(ctx context.Context, target peer.AddrInfo, name libp2pprotocol.ID) (network.Stream, error) {
	if err := p.Connect(ctx, target); err != nil {
		return nil, err
	}
	dialled, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	s, err := p.Host.NewStream(dialled, target.ID, name)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { _ = s.Reset() })
	return s, nil
}

// Record returns the signed record with the peer's own addresses.
func (p *Peer) Record() ([]byte, error) {
	book, ok := peerstore.GetCertifiedAddrBook(p.Host.Peerstore())
	if !ok {
		return nil, fmt.Errorf("no signed records")
	}
	envelope := book.GetPeerRecord(p.Host.ID())
	if envelope == nil {
		return nil, fmt.Errorf("no record of its own")
	}
	return envelope.Marshal()
}

// AnswerSync answers each sync request with the items that the function returns.
func (p *Peer) AnswerSync(items func() []protocol.SyncItem) {
	p.Host.SetStreamHandler(p.field.SyncProtocol(), func(s network.Stream) {
		_ = s.SetDeadline(time.Now().Add(dialTimeout))
		if _, err := protocol.ReadSyncRequest(s); err != nil {
			_ = s.Reset()
			return
		}
		for _, item := range items() {
			if err := protocol.WriteSyncItem(s, item); err != nil {
				_ = s.Reset()
				return
			}
		}
		_ = s.Close()
	})
}

// SyncProtocol returns the name of the protocol for sync requests on the task.
func (f *Field) SyncProtocol() libp2pprotocol.ID {
	return libp2pprotocol.ID("/fbo/sync/1/" + f.Task.ID().String())
}

// DirectProtocol returns the name of the protocol for direct messages on the task.
func (f *Field) DirectProtocol() libp2pprotocol.ID {
	return libp2pprotocol.ID("/fbo/direct/1/" + f.Task.ID().String())
}

func newKey() (crypto.PrivKey, error) {
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	return key, err
}
