package node

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/continuation"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/internal/taskref"
	"github.com/fbo-node/fbo/task"
)

// Continued is what a session uses of the task that its own continues.
type Continued struct {
	Task    string   `json:"task"`    // ID of the former task
	Changes []string `json:"changes"` // differences between the two files that matter for designs

	Trials        int            `json:"trials"` // own trials that are carried over, at this start or before
	Added         int            `json:"added"`  // of these, those of this start
	DroppedTrials map[string]int `json:"dropped_trials,omitempty"`

	PeerShares    int            `json:"peer_shares"` // shares of peers on the former task, used until their authors share on this one
	DroppedShares map[string]int `json:"dropped_shares,omitempty"`
}

// String returns the state in one line.
func (c Continued) String() string {
	text := fmt.Sprintf("%s carried over from task %s", sanitize.Count(c.Trials, "trial"), taskref.Short(c.Task))
	if c.Added < c.Trials {
		text += fmt.Sprintf(" (%d before)", c.Trials-c.Added)
	}
	if dropped := continuation.Dropped(c.DroppedTrials); len(dropped) > 0 {
		text += fmt.Sprintf(", %d dropped: %s", dropped.Total(), dropped)
	}
	if dropped := continuation.Dropped(c.DroppedShares); c.PeerShares+len(dropped) > 0 {
		text += fmt.Sprintf("; %s of its peers used", sanitize.Count(c.PeerShares, "share"))
		if len(dropped) > 0 {
			text += fmt.Sprintf(", %d dropped: %s", dropped.Total(), dropped)
		}
	}
	return text
}

// Continued returns what the session uses of the task that its own continues; nil if there is no
// such task, or the data directory does not have it.
func (s *Session) Continued() *Continued { return s.continued }

// continueFormer imports the own trials of the former task, and passes its peers' shares to the
// agent. The import adds only trials that the task does not have, so a killed start is repeated. A
// former task that cannot be used causes a warning, and the task starts without it.
func (s *Session) continueFormer(now time.Time) error {
	if !s.task.Continues.Defined() || s.options.Keep {
		return nil
	}
	id := s.task.Continues.String()
	history, err := s.node.store.History(id)
	if err != nil {
		if len(s.agent.Trials()) == 0 {
			s.node.warn(notContinued(s.task, err))
		}
		return nil
	}
	c, err := task.Continue(history.Task, s.task)
	if err != nil {
		s.node.warn(notContinued(s.task, err))
		return nil
	}
	state := Continued{Task: id, Changes: c.Changes()}
	past, dropped := continuation.Trials(c, s.task, history.Trials)
	state.Trials, state.DroppedTrials = len(past), dropped
	if state.Added, err = s.agent.Import(now, past); err != nil {
		return fmt.Errorf("task %q: trials of task %s: %w", s.task.Name, taskref.Short(id), err)
	}
	shares, err := s.formerShares(history.Task, now)
	if err != nil {
		s.node.warn(fmt.Sprintf("peers' shares on the former task %s are not used: %v", taskref.Short(id), err))
	}
	mapped, droppedShares := continuation.Shares(c, s.task, shares)
	if state.PeerShares = s.agent.UseFormer(mapped); state.PeerShares < len(mapped) {
		droppedShares["of a kind that the task's strategy does not use"] += len(mapped) - state.PeerShares
	}
	state.DroppedShares = droppedShares
	s.continued = &state
	s.logger.Info("task continued", "former", id, "trials", state.Trials, "added", state.Added, "dropped", dropped.Total(),
		"peer_shares", state.PeerShares, "dropped_peer_shares", droppedShares.Total())
	return nil
}

// notContinued returns the warning about a former task that is not used.
func notContinued(t *task.Task, err error) string {
	former := taskref.Short(t.Continues.String())
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Sprintf("task %q continues task %s, which the data directory does not have: no trials and no peers' shares are carried over. "+
			"To use them, take the data directory of the former task, or first run `fbo-node keep FORMER.yaml` with this one to receive its peers' shares (docs/task-file.md)", t.Name, former)
	}
	return fmt.Sprintf("task %q continues task %s, which cannot be used (%v): no trials and no peers' shares are carried over", t.Name, former, err)
}

// formerShares returns the valid shares in the cache of a former task. An agent of that task
// validates them, as at a start of the node on it.
func (s *Session) formerShares(former *task.Task, now time.Time) ([]agent.FormerShare, error) {
	c, err := s.node.store.ShareCache(former.ID().String()).Read()
	if err != nil || len(c.Shares) == 0 {
		return nil, err
	}
	keeper, err := s.node.parts.newAgent(agent.Config{
		Task: former, Keep: true, Key: s.node.key, Seed: random.New(), Listed: s.node.Allow, Strategies: s.node.strategies,
	}, nil, now)
	if err != nil {
		return nil, err
	}
	s.restore(keeper, c)
	return keeper.ValidShares(now), nil
}
