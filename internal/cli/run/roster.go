package run

import (
	"crypto/rand"
	"fmt"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/store"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// checkRoster returns an error if the section strategy has a roster and the node with this data directory
// cannot take part. It is called before anything is started for the node.
func checkRoster(t *task.Task, dir string) error {
	r := base.RegistrationOf(t)
	if !r.Rostered(t) {
		return nil
	}
	key, err := store.LoadIdentity(dir)
	if err != nil {
		return err
	}
	if _, err = agent.NewExchanges(r, strategy.Env{Task: t, Key: key, Entropy: rand.Reader}); err != nil {
		return fmt.Errorf("task %q: %w; the node's key is in %s", t.Name, err, dir)
	}
	return nil
}
