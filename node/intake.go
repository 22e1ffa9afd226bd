package node

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/protocol"
)

// Streams that are read at the same time, and for how long.
const (
	mostSyncStreams       = 16 // each may take up protocol.MaxSyncRequestBytes
	mostSyncStreamsOfPeer = 8  // an honest one has one for each task in common

	mostSmallStreams       = 64 // questions about names, requests to be introduced
	mostSmallStreamsOfPeer = 4
	smallBytes             = 16 << 10 // that each may take up
)

var (
	errTooOften = errors.New("asks too often")
	errNoPlace  = errors.New("there is no place for another stream")
)

// service is a protocol of which so many streams are read at the same time. When all places
// are taken, the group that holds most loses one to a group that holds fewer, and
// strangers lose theirs to those whom the user has named.
type service struct {
	name                string // for libp2p
	most, ofPeer, bytes int
	timeout             time.Duration

	mu     sync.Mutex
	guests []*guest // oldest first
}

// guest is a stream that has a place.
type guest struct {
	id    peer.ID
	group string
	named bool
	reset func() error
}

// take gives a stream a place, which leave gives back; false when there is none.
func (s *service) take(g *guest) (leave func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ofPeer := 0
	for _, other := range s.guests {
		if other.id == g.id {
			ofPeer++
		}
	}
	if ofPeer >= s.ofPeer {
		return nil, false
	}
	if len(s.guests) >= s.most {
		loser := s.loser(g)
		if loser < 0 {
			return nil, false
		}
		go s.guests[loser].reset() // may wait for the connection
		s.guests = slices.Delete(s.guests, loser, loser+1)
	}
	s.guests = append(s.guests, g)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.guests = slices.DeleteFunc(s.guests, func(other *guest) bool { return other == g })
	}, true
}

// loser is whose place a newcomer gets, -1 for nobody's: the oldest stream of the largest
// group. The caller holds the lock.
func (s *service) loser(newcomer *guest) int {
	among := newcomer.named // whose places are asked for: of the named or of strangers
	if among && slices.ContainsFunc(s.guests, func(g *guest) bool { return !g.named }) {
		among = false
	}
	counts := map[string]int{}
	for _, g := range s.guests {
		if g.named == among {
			counts[g.group]++
		}
	}
	loser, most := -1, 0
	if among == newcomer.named {
		most = counts[newcomer.group] + 1 // that which loses one must not be the smaller one then
	}
	for i, g := range s.guests {
		if g.named == among && counts[g.group] > most {
			loser, most = i, counts[g.group]
		}
	}
	return loser
}

// admit lets a stream in that a peer has opened, with the time and memory that it may take.
// What leave does is done when it has been dealt with. A stream that is not admitted is reset
// by the caller; more of them than an honest peer opens are faults.
func (s *service) admit(stream network.Stream, c *conduct, named bool, blame func(peer.ID, int, error)) (leave func(), err error) {
	from := stream.Conn().RemotePeer()
	if c.isBanned(from) {
		return nil, errBarred
	}
	leave, err = s.enter(stream, c, named)
	if err != nil && !c.mayStray(from) {
		blame(from, 1, err)
	}
	return leave, err
}

func (s *service) enter(stream network.Stream, c *conduct, named bool) (leave func(), err error) {
	connection := stream.Conn()
	from := connection.RemotePeer()
	if !c.maySync(from) {
		return nil, errTooOften
	}
	_, group := groupOfAddress(connection.RemoteMultiaddr())
	leave, ok := s.take(&guest{id: from, group: group, named: named, reset: stream.Reset})
	if !ok {
		return nil, errNoPlace
	}
	if err := s.limit(stream); err != nil {
		leave()
		return nil, err
	}
	return leave, nil
}

// limit puts on the service's account what a stream takes, and ends it in time.
func (s *service) limit(stream network.Stream) error {
	if err := stream.Scope().SetService(s.name); err != nil {
		return err
	}
	if err := stream.Scope().ReserveMemory(s.bytes, network.ReservationPriorityMedium); err != nil {
		return err
	}
	return stream.SetDeadline(time.Now().Add(s.timeout))
}

func newSyncService() *service {
	return &service{
		name: "fbo.sync", most: mostSyncStreams, ofPeer: mostSyncStreamsOfPeer,
		bytes: protocol.MaxSyncRequestBytes, timeout: syncTimeout,
	}
}

func newSmallService(name string, timeout time.Duration) *service {
	return &service{name: name, most: mostSmallStreams, ofPeer: mostSmallStreamsOfPeer, bytes: smallBytes, timeout: timeout}
}
