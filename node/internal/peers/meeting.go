package peers

import (
	"bytes"
	"time"
)

const (
	meetingPause   = 2 * time.Second // at most, for a node with too few active peers that learns of new nodes
	meetingRenewal = 2 * time.Minute // for a node with enough active peers
)

// Meeting decides when a node registers for a task at a hub: at once, then at growing intervals, and
// again when the connection was lost or the node's own addresses have changed. It is used by one
// goroutine.
type Meeting struct {
	task       *Task
	pause      time.Duration
	next       time.Time
	record     []byte // that the hub has
	connection uint64 // over which the hub got it
	members    int    // before that
}

// NewMeeting returns the decisions on a hub.
func (t *Task) NewMeeting(now time.Time) *Meeting {
	return &Meeting{task: t, pause: ConnectPause, next: now}
}

// IsDue reports whether to register with a record, nil for none, over the connection of this number.
func (m *Meeting) IsDue(now time.Time, connected bool, connection uint64, record []byte) bool {
	if !connected {
		m.next = now
		return false
	}
	changed := connection != m.connection || !bytes.Equal(record, m.record)
	if record == nil || !changed && now.Before(m.next) {
		return false
	}
	if changed {
		m.pause = ConnectPause
	}
	m.record, m.connection, m.members = record, connection, m.task.Members()
	return true
}

// Ended records that a registration has ended, and whether the hub has introduced other nodes.
func (m *Meeting) Ended(now time.Time, introduced bool) {
	m.next = now.Add(m.task.policy.Jittered(m.pause))
	m.pause = min(2*m.pause, LongPause)
	if m.task.Members() > m.members {
		m.pause = min(m.pause, meetingPause) // there may be more
	}
	if introduced && m.task.Active(now) >= EnoughPeers {
		m.next = now.Add(m.task.policy.Jittered(meetingRenewal))
	}
}
