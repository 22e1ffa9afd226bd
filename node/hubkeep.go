package node

import (
	"context"

	"github.com/fbo-node/fbo/task"
)

// Keep makes the hub a member of a task that evaluates nothing, as JoinOptions.Keep
// does: it takes, keeps and passes on what the nodes share. So it gets to know what
// they share, which a hub otherwise does not. Where nodes have a list of those who may
// take part, the hub must be on it. It may be called after Start, once a task.
func (h *Hub) Keep(ctx context.Context, t *task.Task) (*Session, error) {
	return h.KeepInvited(ctx, t, nil)
}

// KeepInvited is Keep for a task that needs an invitation, as JoinOptions.Invitation
// says.
func (h *Hub) KeepInvited(ctx context.Context, t *task.Task, i *Invitation) (*Session, error) {
	if h.host == nil {
		return nil, needsStart("Hub.Keep")
	}
	if len(h.Strategies) == 0 {
		return nil, needsStrategies("Hub")
	}
	if h.keeper == nil {
		keeper := &Node{Dir: h.Dir, Host: h.host, Allow: h.Allow, Strategies: h.Strategies, Log: h.Log, OnWarning: h.OnWarning}
		if err := keeper.Start(ctx); err != nil {
			return nil, err
		}
		h.keeper = keeper
	}
	return h.keeper.Join(ctx, t, JoinOptions{Keep: true, Invitation: i})
}
