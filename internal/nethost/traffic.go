package nethost

import (
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/metrics"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
)

// Traffic counts the bytes on all streams. libp2p's own counter is updated only once per second, so
// it would miss a short run.
type Traffic struct {
	Sent, Received atomic.Int64
}

var _ metrics.Reporter = (*Traffic)(nil)

func (t *Traffic) LogSentMessage(bytes int64) { t.Sent.Add(bytes) }
func (t *Traffic) LogRecvMessage(bytes int64) { t.Received.Add(bytes) }

// The other methods of the interface report the same bytes by peer and protocol, which nothing here
// needs.

func (t *Traffic) LogSentMessageStream(int64, protocol.ID, peer.ID) {}
func (t *Traffic) LogRecvMessageStream(int64, protocol.ID, peer.ID) {}

func (t *Traffic) GetBandwidthForPeer(peer.ID) metrics.Stats         { return metrics.Stats{} }
func (t *Traffic) GetBandwidthForProtocol(protocol.ID) metrics.Stats { return metrics.Stats{} }
func (t *Traffic) GetBandwidthTotals() metrics.Stats {
	return metrics.Stats{TotalOut: t.Sent.Load(), TotalIn: t.Received.Load()}
}
func (t *Traffic) GetBandwidthByPeer() map[peer.ID]metrics.Stats         { return nil }
func (t *Traffic) GetBandwidthByProtocol() map[protocol.ID]metrics.Stats { return nil }
func (t *Traffic) Reset()                                                {}
func (t *Traffic) TrimIdle(time.Time)                                    {}
