package experiment

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/sim"
	"github.com/fbo-node/fbo/lab/family"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// resultsVersion is part of the plan's hash, and so of the name of the file of results. It must
// increase with every change, here or in a package used here, that changes the results of a plan.
const resultsVersion = 27

// EvaluationTime is the time that an evaluation takes on the virtual clock, unless the plan's
// Schedule changes it.
const EvaluationTime = 10 * time.Second

// Bounds of a plan.
const (
	MaxAgents      = family.MaxAgents
	MaxMesh        = 1000 // largest number of agents that are all connected to each other
	MaxEvaluations = 10_000
	MaxRepeats     = 100_000
	MaxInitial     = 1000
	MaxDelay       = time.Hour // largest delay, and largest jitter, of a message
)

// startGrid is the grid to which start times are rounded if there are more than MaxMesh members.
// Several members then start at the same time and can compute in parallel.
const startGrid = 50 * time.Millisecond

// Plan defines which strategies are compared, on which federations, and how often.
type Plan struct {
	Family      family.Family
	Agents      int // per federation, 1 to MaxAgents
	Evaluations int // per agent, 1 to MaxEvaluations
	Repeats     int // number of federations, 1 to MaxRepeats
	Strategies  []Spec
	Seed        uint64

	// Own holds strategies of the caller that specs can name, in addition to those of package all.
	Own strategy.Set

	Surrogate Spec // the zero value means exact, with the task file's defaults
	Initial   int  // random starting designs of an agent, 1 to Evaluations; 0 means 3, or Evaluations if less
	Network   sim.Network
	Schedule

	// Dealt gives all agents starting designs of one Latin hypercube, with every strategy. Otherwise each agent has its
	// own, most of which begin at the centre of the space.
	Dealt bool

	// Control names the strategy, in the form of Spec.String, with which the others are compared.
	// Empty means the first strategy of type ts, or else the first strategy. best-alone means, at
	// each checkpoint, the better of ts and logei; Complete adds these to Strategies.
	Control string
	added   []string // strategies that Complete added for the control

	// Fairness requests StrategyReport.Fairness. If a strategy of the plan has a roster, reports
	// contain it anyway.
	Fairness bool

	// OneDesign requests StrategyReport.OneDesign, for families that are not costly, with one objective
	// and without constraints.
	OneDesign bool

	// Checkpoints are the numbers of evaluations, ascending, after which strategies are compared
	// and designs are recommended. Complete always adds Evaluations. Nil means 10, 15, 25 and 50.
	Checkpoints []int
}

// Complete returns the plan with defaults filled in. Its error says what is wrong with the plan, in
// terms of the command line's flags.
func (p Plan) Complete() (Plan, error) {
	p.Initial = cmp.Or(p.Initial, min(3, p.Evaluations))
	if p.Surrogate.Name == "" {
		p.Surrogate.Name = "exact"
	}
	for _, bound := range []struct {
		flag        string
		value, most int
	}{
		{"agents", p.Agents, MaxAgents},
		{"evals", p.Evaluations, MaxEvaluations},
		{"repeats", p.Repeats, MaxRepeats},
		{"initial-designs", p.Initial, MaxInitial},
	} {
		if bound.value < 1 || bound.value > bound.most {
			return p, fmt.Errorf("--%s %d: expected 1 to %d", bound.flag, bound.value, bound.most)
		}
	}
	if p.Initial > p.Evaluations {
		return p, fmt.Errorf("--initial-designs %d: expected 1 to --evals %d", p.Initial, p.Evaluations)
	}
	var err error
	if p.Schedule, err = p.Schedule.complete(p.Initial, p.Evaluations); err != nil {
		return p, err
	}
	if err := checkNetwork(p.Network); err != nil {
		return p, err
	}
	if hears := cmp.Or(p.Network.Degree, p.Agents-1); p.Agents > MaxMesh && hears >= MaxMesh {
		return p, fmt.Errorf("--agents %d, each of which receives from %d others: expected at most %d others where there are more than %d agents; use the key degree of --scenario", p.Agents, hears, MaxMesh-1, MaxMesh)
	}
	for _, s := range p.Strategies {
		if s.has("initial_designs") {
			return p, fmt.Errorf("--strategy %s: initial_designs must be the same for all strategies: use --initial-designs", s)
		}
	}
	if err := p.checkSections(); err != nil {
		return p, err
	}
	if err := p.checkOneDesign(); err != nil {
		return p, err
	}
	if err := p.chooseControl(); err != nil {
		return p, err
	}
	return p, p.chooseCheckpoints()
}

// ScenarioError reports an invalid setting of the network or the schedule. The command line reads
// these settings from a scenario file.
type ScenarioError struct {
	Key     string // key in the scenario file
	Problem string // the value, and the values that are accepted
}

func (e *ScenarioError) Error() string { return "--scenario: " + e.Key + " " + e.Problem }

func scenarioErrorf(key, format string, args ...any) error {
	return &ScenarioError{key, fmt.Sprintf(format, args...)}
}

func checkNetwork(n sim.Network) error {
	switch {
	case n.Delay < 0 || n.Delay > MaxDelay:
		return scenarioErrorf("delay", "%v: expected 0s to %v", n.Delay, MaxDelay)
	case n.Jitter < 0 || n.Jitter > MaxDelay:
		return scenarioErrorf("jitter", "%v: expected 0s to %v", n.Jitter, MaxDelay)
	case n.Degree < 0:
		return scenarioErrorf("degree", "%d: expected 0 or more", n.Degree)
	case !(n.Loss >= 0 && n.Loss < 1):
		return scenarioErrorf("loss", "%g: expected 0 to below 1", n.Loss)
	}
	for _, cut := range n.Partitions {
		if cut.From < 0 || cut.From >= cut.Until {
			return scenarioErrorf("partition", "%v-%v: expected FROM-UNTIL with FROM before UNTIL", cut.From, cut.Until)
		}
	}
	return nil
}

// checkSections checks the surrogate and the strategies with the task file's parser.
func (p Plan) checkSections() error {
	if len(p.Strategies) == 0 {
		return fmt.Errorf("--strategy is missing, expected one or more, as in --strategy ts,fts")
	}
	if _, err := p.modelled(); err != nil {
		return fmt.Errorf("--surrogate %s: %w", p.Surrogate, err)
	}
	seen := map[string]Spec{}
	for _, s := range p.Strategies {
		if err := p.checkBaseline(s); err != nil {
			return fmt.Errorf("--strategy %s: %w", s, unknown(err))
		}
		if err := cmp.Or(checkPeers(s), checkAuthors(s)); err != nil {
			return fmt.Errorf("--strategy %s: %w", s, err)
		}
		if _, err := stoppingOf(s); err != nil {
			return fmt.Errorf("--strategy %s: %w", s, err)
		}
		if err := p.checkSignal(s); err != nil {
			return fmt.Errorf("--strategy %s: %w", s, err)
		}
		if err := p.checkUnderstate(s); err != nil {
			return fmt.Errorf("--strategy %s: %w", s, err)
		}
		if err := p.checkAdversaries(s); err != nil {
			return fmt.Errorf("--strategy %s: %w", s, err)
		}
		if err := p.checkRoster(s); err != nil {
			return err
		}
		if _, err := p.template(s); err != nil {
			return fmt.Errorf("--strategy %s: %w", s, unknown(err))
		}
		key := p.key(s)
		if other, ok := seen[key]; ok {
			return fmt.Errorf("--strategy %s: it is the same as %s", s, other)
		}
		seen[key] = s
	}
	return nil
}

// modelled returns a task with the plan's surrogate; its strategy does not matter.
func (p Plan) modelled() (*task.Task, error) {
	p.Family.MaxMoves, p.Family.Objectives = 0, nil // neither is allowed with ts
	return p.template(Spec{Name: "ts"})
}

// template returns a task of the plan with strategy s. Its name and objective are those of no
// federation.
func (p Plan) template(s Spec) (*task.Task, error) {
	roster, err := p.roster(s, random.SeedOf(0))
	if err != nil {
		return nil, err
	}
	drawn := family.Federation{Space: p.Family.Space, Goal: task.Maximize, Objectives: p.Family.Objectives, Constraints: p.Family.Constraints, MaxMoves: p.Family.MaxMoves}
	t, err := p.taskOf("template", drawn, p.asTask(s), roster)
	if err != nil {
		return nil, messages(err)
	}
	return t, nil
}

// roster returns the IDs of the members of a simulation with this seed; nil if the strategy needs
// no roster.
func (p Plan) roster(s Spec, seed random.Seed) ([]peer.ID, error) {
	if !p.needsRoster(s) {
		return nil, nil
	}
	return sim.Roster(seed, p.Agents)
}

// key returns a text that is the same for all specs with the same meaning, with all defaults.
func (p Plan) key(s Spec) string {
	if m, ok := methodOf(s); ok {
		return m.key(s) + stoppingName(s)
	}
	t, err := p.template(s)
	if err != nil {
		panic(err) // unexpected: Complete has checked the spec
	}
	key := canonical(t, "strategy")
	if p.listsRoster(s) {
		key = nameless(key)
	}
	if t.Privacy != nil {
		key += " " + promise(t)
	}
	if signalOf(s) == noSignal {
		key += " " + signalKey + "=" + noSignal
	}
	if peers := peersOf(s); peers != everybody {
		key += " " + peersKey + "=" + peers
	}
	if n := authorsOf(s); n > 0 {
		key += fmt.Sprintf(" %s=%d", authorsKey, n)
	}
	if by := understated(s, 0); by > 0 {
		key += fmt.Sprintf(" %s=%v", understateKey, by)
	}
	if n := adversariesOf(s); n > 0 {
		key += fmt.Sprintf(" %s=%d %s=%s", adversariesKey, n, attackKey, attackOf(s))
	}
	return key + stoppingName(s)
}

func (p *Plan) chooseCheckpoints() error {
	if p.Checkpoints == nil {
		for _, t := range []int{10, 15, 25, 50} {
			if t < p.Evaluations {
				p.Checkpoints = append(p.Checkpoints, t)
			}
		}
		p.Checkpoints = append(p.Checkpoints, p.Evaluations)
		return nil
	}
	p.Checkpoints = slices.Clone(p.Checkpoints)
	for i, t := range p.Checkpoints {
		if t < 1 || t > p.Evaluations || i > 0 && t <= p.Checkpoints[i-1] {
			return fmt.Errorf("--checkpoints %s: %d is not accepted there; expected ascending numbers from 1 to --evals %d", withCommas(p.Checkpoints), t, p.Evaluations)
		}
	}
	if !slices.Contains(p.Checkpoints, p.Evaluations) {
		p.Checkpoints = append(p.Checkpoints, p.Evaluations)
	}
	return nil
}

func withCommas(numbers []int) string {
	var texts []string
	for _, n := range numbers {
		texts = append(texts, strconv.Itoa(n))
	}
	return strings.Join(texts, ",")
}

// header holds everything in a plan that affects the result of one strategy on the federation of
// one repeat.
type header struct {
	Arithmetic  int
	Family      string
	Content     string `json:",omitempty"` // content of the files from which the family is read
	Agents      int
	Evaluations int
	Seed        uint64
	Surrogate   json.RawMessage
	Initial     int
	Network     sim.Network
	Checkpoints []int
	OneDesign   bool `json:",omitempty"`
	Dealt       bool `json:",omitempty"`

	Schedule // result of Schedule.distinct
}

// header returns the header as JSON. The plan must come from Complete.
func (p Plan) header() []byte {
	t, err := p.modelled()
	if err != nil {
		panic(err) // unexpected: Complete has checked the surrogate
	}
	text, err := json.Marshal(header{
		Arithmetic:  resultsVersion,
		Family:      p.Family.Name,
		Content:     p.Family.Content,
		Agents:      p.Agents,
		Evaluations: p.Evaluations,
		Seed:        p.Seed,
		Surrogate:   json.RawMessage(canonical(t, "surrogate")),
		Initial:     p.Initial,
		Network:     p.Network,
		Checkpoints: p.Checkpoints,
		OneDesign:   p.OneDesign,
		Dealt:       p.Dealt,
		Schedule:    p.distinct(p.Evaluations),
	})
	if err != nil {
		panic(err) // unexpected: numbers and texts can always be encoded
	}
	return text
}

// Hash identifies the runs of this plan, which must come from Complete. Plans that differ only in
// repeats, strategies or control have the same hash.
func (p Plan) Hash() string {
	sum := sha256.Sum256(p.header())
	return hex.EncodeToString(sum[:8])
}
