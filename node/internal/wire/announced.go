package wire

import (
	"context"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/node/internal/peers"
	"github.com/fbo-node/fbo/protocol"
)

// FetchAuthors requests the announced shares of authors, and never blocks. The agent repeats it for
// authors whose shares do not arrive. Only the session's loop may call it.
func (t *Topic) FetchAuthors(authors []peer.ID) {
	t.running.Go(func() { t.carryOutFetch(t.policy.PlanFetch(time.Now(), authors, t.OnTask())) })
}

// Reaches reports whether the node can request shares from an author itself.
func (t *Topic) Reaches(author peer.ID) bool { return t.policy.Reaches(time.Now(), author) }

// carryOutFetch carries out a plan of peers.Task. Authors that cannot be dialled are asked of the
// helper too.
func (t *Topic) carryOutFetch(plan peers.FetchPlan) {
	for _, author := range plan.Ask {
		t.running.Go(func() { t.fetchFrom(author, []peer.ID{author}) })
	}
	reached := make(chan peer.ID, len(plan.Dial))
	for _, c := range plan.Dial {
		t.running.Go(func() {
			if !t.dialMember(c) {
				reached <- c.Info.ID
				return
			}
			reached <- ""
			t.fetchFrom(c.Info.ID, []peer.ID{c.Info.ID})
		})
	}
	rest := plan.Rest
	for range plan.Dial {
		if id := <-reached; id != "" {
			rest = append(rest, id)
		}
	}
	if plan.Helper != "" && len(rest) > 0 {
		t.fetchFrom(plan.Helper, rest)
	}
}

// fetchFrom requests the shares of authors from a peer.
func (t *Topic) fetchFrom(from peer.ID, authors []peer.ID) {
	leave, err := t.net.fetching.enter(t.ctx, from)
	if err != nil {
		return
	}
	defer leave()
	ctx, cancel := context.WithTimeout(t.ctx, syncTimeout)
	defer cancel()
	err = t.requestShares(ctx, from, nil, func(a *agent.Agent) protocol.SyncRequest { return a.RequestOf(authors) })
	if t.ctx.Err() != nil {
		return
	}
	t.metrics.Fetched(err != nil)
	if err != nil {
		t.log.Info("cannot fetch announced shares", "peer", from, "error", err)
	}
}
