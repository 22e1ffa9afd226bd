package strategy

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/task"
)

// Disclosure is one way in which the nodes of a task share information. It holds the exchanges, and
// the descriptions of what peers receive and can learn from them.
//
// A strategy has a list of disclosures, and a task uses the first one that fits. A disclosure fits
// if three conditions hold. The task's key share has the value of Share. Release is set if and only
// if the task has a section privacy. Applies is nil or returns true. Other fields that are nil or
// empty do not apply.
type Disclosure struct {
	// Share is the value of the key share. It is empty if the strategy has no such key. A task file
	// without the key uses the Share of the first disclosure.
	Share string
	// Implied means that the canonical form of a task omits the key share if it has this value.
	Implied bool
	// Constrained means that the task must have constraints.
	Constrained bool
	// Objectives means that the task may have several objectives.
	Objectives bool
	// Coarse means that shared designs are cells of a secret grid (package
	// internal/privacy/coarsen). An observer who sees the shares of several tasks on the same data
	// can combine their cells to narrow down the design, so users are warned.
	Coarse bool
	// Every means that the task file may contain the key share_every. EveryDefault is its default; 0
	// means 1.
	Every        bool
	EveryDefault int
	// Roster means that Settings reads the key roster: the only nodes that may participate. The value
	// of Settings is then a task.Rostered.
	Roster bool
	// Settings reads the further keys that this value of share allows. All disclosures with the
	// same Share have the same Settings. A key that only other values of share allow is an error.
	Settings func(s *task.Section) task.StrategySettings
	// Applies reports whether the other keys of a task select this disclosure.
	Applies func(t *task.Task) bool

	// Rung is the place of the disclosure among all, by how much it discloses. It is required.
	Rung Rung
	// New returns the strategy of a task with this disclosure. It replaces Registration.New.
	New func(t *task.Task) (Strategy, error)
	// Exchanges returns new exchanges for one agent. It is required.
	Exchanges func(env Env) ([]Exchange, error)

	// Forecasts reports whether suggestions that use peers' shares have a Forecast.
	Forecasts func(t *task.Task) bool
	// Uses describes how the strategy uses peers' shares, for its Registration.Describe.
	Uses string
	// Holds returns a clause for `task check` that describes the content of a share.
	Holds func(t *task.Task) string
	// Reveals returns sentences that describe what peers receive and what they can learn from it.
	// `task check` prints them, and `run` prints them first. It is required.
	Reveals func(t *task.Task) string
	// Outdated returns the reason why a task cannot use the shares of nodes that have ended. It
	// returns an empty string if the task can use them.
	Outdated func(t *task.Task) string

	// Release describes the vector to which DP noise is added, and lists what the task still needs
	// for the guarantee of its section privacy.
	Release func(t *task.Task) task.Release
	// Debit returns the part of an exchange's [Record] that counts spent privacy budget. It returns
	// nil if the record has no such part. exchange is the name of the exchange, and note is the
	// record's data.
	Debit func(exchange string, note []byte) []byte

	// Sums returns the noise that the private sums of a task with mechanism aggregate will have.
	Sums func(t *task.Task) SumPlan

	// Forge replaces the payload of a share by a well-formed payload with false content, for
	// adversaries in experiments. kind is the kind of one of the Exchanges.
	Forge func(t *task.Task, kind string, payload []byte, attack Forgery) ([]byte, error)
}

// SumPlan predicts the noise of a task's private sums before they run. A sum divided by the number
// of contributions is an average of weights. Noise is measured as the standard deviation on each
// weight of that average.
type SumPlan interface {
	// Cells returns the number of cells into which the search space is divided, at least 1. Each
	// cell has its own weights.
	Cells() int
	// EvidenceWeighted reports whether nodes use the average of all rounds' sums, weighted by
	// evidence. Otherwise nodes use only the sum of the first round.
	EvidenceWeighted() bool
	// Noise returns the noise of one round's average. Rounds count from 1. Each of the nodes
	// contributes noise with this standard deviation, and the nodes are divided equally among the
	// cells.
	Noise(round, nodes int, deviation float64) float64
	// PooledNoise returns the noise of the evidence-weighted average over the first rounds, under
	// the same assumptions.
	PooledNoise(rounds, nodes int, deviation float64) float64
}

// Keys of the section strategy that ReadChoice reads.
const (
	shareKey      = "share"
	shareEveryKey = "share_every"
)

// MaxShareEvery is the maximum of the key share_every.
const MaxShareEvery = 10_000

// Choice holds the keys of a task file that select its disclosure. The settings of a strategy with
// the key share are a Choice or embed one.
type Choice struct {
	Share      string                // the value of the key share
	ShareEvery int                   // number of observations between two shares, 1 to MaxShareEvery; 1 unless the disclosure has Every
	Settings   task.StrategySettings // the return value of Disclosure.Settings; nil if the disclosure has none
	Implied    bool                  // the canonical form of the task omits Share

	everyDefault int // Disclosure.EveryDefault; the canonical form of the task omits ShareEvery if it is 1 and this is 0
}

// ReadChoice reads the key share and the keys that depend on its value. The accepted values are
// those of the disclosures in all. It reports errors to the section.
func ReadChoice(s *task.Section, all []Disclosure) Choice {
	chosen := readShare(s, all)
	c := Choice{Share: chosen.Share, Implied: chosen.Implied, ShareEvery: 1, everyDefault: chosen.EveryDefault}
	if chosen.Every {
		c.ShareEvery = s.Whole(shareEveryKey, cmp.Or(c.everyDefault, 1), 1, MaxShareEvery)
	} else if with := sharesOf(all, func(d Disclosure) bool { return d.Every }); len(with) > 0 {
		s.Refuse(shareEveryKey, shareKey+": "+list(with, "or"))
	}
	if chosen.Settings != nil {
		c.Settings = chosen.Settings(s)
	}
	refuseOther(s, all)
	return c
}

// refuseOther reports an error for each key that is present but belongs only to other values of
// share.
func refuseOther(s *task.Section, all []Disclosure) {
	var keys []string
	values := map[string][]string{} // of share, by the key that they allow
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

// readShare returns the first disclosure with the value of the key share. It reports a wrong value
// as an error. The result then has the Settings of the default, and Every if all disclosures have
// it, so that the remaining keys can still be read.
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
		s.Errorf(shareKey, "share %s applies only to tasks with constraints, or with failures: constraint; expected %s",
			share, list(sharesOf(all, func(d Disclosure) bool { return !d.Constrained }), "and"))
	}
	if s.Several() && !all[i].Objectives {
		with := sharesOf(all, func(d Disclosure) bool { return d.Objectives })
		if len(with) > 0 { // otherwise the type takes one objective, which is reported there
			s.Errorf(shareKey, "share %s is for one objective; expected with several: %s", share, list(with, "or"))
		}
	}
	return all[i]
}

// sharesOf lists the distinct values of share of the disclosures for which keep is true.
func sharesOf(all []Disclosure, keep func(Disclosure) bool) (values []string) {
	for _, d := range all {
		if keep(d) && !slices.Contains(values, d.Share) {
			values = append(values, d.Share)
		}
	}
	return values
}

// list joins words, as in "a, b and c".
func list(words []string, and string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " " + and + " " + words[last]
}

// Keys returns the keys that ReadChoice reads, without the defaults that the canonical form omits.
func (c Choice) Keys() map[string]any {
	keys := map[string]any{}
	if c.Settings != nil {
		maps.Copy(keys, c.Settings.Keys())
	}
	if !c.Implied {
		keys[shareKey] = c.Share
	}
	if c.ShareEvery > 1 || c.everyDefault > 0 {
		keys[shareEveryKey] = c.ShareEvery
	}
	return keys
}

// Comes returns the end of a clause of Disclosure.Holds: after how many observations a share comes.
func (c Choice) Comes() string {
	return ", and comes after " + sanitize.Every(c.ShareEvery, "observation")
}

func (c Choice) choice() Choice { return c }

// Parties implements task.Rostered.
func (c Choice) Parties() []peer.ID {
	if s, ok := c.Settings.(task.Rostered); ok {
		return s.Parties()
	}
	return nil
}

var _ task.Rostered = Choice{}

// ChoiceOf returns the Choice in the settings of a task's strategy. It returns the zero value if
// the settings embed no Choice.
func ChoiceOf(t *task.Task) Choice {
	if s, ok := t.Strategy.Settings.(interface{ choice() Choice }); ok {
		return s.choice()
	}
	return Choice{}
}

// ChosenSettings returns the value that Disclosure.Settings has read for a task. It returns the
// zero value if that value is not a T.
func ChosenSettings[T task.StrategySettings](t *task.Task) T {
	settings, _ := ChoiceOf(t).Settings.(T)
	return settings
}

// DisclosureOf returns the first disclosure in all that fits a task, or the zero value if none
// fits.
func DisclosureOf(all []Disclosure, t *task.Task) Disclosure {
	share := ChoiceOf(t).Share
	for _, d := range all {
		if d.Share == share && (d.Release != nil) == (t.Privacy != nil) && (d.Applies == nil || d.Applies(t)) {
			return d
		}
	}
	return Disclosure{}
}

// ReleaseOf returns the release of the disclosure that a task's Choice selects. If that disclosure
// releases nothing, ReleaseOf returns the release of the first disclosure that has one, with Needs
// set to the value of share that the task needs. The settings of a strategy with a Mechanism call
// it to implement task.Releaser.
func ReleaseOf(all []Disclosure, t *task.Task) task.Release {
	share := ChoiceOf(t).Share
	releases := func(d Disclosure) bool { return d.Release != nil }
	if i := slices.IndexFunc(all, func(d Disclosure) bool { return releases(d) && d.Share == share }); i >= 0 {
		return all[i].Release(t)
	}
	first := all[slices.IndexFunc(all, releases)]
	r := first.Release(t)
	if slices.ContainsFunc(all, func(d Disclosure) bool { return !releases(d) }) { // otherwise the value of share is wrong, which is reported elsewhere
		r.Needs = shareKey + ": " + first.Share
	}
	return r
}
