package node

import (
	"context"
	"math/bits"
	"time"

	rcmgr "github.com/libp2p/go-libp2p/p2p/host/resource-manager"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/nethost"
	"github.com/fbo-node/fbo/node/internal/wire"
	"github.com/fbo-node/fbo/protocol"
)

// MinMemoryLimit is the smallest Node.MemoryLimit.
const MinMemoryLimit = 64 << 20

const (
	// codeMemory is the resident memory that the Go runtime does not count: the program's code and
	// constants. docs/performance.md has the measurement.
	codeMemory = 40 << 20

	// idleMemory is what a node needs without peers' shares, including one suggestion at a time.
	idleMemory = 16 << 20

	// shareFactor is the memory of a stored share as a multiple of its envelope.
	shareFactor = 7

	connectionMemory    = 256 << 10 // of a connection with its streams, in use
	reservedMemory      = 1 << 20   // of a connection with its streams, as libp2p reserves it
	minConnections      = 16
	minSyncStreams      = 2
	minTaskBytes        = 32 << 10
	syncStreamsInMemory = protocol.MaxSyncRequestBytes
)

// HeapLimit returns the argument of debug.SetMemoryLimit for a process that should use at most the
// given memory.
func HeapLimit(memory int64) int64 { return memory - codeMemory }

// room holds the limits of a node that follow from Node.MemoryLimit.
type room struct {
	limited     bool
	shares      int // bytes of the envelopes of all tasks
	connections int
	syncStreams int
}

// newRoom divides the memory that a node does not need itself: half is for shares, a quarter for
// connections and a quarter for requests to compare shares.
func newRoom(memory int64) room {
	if memory == 0 {
		return room{connections: nethost.MaxConnections, syncStreams: wire.MaxSyncStreams}
	}
	spare := max(0, int(min(memory, 1<<30))-codeMemory-idleMemory)
	return room{
		limited:     true,
		shares:      spare / 2 / shareFactor,
		connections: min(max(spare/4/connectionMemory, minConnections), nethost.MaxConnections),
		syncStreams: min(max(spare/4/syncStreamsInMemory, minSyncStreams), wire.MaxSyncStreams),
	}
}

// resources returns the limits of libp2p's resource manager. It counts the windows of streams in
// full, of which most is unused.
func (r room) resources() rcmgr.PartialLimitConfig {
	if !r.limited {
		return rcmgr.PartialLimitConfig{}
	}
	memory := rcmgr.LimitVal64(r.connections*reservedMemory + r.syncStreams*protocol.MaxSyncRequestBytes*2)
	return rcmgr.PartialLimitConfig{System: rcmgr.ResourceLimits{Memory: memory}}
}

// ofTask returns the bytes of shares for each of a number of tasks. It changes only when the number
// exceeds a power of two, because each change concerns all tasks.
func (r room) ofTask(tasks int) int {
	if !r.limited {
		return 0
	}
	return max(r.shares>>bits.Len(uint(max(tasks, 1)-1)), minTaskBytes)
}

func (n *Node) capacity() agent.Capacity { return agent.Capacity{Bytes: int(n.ofTask.Load())} }

// divide sets the limit of each task's shares for the given number of tasks. The caller holds n.mu.
func (n *Node) divide(tasks int) {
	bytes := int64(n.room.ofTask(tasks))
	if n.ofTask.Swap(bytes) == bytes {
		return
	}
	for _, s := range n.sessions {
		// The loop may be waiting for n.mu. The capacity is read when the call runs, so the order of
		// calls does not matter.
		n.background(func() {
			_ = s.do(context.Background(), func(now time.Time) { s.agent.SetCapacity(now, n.capacity()) }) // fails only after the session's end
		})
	}
}
