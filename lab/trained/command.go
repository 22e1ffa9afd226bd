package trained

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fbo-node/fbo/internal/bounded"
	"github.com/fbo-node/fbo/internal/curves"
	"github.com/fbo-node/fbo/internal/evaluator"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/lab/family"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// minSearch is the smallest number of designs in a search. The values of its first half show how
// much the objective varies.
const minSearch = 16

// Kind returns the kind command. Its objective is what a program of the user measures, which is
// started in the same way as by `fbo-node run`.
func (p *Programs) Kind() family.Kind {
	return family.Kind{
		Info: family.Info{
			Name:  "command",
			About: "what a program of yours measures, over the space and with the goal and the constraints of a task file",
			Keys: []family.Key{
				{Name: "task", Type: family.Text, Meaning: "the task file; its other sections are not used; required"},
				{Name: "run", Type: family.Text,
					Meaning: "program and arguments, separated by spaces, run for each evaluation as by fbo-node run; FBO_MEMBER and FBO_FEDERATION in its environment name the member"},
				{Name: "worker", Type: family.Text,
					Meaning: `in place of run, one that stays, as with --worker there; each line has the keys "member" and "federation" too`},
				{Name: "members", Type: family.Whole, Default: "0", Low: 0, High: family.MaxAgents,
					Meaning: "federations are drawn from this number of members, the same for all federations; 0: each federation has members of its own"},
				{Name: "search", Type: family.Whole, Default: "256", Low: minSearch, High: 1000000,
					Meaning: "evaluations, half of them near the best so far, of which the best is a member's optimum; others may be better"},
				{Name: "optimum", Type: family.Number, Low: math.Inf(-1), High: math.Inf(1),
					Meaning: "the best value of every member in place of that, where it is known"},
				{Name: "steps", Type: family.Whole, Default: "0", Low: 0, High: curves.MaxSteps,
					Meaning: "number of values by step that the program prints in a full evaluation, as for fbo-node run; strategies with the key stop need it; 0: none"},
				{Name: "timeout", Type: family.Number, Default: "0", Low: 0, High: 1e6, Meaning: "seconds that an evaluation may take; 0: any"},
				noiseKey(), newcomerKey(),
			},
		},
		Build:       p.build,
		Constraints: func(v family.Values) []task.Constraint { return taskOf(v).Constraints },
		Floor:       measuredFloor,
		Costly:      true,
		MaxMoves:    func(v family.Values) int { return taskOf(v).MaxMoves },
		Content:     contentOfCommand,
	}
}

// words returns the command line. stays reports whether the program stays for many evaluations.
func words(v family.Values) (line []string, stays bool, err error) {
	if v.Given("run") == v.Given("worker") {
		return nil, false, errors.New("keys run and worker: accepted: one of them, a program and its arguments")
	}
	stays = v.Given("worker")
	return strings.Fields(v.Text("run") + v.Text("worker")), stays, nil
}

// readTask reads the task file that the key task names. It does not know strategies of other
// programs.
func readTask(path string) (*task.Task, error) {
	if path == "" {
		return nil, errors.New("key task is missing; accepted: the path of a task file")
	}
	data, err := bounded.ReadFile(path, task.MaxFileBytes)
	if err != nil {
		return nil, fmt.Errorf("key task: %w", err)
	}
	t, err := all.Strategies().ParseBeside(os.DirFS(filepath.Dir(path)), path, data)
	if err != nil {
		return nil, fmt.Errorf("key task: %w", err)
	}
	return t, nil
}

// taskOf returns the task for values from which a family was built. If the file cannot be read any
// more, the task is empty, and Content returns the error.
func taskOf(v family.Values) *task.Task {
	t, err := readTask(v.Text("task"))
	if err != nil {
		return &task.Task{}
	}
	return t
}

// contentOfCommand returns a digest of the task and of all files that the command line names.
// Results are thus kept apart after one of the files changes.
func contentOfCommand(v family.Values) (string, error) {
	t, err := readTask(v.Text("task"))
	if err != nil {
		return "", err
	}
	line, _, err := words(v)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintln(h, t.ID())
	for _, word := range line {
		if info, err := os.Stat(word); err != nil || !info.Mode().IsRegular() {
			continue
		}
		file, err := os.Open(word)
		if err != nil {
			return "", fmt.Errorf("the command: %w", err)
		}
		fmt.Fprintln(h, word)
		_, err = io.Copy(h, file)
		if err := errors.Join(err, file.Close()); err != nil {
			return "", fmt.Errorf("the command: %w", err)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8]), nil
}

func (p *Programs) build(v family.Values) (*task.Space, family.DrawFunc, error) {
	t, err := readTask(v.Text("task"))
	if err != nil {
		return nil, nil, err
	}
	line, stays, err := words(v)
	if err != nil {
		return nil, nil, err
	}
	c := &command{
		Programs: p, task: t, search: v.Whole("search"), optimum: v.Number("optimum"),
		steps: v.Whole("steps"), limit: time.Duration(v.Number("timeout") * float64(time.Second)),
	}
	if c.how, err = p.prepare(t, line, stays); err != nil {
		return nil, nil, fmt.Errorf("keys run and worker: %w", err)
	}
	for k := range v.Whole("members") {
		c.fixed = append(c.fixed, c.member(evaluator.Member{Number: k}, random.SeedOf(0).Derive("search", uint64(k))))
	}
	return t.Space, func(seed random.Seed, agents int) (family.Federation, error) { return c.draw(v, seed, agents) }, nil
}

// command holds the settings that the members of all federations share.
type command struct {
	*Programs
	task    *task.Task
	how     evaluation
	limit   time.Duration // time limit of an evaluation; 0 means none
	steps   int           // values by step of a full evaluation; 0 if they are not used
	search  int
	optimum float64    // optimum that the user states, or NaN
	fixed   []*metered // members from which all federations are drawn; nil if each federation has its own
}

func (c *command) draw(v family.Values, seed random.Seed, agents int) (family.Federation, error) {
	members, err := c.choose(seed, agents)
	if err != nil {
		return family.Federation{}, err
	}
	objectives := make([]objective, agents)
	for k, m := range members {
		objectives[k] = objective{m.value, m.best}
	}
	f := assemble(c.task.Space, c.task.Goal, v, objectives)
	if c.ctx.Err() != nil {
		return family.Federation{}, context.Cause(c.ctx)
	}
	f.Constraints = c.task.Constraints
	for k, m := range members {
		one := &f.Members[k]
		if c.fixed != nil {
			one.Name = strconv.Itoa(m.who.Number)
		}
		for _, constraint := range f.Constraints {
			one.Constraints = append(one.Constraints, family.Measure{Value: m.reading(string(constraint.Output))})
		}
		if one.Counts {
			one.Objective.Deviation = m.deviation
		}
		if c.steps > 0 {
			one.Objective.Curve, one.Objective.Steps = m.curve, c.steps
		}
		if len(f.Constraints) > 0 {
			one.Objective.Range = math.NaN()
			if one.Counts {
				one.Objective.Range = m.extent
			}
		}
	}
	return f, nil
}

// choose returns the members of one federation.
func (c *command) choose(seed random.Seed, agents int) (chosen []*metered, err error) {
	if c.fixed == nil {
		federation := uint32(seed.Stream("federation", 0).Uint64()>>32) | 1 // is never 0
		for k := range agents {
			chosen = append(chosen, c.member(evaluator.Member{Number: k, Federation: federation}, seed.Derive("search", uint64(k))))
		}
		return chosen, nil
	}
	if agents > len(c.fixed) {
		return nil, fmt.Errorf("command: %d agents; expected %d, as in the key members", agents, len(c.fixed))
	}
	for _, k := range seed.Stream("members", 0).Perm(len(c.fixed))[:agents] {
		chosen = append(chosen, c.fixed[k])
	}
	return chosen, nil
}

func (c *command) member(who evaluator.Member, seed random.Seed) *metered {
	return &metered{command: c, who: who, seed: seed, known: map[string]*measured{}}
}

// metered is the objective of one member, which is what the user's program measures. It keeps the
// outcomes, so that the program evaluates each design only once.
type metered struct {
	*command
	who  evaluator.Member
	seed random.Seed // seed of its search

	mu    sync.Mutex
	known map[string]*measured // by the key of the design

	searched          sync.Once
	found             float64 // optimum that the search found
	deviation, extent float64 // standard deviation and range of the values of the search
}

type measured struct {
	once    sync.Once
	outcome strategy.Outcome
	curve   curves.Curve // values by step, at least one if the family has the key steps
	ok      bool
}

// at returns the outcome of a design. ok is false if the program failed or was ended.
func (m *metered) at(d task.Design) (strategy.Outcome, bool) {
	one := m.evaluated(d)
	return one.outcome, one.ok
}

// curve returns the values of a design by step. Without an evaluation it is one value, since the
// context then has the error.
func (m *metered) curve(d task.Design) []curves.Step {
	if one := m.evaluated(d); one.ok {
		return one.curve
	}
	return []curves.Step{{Step: 1}}
}

// evaluated runs the program for a design that it has not evaluated before.
func (m *metered) evaluated(d task.Design) *measured {
	key := d.Key()
	m.mu.Lock()
	one := m.known[key]
	if one == nil {
		one = &measured{}
		m.known[key] = one
	}
	m.mu.Unlock()
	one.once.Do(func() {
		one.outcome, one.curve, one.ok = m.measure(m.how, m.task, m.limit, m.who, d)
		if n := len(one.curve); one.ok && m.steps > 0 && (n == 0 || n > m.steps) {
			one.ok = false
			m.fail(fmt.Errorf("family command: key steps: %s at %s printed %s by step; expected 1 to %d",
				describeMember(m.who), describe(d), sanitize.Count(n, "value"), m.steps))
		}
	})
	return one
}

// value returns the objective, or NaN without an outcome. In that case the context has the error.
func (m *metered) value(d task.Design) float64 {
	outcome, ok := m.at(d)
	if !ok {
		return math.NaN()
	}
	return outcome.Value
}

func (m *metered) reading(name string) func(d task.Design) float64 {
	return func(d task.Design) float64 {
		outcome, ok := m.at(d)
		if !ok {
			return math.NaN()
		}
		return outcome.Constraints[name].Float()
	}
}

// best returns the stated optimum, or the best value of a search.
func (m *metered) best() float64 {
	m.searched.Do(m.lookForBest)
	return m.found
}

func (m *metered) lookForBest() {
	var values []float64
	var best *strategy.Outcome
	var at task.Design
	search(m.task.Space, m.search, m.seed, func(d task.Design) bool {
		outcome, ok := m.at(d)
		if !ok {
			return false
		}
		values = append(values, outcome.Value)
		better := best == nil || m.task.Better(&outcome, best)
		if better {
			best, at = &outcome, d
		}
		return better
	})
	if m.ctx.Err() != nil || best == nil {
		m.found = math.NaN()
		return
	}
	m.deviation, m.extent = spreadOf(values[:min(len(values), spread(m.search))], values)
	feasible := m.task.Feasible(best)
	switch {
	case !math.IsNaN(m.optimum):
		m.found = m.optimum
		if feasible && m.task.Goal.Sign()*(best.Value-m.optimum) > 1e-9*math.Abs(m.optimum) {
			m.fail(fmt.Errorf("family command: key optimum: %s has %g at %s, which is better than %g",
				describeMember(m.who), best.Value, describe(at), m.optimum))
		}
	case !feasible:
		m.fail(fmt.Errorf("family command: key search: none of %d designs of %s keeps the constraints; accepted: a larger number, or the key optimum",
			m.search, describeMember(m.who)))
	default:
		m.found = best.Value
	}
}

// spreadOf returns the standard deviation of the values in some, and the difference between the
// largest and the smallest value in all.
func spreadOf(some, all []float64) (deviation, extent float64) {
	mean, square := 0.0, 0.0
	for i, v := range some {
		off := v - mean
		mean += off / float64(i+1)
		square += off * (v - mean)
	}
	return math.Sqrt(square / float64(len(some))), slices.Max(all) - slices.Min(all)
}
