package agent

import (
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/internal/recoverpanic"
	"github.com/fbo-node/fbo/strategy"
)

// Author is a peer whose shares the agent stores.
type Author struct {
	ID     peer.ID
	Shares int       // without presence messages
	Newest time.Time // time at which the newest share or presence message was accepted
}

// Authors returns the peers whose valid shares the agent stores, sorted by ID.
func (a *Agent) Authors(now time.Time) (all []Author) {
	for _, h := range a.shares.order {
		if h.Author == a.self || !now.Before(h.expires) {
			continue
		}
		if len(all) == 0 || all[len(all)-1].ID != h.Author {
			all = append(all, Author{ID: h.Author})
		}
		author := &all[len(all)-1]
		if h.Kind != presence.Kind {
			author.Shares++
		}
		if h.accepted.After(author.Newest) {
			author.Newest = h.accepted
		}
	}
	return all
}

// PeerWeights returns the weight that the strategy gives each peer in a view of this agent. The
// list is empty if the strategy does not weigh single peers. It may run concurrently with the
// agent.
func (a *Agent) PeerWeights(view strategy.View) ([]strategy.PeerWeight, error) {
	believer, ok := a.strategy.(strategy.PeerWeigher)
	if !ok {
		return nil, nil
	}
	return recoverpanic.Call("the strategy", func() ([]strategy.PeerWeight, error) { return believer.PeerWeights(view) })
}
