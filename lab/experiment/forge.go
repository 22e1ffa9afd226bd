package experiment

import (
	"fmt"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/sim"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// forger replaces the shares of a member by forged ones: well-formed shares with the size of honest
// ones and false contents.
type forger struct {
	task       *task.Task
	strategy   string
	disclosure strategy.Disclosure
	attack     strategy.Forgery
	member     int
	forged     bool // whether it has forged a share
	err        error
}

func newForger(t *task.Task, r strategy.Registration, seed random.Seed, member int, attack strategy.Forgery) *forger {
	attack.Rand = seed.Stream("forged weights", uint64(member))
	return &forger{task: t, strategy: r.Name, disclosure: r.For(t).Disclosure(t), attack: attack, member: member}
}

// check returns an error if no share of the member could be forged.
func (f *forger) check(result sim.Result) error {
	if f.err == nil && !f.forged && result.Members[f.member].Direct > 0 {
		return fmt.Errorf("strategy %s shares everything in direct messages, which are not forged", f.strategy)
	}
	return f.err
}

func (f *forger) forge(kind string, payload []byte) []byte {
	if f.disclosure.Forge == nil {
		f.err = fmt.Errorf("strategy %s has no rule for forging its shares", f.strategy)
		return payload
	}
	forged, err := f.disclosure.Forge(f.task, kind, payload, f.attack)
	if err != nil {
		f.err = fmt.Errorf("forge a share of kind %q: %w", kind, err)
		return payload
	}
	f.forged = true
	return forged
}
