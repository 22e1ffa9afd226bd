package node_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/core/sec"
	libp2ptls "github.com/libp2p/go-libp2p/p2p/security/tls"
	libp2pquic "github.com/libp2p/go-libp2p/p2p/transport/quic"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"

	"github.com/fbo-node/fbo/internal/probe"
)

// TestProbeOfAnotherTime dials by QUIC and TCP with a certificate that is not valid yet, as that of a host
// whose clock is two hours ahead, and dials a host that has such a certificate.
func TestProbeOfAnotherTime(t *testing.T) {
	t.Parallel()
	n := loopback(t)
	ahead := func(options ...libp2p.Option) []libp2p.Option {
		from := time.Now().Add(time.Hour) // libp2p dates certificates back by an hour
		template := func() libp2ptls.IdentityOption {
			return libp2ptls.WithCertTemplate(&x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: from, NotAfter: from.Add(24 * time.Hour)})
		}
		return append(options,
			libp2p.Transport(libp2pquic.NewTransport, libp2pquic.WithTLSIdentityOption(template())),
			libp2p.Transport(tcp.NewTCPTransport),
			libp2p.Security(libp2ptls.ID, func(_ protocol.ID, key crypto.PrivKey) (sec.SecureTransport, error) {
				identity, err := libp2ptls.NewIdentity(key, template())
				return &datedTLS{key, identity}, err
			}),
		)
	}
	client, err := libp2p.New(ahead(libp2p.NoListenAddrs)...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	server, err := libp2p.New(ahead(libp2p.ListenAddrStrings("/ip4/127.0.0.1/udp/0/quic-v1", "/ip4/127.0.0.1/tcp/0"))...)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if len(n.Addresses()) != 2 || len(server.Addrs()) != 2 {
		t.Fatalf("addresses %v, %v: expected one by QUIC and one by TCP each", n.Addresses(), server.Addrs())
	}
	for _, address := range n.Addresses() {
		target, err := peer.AddrInfoFromString(address)
		if err != nil {
			t.Fatal(err)
		}
		if err := client.Network().ClosePeer(target.ID); err != nil {
			t.Fatal(err)
		}
		client.Peerstore().ClearAddrs(target.ID)
		if _, err := probe.From(ctx, client, *target, ""); !errors.Is(err, probe.ErrClock) {
			t.Errorf("own clock ahead, %s: %v, expected ErrClock", address, err)
		}
	}
	for _, address := range server.Addrs() {
		if _, err := probe.Probe(ctx, address.String()+"/p2p/"+server.ID().String(), ""); !errors.Is(err, probe.ErrClock) {
			t.Errorf("own clock behind, %s: %v, expected ErrClock", address, err)
		}
	}
}

// datedTLS is libp2p's TLS with a certificate of another time.
type datedTLS struct {
	key      crypto.PrivKey
	identity *libp2ptls.Identity
}

func (d *datedTLS) ID() protocol.ID { return libp2ptls.ID }

func (d *datedTLS) SecureInbound(ctx context.Context, insecure net.Conn, p peer.ID) (sec.SecureConn, error) {
	config, keys := d.identity.ConfigForPeer(p)
	return d.handshake(ctx, tls.Server(insecure, config), keys)
}

func (d *datedTLS) SecureOutbound(ctx context.Context, insecure net.Conn, p peer.ID) (sec.SecureConn, error) {
	config, keys := d.identity.ConfigForPeer(p)
	return d.handshake(ctx, tls.Client(insecure, config), keys)
}

func (d *datedTLS) handshake(ctx context.Context, conn *tls.Conn, keys <-chan crypto.PubKey) (sec.SecureConn, error) {
	if err := conn.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, err
	}
	local, err := peer.IDFromPrivateKey(d.key)
	if err != nil {
		return nil, err
	}
	key := <-keys
	remote, err := peer.IDFromPublicKey(key)
	return &datedConn{conn, local, remote, key}, err
}

type datedConn struct {
	*tls.Conn
	local, remote peer.ID
	key           crypto.PubKey
}

func (c *datedConn) LocalPeer() peer.ID                 { return c.local }
func (c *datedConn) RemotePeer() peer.ID                { return c.remote }
func (c *datedConn) RemotePublicKey() crypto.PubKey     { return c.key }
func (c *datedConn) ConnState() network.ConnectionState { return network.ConnectionState{} }
