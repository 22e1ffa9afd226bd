package trained

import (
	"sync"

	"github.com/fbo-node/fbo/task"
)

// cache holds values that cost a training, by the key of the design, because the computation of
// regrets needs each design again. The zero value is empty. It is safe for concurrent use.
type cache struct {
	mu     sync.Mutex
	values map[string]float64
}

// at returns the value of a design, which compute returns if it is not known.
func (c *cache) at(d task.Design, compute func(task.Design) float64) float64 {
	key := d.Key()
	c.mu.Lock()
	value, ok := c.values[key]
	c.mu.Unlock()
	if ok {
		return value
	}
	value = compute(d)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.values == nil {
		c.values = map[string]float64{}
	}
	c.values[key] = value
	return value
}
