package strategy

import "github.com/fbo-node/fbo/task"

// ExchangeAddition is what a part of a task adds to its strategy, whichever that is: one exchange
// with shares of one kind.
type ExchangeAddition struct {
	New  func(*task.Task) (Exchange, error)
	Kind string

	Described string // what is shared, for people; completes a sentence
	Reveals   string // what peers learn from it, in sentences that stand by themselves

	// Forge is as in [Disclosure], for shares of this kind.
	Forge func(t *task.Task, payload []byte, attack Forgery) ([]byte, error)
}

// WithExchange returns the registration with an addition to each of its disclosures. What ended
// nodes have shared by it is taken to stay true.
func (r Registration) WithExchange(a ExchangeAddition) Registration {
	disclosures := r.Disclosures
	if !r.Shares() {
		disclosures = []Disclosure{{}}
	}
	r.Disclosures = make([]Disclosure, len(disclosures))
	for i, d := range disclosures {
		r.Disclosures[i] = d.with(a)
	}
	return r
}

func (d Disclosure) with(a ExchangeAddition) Disclosure {
	extended := d
	extended.Exchanges = func(env Env) (list []Exchange, err error) {
		if d.Exchanges != nil {
			if list, err = d.Exchanges(env); err != nil {
				return nil, err
			}
		}
		e, err := a.New(env.Task)
		if err != nil {
			return nil, err
		}
		return append(list, e), nil
	}
	extended.Holds = func(t *task.Task) string {
		if d.Holds == nil {
			return a.Described
		}
		return d.Holds(t) + "; " + a.Described
	}
	extended.Reveals = func(t *task.Task) string {
		if d.Reveals == nil {
			return a.Reveals
		}
		return a.Reveals + " By the shares of the strategy: " + d.Reveals(t)
	}
	extended.Outdated = nil
	extended.Forge = func(t *task.Task, kind string, payload []byte, attack Forgery) ([]byte, error) {
		if kind == a.Kind || d.Forge == nil {
			return a.Forge(t, payload, attack)
		}
		return d.Forge(t, kind, payload, attack)
	}
	return extended
}
