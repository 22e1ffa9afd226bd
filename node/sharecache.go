package node

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/sharecache"
	"github.com/fbo-node/fbo/protocol"
)

// shareCacheDir is the folder in a node's directory with the shares of peers, one file a
// task.
const shareCacheDir = "peer-shares"

// shareCachePause is the time from a change to a write of the file, and a second more for
// each MiB, so that a large fleet costs the disk a MiB a second at most.
const shareCachePause = time.Second

// shareCache keeps the shares of peers of a session in a file. The session's loop owns it.
type shareCache struct {
	path    string
	changed bool             // since the last snapshot was taken
	timer   *time.Timer      // runs while something is to be written
	writing chan writtenFile // receives when a write has ended; nil when none is under way
	bytes   int              // of the last snapshot
	failed  bool             // the user has been told that it cannot be written
}

type writtenFile struct{ err error }

func newShareCache(n *Node, task string) *shareCache {
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	return &shareCache{path: filepath.Join(n.Dir, shareCacheDir, task+".jsonl"), timer: timer}
}

// note plans a write when there is something new.
func (m *shareCache) note(changed bool) {
	if changed && !m.changed && m.writing == nil {
		m.plan()
	}
	m.changed = m.changed || changed
}

func (m *shareCache) plan() {
	m.timer.Reset(shareCachePause + time.Duration(m.bytes)*time.Second/(1<<20))
}

// begin writes a snapshot beside the loop.
func (m *shareCache) begin(c sharecache.Contents) {
	m.changed, m.bytes = false, 0
	for _, share := range c.Shares {
		m.bytes += len(share.Envelope)
	}
	m.writing = make(chan writtenFile, 1)
	go func(done chan<- writtenFile) { done <- writtenFile{sharecache.Write(m.path, c)} }(m.writing)
}

// ended takes note of how a write went and plans the next one when it is due. The
// error is one that the user has not been told yet.
func (m *shareCache) ended(w writtenFile) error {
	m.writing = nil
	m.changed = m.changed || w.err != nil // what could not be written is still to be written
	if m.changed {
		m.plan()
	}
	if w.err == nil {
		m.failed = false
		return nil
	}
	if m.failed {
		return nil
	}
	m.failed = true
	return fmt.Errorf("what peers told is not kept for the next start: %w", w.err)
}

// finish waits for a write that is under way and writes what is new. It is called
// after the loop.
func (m *shareCache) finish(c sharecache.Contents) error {
	m.timer.Stop()
	if m.writing != nil {
		w := <-m.writing
		m.changed = m.changed || w.err != nil
	}
	if !m.changed {
		return nil
	}
	return sharecache.Write(m.path, c)
}

// cacheShares writes the shares of peers for the next start, when the loop ends.
func (s *Session) cacheShares() {
	if err := s.memory.finish(s.cachedShares(time.Now())); err != nil {
		s.node.warn(fmt.Sprintf("what peers told is not kept for the next start: %v", err))
	}
}

// cachedShares is what the agent wants kept.
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

// restoreShares gives the agent the shares that an earlier run has stored: each share is opened,
// decoded and judged as if a peer told it. Nothing else depends on the file, so
// that a damaged one costs a warning.
func (s *Session) restoreShares() {
	c, err := sharecache.Read(s.memory.path)
	if err == nil && c.Task != s.id && (c.Task != "" || len(c.Shares) > 0) {
		err = fmt.Errorf("%s is of task %q: %w", s.memory.path, c.Task, sharecache.ErrDamaged)
	}
	if err != nil {
		s.node.warn(fmt.Sprintf("what peers told earlier is discarded: %v; they tell it again when they are connected", err))
		if errors.Is(err, sharecache.ErrDamaged) {
			_ = os.Remove(s.memory.path) // it is written anew in any case
		}
		return
	}
	for text, epoch := range c.Distrusted {
		if author, err := peer.Decode(text); err == nil {
			s.agent.Distrust(author, epoch)
		}
	}
	refused := 0
	for _, share := range c.Shares {
		if result := s.restoreShare(share, time.Now()); result == agent.Malformed {
			refused++
		}
	}
	if refused > 0 {
		s.logger.Info("shares of earlier runs are refused", "count", refused)
	}
}

func (s *Session) restoreShare(kept sharecache.Share, now time.Time) agent.ShareResult {
	if kept.ConflictingShare != nil {
		c, err := protocol.OpenEquivocationProof(kept.Envelope, kept.ConflictingShare)
		if err != nil {
			return agent.Malformed
		}
		if !(pubsubBlacklist{s.node}).Contains(c.First.Author) {
			s.agent.Equivocators(now, c)
		}
		return agent.Accepted
	}
	share, err := protocol.Open(kept.Envelope)
	if err != nil {
		return agent.Malformed
	}
	if (pubsubBlacklist{s.node}).Contains(share.Author) {
		return agent.Stale
	}
	result, _ := s.agent.RestorePeerShare(now, share, max(0, now.Sub(kept.Sent)), kept.Connected)
	return result
}
