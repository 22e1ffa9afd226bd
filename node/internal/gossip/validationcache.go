package gossip

import (
	"sync"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
)

// validationCacheTime is the minimum time for which a checked message is remembered. Copies from
// other peers arrive sooner.
const validationCacheTime = 10 * time.Second

// validationCache remembers gossip messages whose signatures were checked recently, so that copies
// of them do not count toward the budget of checks.
type validationCache struct {
	NoTracer
	now func() time.Time

	mu            sync.Mutex
	newer, before map[string]bool
	since         time.Time // time of the first message in newer
}

func newValidationCache() *validationCache {
	return &validationCache{now: time.Now, newer: map[string]bool{}}
}

// ValidateMessage implements pubsub.RawTracer. Gossipsub calls it after the check of the signature.
func (c *validationCache) ValidateMessage(m *pubsub.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.now(); now.Sub(c.since) > validationCacheTime {
		c.before, c.newer, c.since = c.newer, map[string]bool{}, now
	}
	c.newer[pubsub.DefaultMsgIdFn(m.Message)] = true
}

func (c *validationCache) has(m *pb.Message) bool {
	id := pubsub.DefaultMsgIdFn(m)
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.newer[id] || c.before[id]
}
