package strategy

import (
	"maps"
	"slices"
	"strings"

	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/task"
)

// Disclosure is one way in which the nodes of a task share information, with all that depends
// on it. A task has the first disclosure of its strategy that fits: its key share has the value
// of Share, Release is set if and only if the task has a section privacy, and Applies returns true.
// Fields that are nil or empty do not apply.
type Disclosure struct {
	// Share is the value of the key share. It is empty where the strategy has no such key.
	// Without the key a task file has the Share of the first disclosure.
	Share string
	// Implied means that canonical forms leave out this value of share.
	Implied bool
	// Constrained means that the task must have constraints.
	Constrained bool
	// Coarse means that shared designs are cells of a secret grid (package internal/privacy/coarsen),
	// which several tasks on the same data may narrow: users are warned of that.
	Coarse bool
	// Every means that the key share_every applies.
	Every bool
	// Settings reads the further keys of this value of share, the same for all disclosures that
	// have it. The keys that only other values have are errors.
	Settings func(s *task.Section) task.StrategySettings
	// Applies reports whether the other keys of a task select this disclosure.
	Applies func(t *task.Task) bool

	// New makes the strategy of a task with this disclosure, in place of Registration.New.
	New func(t *task.Task) (Strategy, error)
	// Exchanges makes the exchanges of one agent, new ones each time. Required.
	Exchanges func(env Env) ([]Exchange, error)

	// Forecasts reports whether suggestions that use peers' shares have a Forecast.
	Forecasts func(t *task.Task) bool
	// Uses describes what the strategy uses of peers, for its Registration.Describe.
	Uses string
	// Holds describes what a share holds, in a clause for `task check`.
	Holds func(t *task.Task) string
	// Reveals describes what peers receive and what they can learn from it, in sentences for
	// `task check` and the first lines of `run`. Required.
	Reveals func(t *task.Task) string
	// Outdated returns why a task cannot use the shares of nodes that have ended; it is empty
	// if the task can use them.
	Outdated func(t *task.Task) string

	// Release describes the vector to which noise is added for the guarantee of the section
	// privacy, and what the task still needs for it.
	Release func(t *task.Task) task.Release
	// Debit returns the part of a note of an exchange that counts what has been spent of the
	// guarantee, and nil when it has none.
	Debit func(exchange string, note []byte) []byte

	// Sums returns what is known in advance of the sums of a task with mechanism aggregate.
	Sums func(t *task.Task) SumPlan

	// Forge returns the payload of a share of a kind, one of those that the Exchanges send,
	// replaced by a well-formed one without a true content, for adversaries in experiments.
	Forge func(t *task.Task, kind string, payload []byte, attack Forgery) ([]byte, error)
}

// SumPlan is what is known in advance of the sums of a task. Noise is the standard deviation on each
// weight of an average: a sum divided by the number of its contributions.
type SumPlan interface {
	// Cells returns the number of cells of the space, at least 1, each with weights of its own.
	Cells() int
	// EvidenceWeighted reports whether nodes use the average of all sums, weighted by evidence, and
	// not the first.
	EvidenceWeighted() bool
	// Noise returns the noise of a round, from 1, to which each of the nodes contributes noise of
	// this deviation, with as many nodes for each cell.
	Noise(round, nodes int, deviation float64) float64
	// PooledNoise returns the same for the evidence-weighted average of the first rounds.
	PooledNoise(rounds, nodes int, deviation float64) float64
}

// Keys of the section strategy that ReadChoice reads.
const (
	shareKey      = "share"
	shareEveryKey = "share_every"
)

// MaxShareEvery is the maximum of the key share_every.
const MaxShareEvery = 10_000

// Choice is the part of a task file that selects its disclosure. The settings of a strategy with the
// key share embed it, or are it.
type Choice struct {
	Share      string                // the value of the key share
	ShareEvery int                   // the number of observations between two shares: 1 to MaxShareEvery, 1 unless the disclosure has Every
	Settings   task.StrategySettings // what Disclosure.Settings has read; nil without it
	Implied    bool                  // canonical forms leave out Share
}

// ReadChoice reads the key share, with one of the values that the disclosures have, and the keys
// that depend on it.
func ReadChoice(s *task.Section, all []Disclosure) Choice {
	chosen := readShare(s, all)
	c := Choice{Share: chosen.Share, Implied: chosen.Implied, ShareEvery: 1}
	if chosen.Every {
		c.ShareEvery = s.Whole(shareEveryKey, 1, 1, MaxShareEvery)
	} else if with := sharesOf(all, func(d Disclosure) bool { return d.Every }); len(with) > 0 {
		s.Refuse(shareEveryKey, shareKey+": "+list(with, "or"))
	}
	if chosen.Settings != nil {
		c.Settings = chosen.Settings(s)
	}
	refuseOther(s, all)
	return c
}

// refuseOther refuses the keys that only other values of share have.
func refuseOther(s *task.Section, all []Disclosure) {
	var keys []string
	values := map[string][]string{} // of share, with which a key applies
	for _, d := range all {
		if d.Settings == nil {
			continue
		}
		for _, key := range s.KeysOf(func(other *task.Section) { d.Settings(other) }) {
			if !s.Known(key) && !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
			if !slices.Contains(values[key], d.Share) {
				values[key] = append(values[key], d.Share)
			}
		}
	}
	for _, key := range keys {
		s.Refuse(key, shareKey+": "+list(values[key], "or"))
	}
}

// readShare returns the first disclosure with the value of share. For a wrong value, which is
// reported, it has the keys of the default, and share_every if all have that.
func readShare(s *task.Section, all []Disclosure) Disclosure {
	fallback := all[0].Share
	if implied := sharesOf(all, func(d Disclosure) bool { return d.Implied }); s.Complete() && len(implied) > 0 {
		fallback = implied[0]
	}
	share := s.Word(shareKey, fallback, sharesOf(all, func(Disclosure) bool { return true })...)
	i := slices.IndexFunc(all, func(d Disclosure) bool { return d.Share == share })
	if i < 0 {
		lacks := func(d Disclosure) bool { return !d.Every }
		return Disclosure{Settings: all[0].Settings, Every: !slices.ContainsFunc(all, lacks)}
	}
	if all[i].Constrained && !s.Constrained() {
		s.Errorf(shareKey, "share %s applies only to tasks with constraints, or with failures: constraint; accepted are %s",
			share, list(sharesOf(all, func(d Disclosure) bool { return !d.Constrained }), "and"))
	}
	return all[i]
}

// sharesOf lists the values of share of some disclosures, each once.
func sharesOf(all []Disclosure, keep func(Disclosure) bool) (values []string) {
	for _, d := range all {
		if keep(d) && !slices.Contains(values, d.Share) {
			values = append(values, d.Share)
		}
	}
	return values
}

// list lists words, as in "a, b and c".
func list(words []string, and string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " " + and + " " + words[last]
}

// Keys returns the keys that ReadChoice reads, without defaults that canonical forms leave out.
func (c Choice) Keys() map[string]any {
	keys := map[string]any{}
	if c.Settings != nil {
		maps.Copy(keys, c.Settings.Keys())
	}
	if !c.Implied {
		keys[shareKey] = c.Share
	}
	if c.ShareEvery > 1 {
		keys[shareEveryKey] = c.ShareEvery
	}
	return keys
}

// Comes describes when shares come, as the end of Disclosure.Holds.
func (c Choice) Comes() string {
	return ", and comes after " + sanitize.Every(c.ShareEvery, "observation")
}

func (c Choice) choice() Choice { return c }

// ChoiceOf returns the Choice that the settings of a task's strategy embed, the zero value if
// they embed none.
func ChoiceOf(t *task.Task) Choice {
	if s, ok := t.Strategy.Settings.(interface{ choice() Choice }); ok {
		return s.choice()
	}
	return Choice{}
}

// ChosenSettings returns what the Settings of a task's disclosure have read, the zero value if
// that has another type.
func ChosenSettings[T task.StrategySettings](t *task.Task) T {
	settings, _ := ChoiceOf(t).Settings.(T)
	return settings
}

// DisclosureOf returns the disclosure of a task, the zero value if none fits.
func DisclosureOf(all []Disclosure, t *task.Task) Disclosure {
	share := ChoiceOf(t).Share
	for _, d := range all {
		if d.Share == share && (d.Release != nil) == (t.Privacy != nil) && (d.Applies == nil || d.Applies(t)) {
			return d
		}
	}
	return Disclosure{}
}

// ReleaseOf returns the Release of the disclosures for the Choice of a task. Where that has none,
// it returns the first one, with the value of share that the task needs. The settings of a strategy
// with a Mechanism implement task.Releaser by it.
func ReleaseOf(all []Disclosure, t *task.Task) task.Release {
	share := ChoiceOf(t).Share
	releases := func(d Disclosure) bool { return d.Release != nil }
	if i := slices.IndexFunc(all, func(d Disclosure) bool { return releases(d) && d.Share == share }); i >= 0 {
		return all[i].Release(t)
	}
	first := all[slices.IndexFunc(all, releases)]
	r := first.Release(t)
	if slices.ContainsFunc(all, func(d Disclosure) bool { return !releases(d) }) { // else it is a wrong word, which is reported
		r.Needs = shareKey + ": " + first.Share
	}
	return r
}
