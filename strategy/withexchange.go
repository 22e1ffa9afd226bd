package strategy

import (
	"strings"

	"github.com/fbo-node/fbo/task"
)

// ExchangeAddition is what a part of a task adds to its strategy, whichever that is: one exchange
// with shares of one kind.
type ExchangeAddition struct {
	New  func(*task.Task) (Exchange, error)
	Kind string

	Described string // what is said, for people; goes on in a sentence
	Reveals   string // what peers get to know by it, in sentences that stand by themselves

	// Forge is as in [Registration], for shares of this kind.
	Forge func(t *task.Task, payload []byte, attack Forgery) ([]byte, error)
}

// WithExchange returns the registration with an addition. What ended nodes have said by it is taken
// to stay true.
func (r Registration) WithExchange(a ExchangeAddition) Registration {
	extended := r
	extended.Exchanges = func(env Env) (list []Exchange, err error) {
		if r.Exchanges != nil {
			if list, err = r.Exchanges(env); err != nil {
				return nil, err
			}
		}
		e, err := a.New(env.Task)
		if err != nil {
			return nil, err
		}
		return append(list, e), nil
	}
	extended.Describe = func(t *task.Task) string {
		text := r.Describe(t)
		if r.Exchanges == nil {
			text = strings.TrimSuffix(text, "; nothing is shared")
		}
		return text + "; " + a.Described
	}
	extended.Reveals = func(t *task.Task) string {
		if r.Reveals == nil {
			return a.Reveals
		}
		return a.Reveals + " By the shares of the strategy: " + r.Reveals(t)
	}
	extended.Outdated = nil
	extended.Forge = func(t *task.Task, kind string, payload []byte, attack Forgery) ([]byte, error) {
		if kind == a.Kind || r.Forge == nil {
			return a.Forge(t, payload, attack)
		}
		return r.Forge(t, kind, payload, attack)
	}
	return extended
}
