package sim

import (
	"math"
	"slices"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/protocol"
)

// mostSmall is the number of members above which every topic with Network.Authors is large. It is the
// default of agent.LargeTopic.
const mostSmall = 128

// largeTopic returns the limits of announce and fetch by Network.Authors.
func (r *run) largeTopic() agent.LargeTopic {
	if r.Network.Authors == 0 {
		return agent.LargeTopic{Above: math.MaxInt32}
	}
	return agent.LargeTopic{Above: max(1, min(len(r.Members)/2, mostSmall)), Authors: r.Network.Authors}
}

// fetchAuthor requests the announced shares of an author from the author itself. The request or the
// response may be lost; the agent then repeats it.
func (r *run) fetchAuthor(m *member, author peer.ID) {
	from, known := r.indices[author]
	if !known || !slices.Contains(r.network.receives[m.index], from) {
		return
	}
	request := m.agent.RequestOf([]peer.ID{author})
	size := counter{&m.result.FetchedBytes}
	if err := protocol.WriteSyncRequest(size, request); err != nil {
		m.fail(err)
		return
	}
	r.schedule(r.now()+r.network.delay(), func() {
		other := r.members[from]
		if other.agent == nil || !r.network.passes(m.index, from, r.now()) || r.network.lost() {
			return
		}
		for _, item := range other.agent.Answer(r.clock(), m.id, request) {
			share, err := protocol.Open(item.Envelope)
			if err == nil {
				err = protocol.WriteSyncItem(size, item)
			}
			if err != nil {
				m.fail(err)
				return
			}
			s := r.network.latest[from][share.Key]
			if s == nil || s.share.Digest != share.Digest {
				s = &sent{share: share, at: r.now() - item.Age}
				r.network.remember(from, s)
				if share.Kind != presence.Kind {
					other.result.Shares++
					other.result.Bytes += int64(len(share.Envelope))
				}
			}
			r.schedule(r.now()+r.network.delay(), func() {
				if r.network.passes(from, m.index, r.now()) {
					r.delivering = s
					m.receive(s.share, r.now()-s.at, agent.Source{})
					r.delivering = nil
				}
			})
		}
	})
}

// counter adds the number of bytes that are written to it.
type counter struct{ bytes *int64 }

func (c counter) Write(data []byte) (int, error) {
	*c.bytes += int64(len(data))
	return len(data), nil
}
