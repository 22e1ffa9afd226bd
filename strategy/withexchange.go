package strategy

import (
	"fmt"
	"slices"

	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/task"
)

// ExchangeAddition is an exchange that a part of a task adds to the exchanges of its strategy. It
// can be added to every strategy. Its shares have one kind.
type ExchangeAddition struct {
	// Applies reports whether a task asks for the exchange. The exchange of a SurrogateExtension needs
	// none.
	Applies func(*task.Task) bool
	New     func(*task.Task) (Exchange, error)
	Kind    string

	Rung      Rung   // how much a share discloses; the disclosure of a task has the larger of this and its own
	Described string // clause for people that describes the content of a share, as Disclosure.Holds returns it
	Reveals   string // complete sentences that describe what peers can learn from a share

	// Forge forges shares of this kind, as Disclosure.Forge does.
	Forge func(t *task.Task, payload []byte, attack Forgery) ([]byte, error)
}

// SurrogateExtension is an extension of the surrogate by which the model of the objective learns
// from peers' shares, with any strategy. A word of the task's section surrogate selects it.
// [Set.With] adds extensions to the strategies of a program.
type SurrogateExtension struct {
	task.SurrogateExtension

	// Extend returns the extended model of a task. process is the model without the extension. The
	// agent passes the value of the exchange's Result to the model; the value is a [ModelInput].
	Extend func(t *task.Task, process Process) (PeerModel, error)

	ExchangeAddition
}

// With returns a copy of the set in which every strategy supports the extensions. An extension that
// a strategy already has is not added again.
func (s Set) With(extensions ...SurrogateExtension) Set {
	extended := slices.Clone(s)
	for i := range extended {
		r := &extended[i]
		r.extensions, r.Extensions = slices.Clone(r.extensions), slices.Clone(r.Extensions)
		for _, e := range extensions {
			if !slices.Contains(r.Extensions, e.SurrogateExtension) {
				r.extensions, r.Extensions = append(r.extensions, e), append(r.Extensions, e.SurrogateExtension)
			}
		}
	}
	return extended
}

// WithExchanges returns a copy of the set in which the tasks of every strategy may ask for these
// exchanges. An exchange whose Kind a strategy already has is not added again.
func (s Set) WithExchanges(additions ...ExchangeAddition) Set {
	extended := slices.Clone(s)
	for i := range extended {
		r := &extended[i]
		r.additions = slices.Clone(r.additions)
		for _, a := range additions {
			if !slices.ContainsFunc(r.additions, func(b ExchangeAddition) bool { return b.Kind == a.Kind }) {
				r.additions = append(r.additions, a)
			}
		}
	}
	return extended
}

// For returns the registration with the exchanges that an extension of the task's surrogate and other
// parts of the task add. The registrations that [Set.Of] returns already include them.
func (r Registration) For(t *task.Task) Registration {
	if e, ok := r.extensionOf(t); ok {
		r = r.WithExchange(e.ExchangeAddition)
	}
	for _, a := range r.additions {
		if a.Applies(t) {
			r = r.WithExchange(a)
		}
	}
	return r
}

// extensionOf returns the extension that the surrogate of a task uses.
func (r Registration) extensionOf(t *task.Task) (e SurrogateExtension, ok bool) {
	for _, e := range r.extensions {
		if e.SurrogateExtension == t.Surrogate.Extension {
			return e, true
		}
	}
	return e, false
}

// Model returns the model of a task's objective, extended if the task's surrogate has an extension.
func (r Registration) Model(t *task.Task) (Model, error) {
	model, err := surrogate.New(t)
	if err != nil {
		return nil, err
	}
	e, ok := r.extensionOf(t)
	switch process, exact := model.(Process); {
	case ok && exact:
		return e.Extend(t, process)
	case t.Surrogate.Extended():
		return nil, fmt.Errorf("surrogate %s is unknown to this program", t.Surrogate.Extension)
	}
	return model, nil
}

// WithExchange returns a copy of the registration in which every disclosure includes the added
// exchange. Shares of that exchange from nodes that have ended count as usable: the copies have no
// Outdated.
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
	extended.Rung = d.Rung.most(a.Rung)
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
