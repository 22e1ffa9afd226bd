package node

import (
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/sharecache"
	"github.com/fbo-node/fbo/protocol"
)

// cacheShares writes peers' shares to disk for the next start. It is called when the loop ends.
func (s *Session) cacheShares() {
	if err := s.memory.Finish(s.cachedShares(time.Now())); err != nil {
		s.warnNotCached(err)
	}
}

func (s *Session) warnNotCached(err error) {
	s.node.warn(fmt.Sprintf("peers' shares are not stored for the next start: %v", err))
}

// cachedShares returns the shares that the agent selects for the next start.
func (s *Session) cachedShares(now time.Time) sharecache.Contents {
	known := s.agent.PeerShares(now)
	c := sharecache.Contents{Task: s.id, Distrusted: map[string]uint64{}}
	for _, share := range known.Shares {
		c.Shares = append(c.Shares, sharecache.Share(share))
	}
	for author, epoch := range known.Distrusted {
		c.Distrusted[author.String()] = epoch
	}
	return c
}

// restoreShares passes the shares in the cache to the agent. Each share is opened, decoded and
// validated as if a peer had sent it. The file is only a cache, so a damaged one causes only a
// warning.
func (s *Session) restoreShares() {
	c, err := s.memory.Read()
	if err != nil {
		s.node.warn(fmt.Sprintf("stored shares of peers are discarded: %v; peers send them again when they are connected", err))
		return
	}
	s.restore(s.agent, c)
}

// restore passes cached shares to an agent of their task.
func (s *Session) restore(to *agent.Agent, c sharecache.Contents) {
	for text, epoch := range c.Distrusted {
		if author, err := peer.Decode(text); err == nil {
			to.Distrust(author, epoch)
		}
	}
	refused := 0
	for _, share := range c.Shares {
		if result := s.restoreShare(to, share, time.Now()); result == agent.Malformed {
			refused++
		}
	}
	if refused > 0 {
		s.logger.Info("shares of earlier runs are refused", "count", refused)
	}
}

func (s *Session) restoreShare(to *agent.Agent, kept sharecache.Share, now time.Time) agent.ShareResult {
	if kept.ConflictingShare != nil {
		c, err := protocol.OpenEquivocationProof(kept.Envelope, kept.ConflictingShare)
		if err != nil {
			return agent.Malformed
		}
		if !s.node.network.Refuses(c.First.Author) {
			to.Equivocators(now, c)
		}
		return agent.Accepted
	}
	share, err := protocol.Open(kept.Envelope)
	if err != nil {
		return agent.Malformed
	}
	if s.node.network.Refuses(share.Author) {
		return agent.Stale
	}
	result, _ := to.RestorePeerShare(now, share, max(0, now.Sub(kept.Sent)), kept.Connected)
	return result
}
