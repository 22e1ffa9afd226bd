package experiment

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fbo-node/fbo/internal/sim"
	"github.com/fbo-node/fbo/lab/baseline"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// method is a baseline: a strategy of experiments that task files cannot name.
type method struct {
	name     string
	alone    bool // it uses no peer information
	pool     bool // it reads all members' observations, and needs an exact process with learned hyperparameters
	units    bool // it accepts the setting units
	limits   bool // it supports constraints
	messages func(evaluations int) int
	make     func(t *task.Task, pool *baseline.Pool, self int, units baseline.Units) strategy.Strategy

	// central replaces make if one place decides for all members.
	central *central
}

// central is a baseline that decides in one place and has settings of its own.
type central struct {
	meaning func(Spec) (string, error) // returns the settings in a text that identifies them
	install func(Spec, *sim.Scenario) error
	common  bool // all members evaluate the same designs
}

func methods() []method {
	never := func(int) int { return 0 }
	once := func(int) int { return 1 }
	always := func(evaluations int) int { return evaluations }
	return []method{
		{name: "random", alone: true, limits: true, messages: never, make: func(t *task.Task, _ *baseline.Pool, _ int, _ baseline.Units) strategy.Strategy {
			return baseline.NewRandom(t)
		}},
		{name: "rgpe", pool: true, messages: once, make: func(t *task.Task, pool *baseline.Pool, self int, _ baseline.Units) strategy.Strategy {
			return baseline.NewRGPE(t, pool, self)
		}},
		{name: "taf", pool: true, messages: once, make: func(t *task.Task, pool *baseline.Pool, self int, _ baseline.Units) strategy.Strategy {
			return baseline.NewTAF(t, pool, self)
		}},
		{name: "pooled", pool: true, units: true, messages: always, make: baseline.NewPooled},
		{name: "multitask", pool: true, units: true, messages: always, make: baseline.NewMultitask},
		{name: "dp-fts-de", messages: always, central: &central{meaning: meaningOfTrusted, install: installServer}},
		{name: "guide", pool: true, messages: always, central: &central{meaning: noSettings, install: installGuide}},
		{name: "fmtbo", pool: true, messages: always, central: &central{meaning: noSettings, install: installFMTBO}},
		{name: "global", pool: true, messages: always, central: &central{meaning: meaningOfGlobal, install: installGlobal, common: true}},
	}
}

// unitsKey is the setting of baselines that combine outputs of different members: the units of
// these outputs.
const unitsKey = "units"

// unitsOf returns the units in a baseline's spec, and their name.
func unitsOf(s Spec) (units baseline.Units, word string, ok bool) {
	word = "own"
	for _, x := range s.Settings {
		if x.Key == unitsKey {
			word = x.Value
		}
	}
	switch word {
	case "own":
		return baseline.OwnUnits, word, true
	case "common":
		return baseline.CommonUnits, word, true
	}
	return 0, word, false
}

// pooledName is the baseline that models all members' observations together. By definition it
// closes the gap between control and pooled completely.
const pooledName = "pooled"

// Baselines returns the names of the baselines, which task files cannot name.
func Baselines() []string {
	var all []string
	for _, m := range methods() {
		all = append(all, m.name)
	}
	return all
}

func methodOf(s Spec) (method, bool) {
	all := methods()
	i := slices.IndexFunc(all, func(m method) bool { return m.name == s.Name })
	if i < 0 {
		return method{}, false
	}
	return all[i], true
}

func isBaseline(s Spec) bool {
	_, ok := methodOf(s)
	return ok
}

// peersKey is a setting of strategies that selects the peers whose shares an agent receives, as far
// as the network delivers them. It is a setting of the experiment and not part of the task.
const (
	peersKey   = "peers"
	everybody  = "all"
	ownCluster = "own-cluster" // members of the same cluster only, as if an agent knew the members similar to it
)

func peersOf(s Spec) string { return cmp.Or(s.setting(peersKey), everybody) }

func checkPeers(s Spec) error {
	switch peers := peersOf(s); peers {
	case everybody, ownCluster:
		return nil
	default:
		return fmt.Errorf("%s must be one of %s, %s, not %q", peersKey, everybody, ownCluster, peers)
	}
}

// authorsKey is a setting of strategies by which the topic is large, and each agent fetches the shares of
// at most so many authors (sim.Network.Authors). It is a setting of the experiment and not part of the
// task.
const authorsKey = "authors"

// authorsOf returns the number of authors, or 0 if all agents receive all shares by gossip.
func authorsOf(s Spec) int {
	n, _ := strconv.Atoi(s.setting(authorsKey)) // checkAuthors has checked that it is a number
	return n
}

func checkAuthors(s Spec) error {
	text := s.setting(authorsKey)
	if n, err := strconv.Atoi(text); text != "" && (err != nil || n < 1 || n >= protocol.MaxSyncAuthors) {
		return fmt.Errorf("%s must be a whole number from 1 to %d, not %q", authorsKey, protocol.MaxSyncAuthors-1, text)
	}
	return nil
}

// asTask returns s as the task file of its runs has it: without settings of the experiment.
// Baselines run on a task with the strategy ts.
func (p Plan) asTask(s Spec) Spec {
	if isBaseline(s) && p.Family.Objectives != nil {
		return Spec{Name: "alone"} // ts takes one objective
	}
	if isBaseline(s) {
		return Spec{Name: "ts"}
	}
	s = withoutStop(s)
	s.Settings = slices.DeleteFunc(slices.Clone(s.Settings), func(x Setting) bool {
		return slices.Contains([]string{peersKey, authorsKey, signalKey, understateKey, adversariesKey, attackKey}, x.Key)
	})
	return s
}

// alone reports whether the designs of an agent with s do not depend on its peers.
func (p Plan) alone(s Spec) bool {
	if m, ok := methodOf(s); ok {
		return m.alone
	}
	return !p.registrationOf(s).Shares() && !p.extendsSurrogate() && !s.has(stopShareKey)
}

// extendsSurrogate reports whether the plan's surrogate learns from peers' shares, with any
// strategy.
func (p Plan) extendsSurrogate() bool {
	return slices.ContainsFunc(all.Extensions(), func(e strategy.SurrogateExtension) bool {
		return e.Key == "type" && p.Surrogate.Name == e.Word || p.Surrogate.setting(e.Key) == e.Word
	})
}

func (p Plan) checkBaseline(s Spec) error {
	m, ok := methodOf(s)
	if !ok {
		return nil
	}
	if len(p.Family.Constraints) > 0 && !m.limits {
		return fmt.Errorf("the baseline %s takes no constraints, which --family %s has; of the baselines random does", s.Name, p.Family.Name)
	}
	if p.Family.Objectives != nil && s.Name != "random" {
		return fmt.Errorf("the baseline %s takes one objective, and --family %s has %d; of the baselines random takes several", s.Name, p.Family.Name, len(p.Family.Objectives))
	}
	if p.Family.MaxMoves > 0 {
		return fmt.Errorf("the baseline %s moves along no graph, as --family %s asks for; accepted: the family with max_moves=0, or a strategy that moves", s.Name, p.Family.Name)
	}
	if !m.alone && p.Surrogate.Name == "exact" && p.extendsSurrogate() {
		return fmt.Errorf("the baseline %s accepts --surrogate with hyperparameters=learned or fixed only, not %s", s.Name, p.Surrogate)
	}
	if s.Name == "random" {
		s = withoutStop(s)
	}
	if err := m.checkSettings(s); err != nil {
		return err
	}
	if m.pool && p.Surrogate.Name != "exact" {
		return fmt.Errorf("the baseline %s accepts --surrogate exact only, not %s", s.Name, p.Surrogate.Name)
	}
	if m.pool && p.Surrogate.setting("hyperparameters") == "fixed" {
		return fmt.Errorf("the baseline %s accepts --surrogate with hyperparameters=learned only, not %s", s.Name, p.Surrogate)
	}
	return nil
}

func (m method) checkSettings(s Spec) error {
	if m.central != nil {
		_, err := m.central.meaning(s)
		return err
	}
	for _, x := range s.Settings {
		if !m.units {
			return fmt.Errorf("the baseline %s accepts no settings", s.Name)
		}
		if x.Key != unitsKey {
			return fmt.Errorf("unknown key %q; accepted: %s", x.Key, unitsKey)
		}
	}
	if _, word, ok := unitsOf(s); !ok {
		return fmt.Errorf("units must be one of own, common, not %q", word)
	}
	return nil
}

// key returns a text that is the same for all specs of the baseline with the same meaning.
func (m method) key(s Spec) string {
	if m.central != nil {
		meaning, err := m.central.meaning(s)
		if err != nil {
			panic(err) // unexpected: Complete has checked the settings
		}
		return strings.TrimSuffix(m.name+":"+meaning, ":")
	}
	if !m.units {
		return m.name
	}
	_, word, _ := unitsOf(s)
	return m.name + ":" + unitsKey + "=" + word
}

// unknown adds the names of baselines to the task parser's error about an unknown strategy.
func unknown(err error) error {
	if strings.Contains(err.Error(), "type must be one of") {
		return fmt.Errorf("%w; or one of the baselines %s", err, strings.Join(Baselines(), ", "))
	}
	return err
}

// install replaces the task's strategy by the baseline for every member.
func (m method) install(spec Spec, s *sim.Scenario) error {
	if m.central != nil {
		return m.central.install(spec, s)
	}
	units, _, _ := unitsOf(spec)
	var pool *baseline.Pool
	if m.pool {
		var err error
		if pool, err = baseline.NewPool(s.Task, len(s.Members)); err != nil {
			return err
		}
		s.Watch = pool.Watch
	}
	for i := range s.Members {
		s.Members[i].Strategy = m.make(s.TaskOf(i), pool, i, units)
	}
	return nil
}

// bytes returns the number of bytes that an agent would send if the published method used a
// network.
func (m method) bytes(t *task.Task, evaluations int) int64 {
	const perNumber = 8
	return int64(perNumber * m.messages(evaluations) * baseline.MessageNumbers(m.name, t.Surrogate.Features, t.Space.Dim()))
}
