package experiment

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fbo-node/fbo/internal/sim"
	"github.com/fbo-node/fbo/lab/baseline"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// method is a baseline: a way of choosing designs that no task file names.
type method struct {
	name     string
	alone    bool // it uses no peer's shares
	pool     bool // it reads the pool, and so needs an exact process whose hyperparameters are learned
	units    bool // it accepts the setting units
	limits   bool // it takes constraints
	messages func(evaluations int) int
	make     func(t *task.Task, pool *baseline.Pool, self int, units baseline.Units) strategy.Strategy

	// central is in place of make where one place decides for all.
	central *central
}

// central is a baseline that decides in one place, with settings of its own.
type central struct {
	meaning func(Spec) (string, error) // of its settings, in words that identify it
	install func(Spec, *sim.Scenario) error
	common  bool // all members evaluate its designs
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
		{name: "global", pool: true, messages: always, central: &central{meaning: meaningOfGlobal, install: installGlobal, common: true}},
	}
}

// unitsKey is the setting of baselines that put outputs of different members
// together.
const unitsKey = "units"

// unitsOf returns the units in the spec of a baseline, and their name.
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

// pooledName is the baseline that closes the whole gap, by definition.
const pooledName = "pooled"

// Baselines returns the names of strategies that no task file has.
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

// peersKey is the setting of a task file's strategies that selects the peers whose shares agents
// receive, as far as the network delivers them. It belongs to the experiment and is not in the
// task.
const (
	peersKey   = "peers"
	everybody  = "all"
	ownCluster = "own-cluster" // as if an agent knew the members similar to it
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

// asTask returns the strategy of the task on which s is played.
func asTask(s Spec) Spec {
	if isBaseline(s) {
		return Spec{Name: "ts"}
	}
	s.Settings = slices.DeleteFunc(slices.Clone(s.Settings), func(x Setting) bool {
		return slices.Contains([]string{peersKey, signalKey, understateKey, adversariesKey, attackKey}, x.Key)
	})
	return s
}

// alone reports whether the designs of an agent with s are independent of its peers.
func (p Plan) alone(s Spec) bool {
	if m, ok := methodOf(s); ok {
		return m.alone
	}
	return !p.registrationOf(s).Shares() && !p.extendsSurrogate()
}

// extendsSurrogate reports whether members learn from each other under any strategy of task files.
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
	if p.Family.MaxMoves > 0 {
		return fmt.Errorf("the baseline %s moves along no graph, as --family %s asks for; accepted: the family with max_moves=0, or a strategy that moves", s.Name, p.Family.Name)
	}
	if !m.alone && p.Surrogate.Name == "exact" && p.extendsSurrogate() {
		return fmt.Errorf("the baseline %s accepts --surrogate with hyperparameters=learned or fixed only, not %s", s.Name, p.Surrogate)
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

// key identifies what the spec of a baseline means.
func (m method) key(s Spec) string {
	if m.central != nil {
		meaning, err := m.central.meaning(s)
		if err != nil {
			panic(err) // Complete has checked it
		}
		return m.name + ":" + meaning
	}
	if !m.units {
		return m.name
	}
	_, word, _ := unitsOf(s)
	return m.name + ":" + unitsKey + "=" + word
}

// unknown adds the baselines to the strategies that the error of the task file's parser lists.
func unknown(err error) error {
	if strings.Contains(err.Error(), "type must be one of") {
		return fmt.Errorf("%w; or one of the baselines %s", err, strings.Join(Baselines(), ", "))
	}
	return err
}

// install gives every member the strategy of a baseline instead of the task's.
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

// bytes is what an agent would send, had the published method a network.
func (m method) bytes(t *task.Task, evaluations int) int64 {
	const perNumber = 8
	return int64(perNumber * m.messages(evaluations) * baseline.MessageNumbers(m.name, t.Surrogate.Features, t.Space.Dim()))
}
