package peers

import (
	"fmt"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// A node registers at a hub at growing intervals, soon after it has learned of members, seldom with
// enough active peers, and at once over a new connection or with a new record.
func TestMeetings(t *testing.T) {
	s, _ := taskWith(0, false)
	m := s.NewMeeting(noon)
	now, connection, record := noon, uint64(1), []byte("record")
	meet := func(what string, introduced bool, least, most time.Duration) {
		t.Helper()
		from := now
		for !m.IsDue(now, true, connection, record) {
			now = now.Add(100 * time.Millisecond)
		}
		if took := now.Sub(from); took < least || took > most {
			t.Errorf("%s: after %v, expected %v to %v", what, took, least, most)
		}
		if introduced {
			introduce(t, s, "hub", Global, fmt.Sprintf("/ip4/13.0.0.%d/tcp/1", s.Members()+1))
		}
		m.Ended(now, true)
	}
	if m.IsDue(now, false, connection, record) || m.IsDue(now, true, connection, nil) {
		t.Error("a registration is due without a connection, or without a record")
	}
	meet("the first", true, 0, 0)
	meet("after the first", true, ConnectPause/2, 2*ConnectPause)
	for range 5 {
		meet("with new members", true, meetingPause/2, 2*meetingPause)
	}
	for range 5 {
		meet("without", false, 0, 2*LongPause)
	}
	meet("without for long", false, LongPause/2, 2*LongPause)
	connection++
	meet("over a new connection", false, 0, 0)
	record = []byte("another")
	meet("with a new record", false, 0, 0)
	for i := range EnoughPeers {
		s.Joined(now, peer.ID(fmt.Sprint(i)))
	}
	connection++
	meet("with enough peers", false, 0, 0)
	meet("after that", false, meetingRenewal/2, 2*meetingRenewal)
}
