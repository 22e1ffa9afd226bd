package dprelease

import (
	"fmt"
	"io"

	"github.com/fbo-node/fbo/internal/privacy/designvector"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Disclosure returns the disclosure plain, changed for tasks with a section privacy: the exchange
// that newExchange returns releases vectors with noise. kind is the kind of its shares, and release
// describes the vectors.
func Disclosure(plain strategy.Disclosure, kind string, newExchange func(t *task.Task, entropy io.Reader) (*Exchange, error), release func(t *task.Task) task.Release) strategy.Disclosure {
	d := plain
	d.Applies = nil
	d.Rung = strategy.RungDP
	d.Release = release
	d.Exchanges = func(env strategy.Env) ([]strategy.Exchange, error) {
		e, err := newExchange(env.Task, env.Entropy)
		if err != nil {
			return nil, err
		}
		e.Disown(env.Unaccounted)
		return []strategy.Exchange{e}, nil
	}
	d.Debit = func(exchange string, note []byte) []byte {
		if exchange != kind {
			return nil
		}
		return note
	}
	return d
}

// OfDesigns returns the same as Disclosure for shares that contain one design. needs returns the
// value of task.Release.Needs: the setting that a task still needs, or an empty string.
func OfDesigns(plain strategy.Disclosure, kind string, newExchange func(t *task.Task, entropy io.Reader) (*Exchange, error), needs func(t *task.Task) string) strategy.Disclosure {
	d := Disclosure(plain, kind, newExchange, func(t *task.Task) task.Release {
		r := designvector.Release(t.Space)
		r.Needs = needs(t)
		return r
	})
	d.Reveals = func(t *task.Task) string {
		return fmt.Sprintf("Peers receive designs that this node's model prefers, with noise that guarantees (ε = %g, δ = %g) over %s, but no results.",
			t.Privacy.Epsilon, t.Privacy.Delta, sanitize.Count(t.Privacy.Releases, "share"))
	}
	return d
}

// Due returns the number of observations after which a DP release of a design is due. Releases
// count from 1. With k = share_every and n starting designs, release i is due after n - 1 + i·k
// observations. So a large share_every delays the first release to a time when the node has a
// better estimate of the optimum.
func Due(t *task.Task, release int) int {
	return t.Strategy.InitialDesigns - 1 + release*strategy.ChoiceOf(t).ShareEvery
}
