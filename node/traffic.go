package node

import (
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/metrics"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
)

// traffic counts the bytes on all streams. libp2p's own counter is only brought
// up to date every second, and so knows nothing of a short run.
type traffic struct {
	sent, received atomic.Int64
}

var _ metrics.Reporter = (*traffic)(nil)

func (t *traffic) LogSentMessage(bytes int64) { t.sent.Add(bytes) }
func (t *traffic) LogRecvMessage(bytes int64) { t.received.Add(bytes) }

// The rest of the interface splits the same bytes by peer and protocol, which
// nobody asks for.

func (t *traffic) LogSentMessageStream(int64, protocol.ID, peer.ID) {}
func (t *traffic) LogRecvMessageStream(int64, protocol.ID, peer.ID) {}

func (t *traffic) GetBandwidthForPeer(peer.ID) metrics.Stats         { return metrics.Stats{} }
func (t *traffic) GetBandwidthForProtocol(protocol.ID) metrics.Stats { return metrics.Stats{} }
func (t *traffic) GetBandwidthTotals() metrics.Stats {
	return metrics.Stats{TotalOut: t.sent.Load(), TotalIn: t.received.Load()}
}
func (t *traffic) GetBandwidthByPeer() map[peer.ID]metrics.Stats         { return nil }
func (t *traffic) GetBandwidthByProtocol() map[protocol.ID]metrics.Stats { return nil }
func (t *traffic) Reset()                                                {}
func (t *traffic) TrimIdle(time.Time)                                    {}
