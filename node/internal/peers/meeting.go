package peers

import (
	"bytes"
	"time"
)

const (
	meetingPause   = 2 * time.Second // maximum pause for a node with too few active peers while the hub introduces new nodes
	meetingRenewal = 2 * time.Minute // pause for a node with enough active peers
)

// Meeting decides when a node registers for a task at a hub: at once, then at growing intervals,
// and again when the connection was renewed or the node's own record has changed. Only one
// goroutine may use it.
type Meeting struct {
	task       *Task
	pause      time.Duration
	next       time.Time
	record     []byte // the node's record at the last registration
	connection uint64 // number of the connection of the last registration
	members    int    // number of known members before the last registration
}

// NewMeeting returns a Meeting for one hub.
func (t *Task) NewMeeting(now time.Time) *Meeting {
	return &Meeting{task: t, pause: ConnectPause, next: now}
}

// IsDue reports whether to register now, with the node's current record over the connection with
// this number. A nil record means that the node has none yet.
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

// Ended records that a registration has ended. The argument introduced reports whether the hub sent
// records of other nodes.
func (m *Meeting) Ended(now time.Time, introduced bool) {
	m.next = now.Add(m.task.policy.Jittered(m.pause))
	m.pause = min(2*m.pause, LongPause)
	if m.task.Members() > m.members {
		m.pause = min(m.pause, meetingPause) // the hub may have further nodes
	}
	if introduced && m.task.Active(now) >= EnoughPeers {
		m.next = now.Add(m.task.policy.Jittered(meetingRenewal))
	}
}
