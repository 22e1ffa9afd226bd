package gossip

import (
	"sync"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
)

// validationCacheTime is for how long a message is known as checked, at least. Copies of one by
// other peers come sooner.
const validationCacheTime = 10 * time.Second

// validationCache remembers the messages of gossip whose signatures were checked of late: copies of
// them cost nothing more.
type validationCache struct {
	NoTracer
	now func() time.Time

	mu            sync.Mutex
	newer, before map[string]bool
	since         time.Time // in newer
}

func newValidationCache() *validationCache {
	return &validationCache{now: time.Now, newer: map[string]bool{}}
}

// ValidateMessage implements pubsub.RawTracer; it is called once the signature is checked.
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
