package ftsde

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

const (
	line  = "{name: x, type: float, low: 0, high: 1}"
	plane = line + ", {name: y, type: float, low: 0, high: 1}"
)

// setting is what tests vary of a task; its zero value is a small one.
type setting struct {
	nodes      int     // 4
	parameters string  // a line
	features   int     // 2
	epsilon    float64 // 4
	strategy   string  // further keys
	privacy    string  // further keys
}

func newTask(t testing.TB, s setting) *task.Task {
	t.Helper()
	keys := func(more string) string {
		if more == "" {
			return ""
		}
		return ", " + more
	}
	return strategytest.Task(t, strategy.Set{Register()}, `
name: summed
goal: maximize
parameters: [%s]
surrogate: {type: rff, features: %d, lengthscale: 0.2, kernel: se}
strategy: {type: fts-de, initial_designs: 2%s}
privacy: {mechanism: aggregate, epsilon: %g%s, roster: [%s]}`,
		cmp.Or(s.parameters, line), cmp.Or(s.features, 2), keys(s.strategy), cmp.Or(s.epsilon, 4), keys(s.privacy), fbotest.Roster(t, cmp.Or(s.nodes, 4)))
}

// entropy is repeatable, as it must never be outside of tests.
func entropy(seed ...byte) *rand.ChaCha8 {
	var key [32]byte
	copy(key[:], seed)
	return rand.NewChaCha8(key)
}

// fixed is a posterior whose mean and draws are these weights.
type fixed struct {
	surrogate.Posterior
	mean, sample []float64
}

func (f fixed) Mean() (float64, []float64) { return 0, slices.Clone(f.mean) }
func (f fixed) Weights(context.Context, *rand.Rand) ([]float64, error) {
	return slices.Clone(f.sample), nil
}

// adder is a summer whose answers a test sets.
type adder struct {
	round    uint64
	deserted bool // the committee is absent
	closed   bool // there is no round to contribute to
	underway bool
	fails    bool
	says     []strategy.Output // in its next step

	given []given
	seen  []strategy.Input
}

type given struct {
	round  uint64
	vector []int64
}

func (a *adder) Step(_ strategy.View, in strategy.Input) []strategy.Output {
	a.seen = append(a.seen, in)
	says := a.says
	a.says = nil
	return says
}

func (a *adder) Next() (uint64, bool) { return a.round, !a.closed }
func (a *adder) Underway() bool       { return a.underway }

func (a *adder) Gather() ([]strategy.Output, bool) { return nil, !a.deserted }

func (a *adder) Contribute(round uint64, vector []int64) ([]strategy.Output, error) {
	if a.fails {
		return nil, errors.New("too large a number")
	}
	a.given = append(a.given, given{round, slices.Clone(vector)})
	a.closed = true
	return []strategy.Output{strategy.Record{Data: []byte("dealt")}, strategy.Send{To: "b", Data: []byte("share")}}, nil
}

// node drives an exchange by hand, with views that the test sets. Work is done when
// the test says so.
type node struct {
	t        testing.TB
	exchange *Exchange
	sum      *adder
	view     strategy.View

	outputs  []strategy.Output // of the latest step
	records  [][]byte
	shares   []protocol.Contribution
	warnings []string
	works    []strategy.Work
	done     int // of the works
	result   Result
}

// newNode returns the first node of the roster. All others are present, and have sent nothing.
func newNode(t testing.TB, definition *task.Task, seed byte) *node {
	t.Helper()
	n := &node{t: t, sum: &adder{round: 1}}
	roster := definition.Privacy.Aggregate.Roster
	var err error
	if n.exchange, err = newExchangeOf(definition, roster[0], n.sum, entropy(seed)); err != nil {
		t.Fatal(err)
	}
	n.view = strategy.View{Task: definition, Self: roster[0]}
	n.present(roster...)
	return n
}

func (n *node) present(ids ...peer.ID) {
	n.view.Results = map[string]any{presence.Kind: presence.Result{Present: slices.Sorted(slices.Values(ids)), Agreed: true}}
}

func (n *node) step(in strategy.Input) {
	n.t.Helper()
	n.outputs = n.exchange.Step(n.view, in)
	for i, output := range n.outputs {
		switch output := output.(type) {
		case strategy.Record:
			n.records = append(n.records, output.Data)
		case strategy.Publish:
			if first := recordAt(n.outputs, 0); i == 0 || len(first) == 0 || first[0] != ofLedger {
				n.t.Error("a share goes out before the debit is recorded")
			}
			value, err := n.exchange.Decode(output.Payload)
			if err != nil {
				n.t.Fatal(err)
			}
			n.shares = append(n.shares, value.(protocol.Contribution))
		case strategy.Warn:
			n.warnings = append(n.warnings, output.Message)
		case strategy.Work:
			n.works = append(n.works, output)
		case strategy.Result:
			n.result = output.Value.(Result)
		}
	}
}

func recordAt(outputs []strategy.Output, i int) []byte {
	if record, ok := outputs[i].(strategy.Record); ok {
		return record.Data
	}
	return nil
}

// caughtUp reports that so many others of the roster have sent what they store.
func (n *node) caughtUp(count int) {
	n.t.Helper()
	for _, id := range n.view.Task.Privacy.Aggregate.Roster[1 : count+1] {
		n.step(strategy.CaughtUp{Peer: id})
	}
}

func (n *node) observe(count int) {
	n.t.Helper()
	for range count {
		n.view.Observations++
		n.step(strategy.TrialsEnded{})
	}
}

// finish does the work that is left.
func (n *node) finish() {
	n.t.Helper()
	for n.done < len(n.works) {
		work := n.works[n.done]
		n.done++
		result, err := work.Run(n.t.Context(), n.view, random.SeedOf(uint64(n.done)))
		n.step(strategy.WorkDone{Name: work.Name, Result: result, Err: err})
	}
}

// pending is how much work was asked for and not done.
func (n *node) pending() int { return len(n.works) - n.done }

func norm(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	return math.Sqrt(sum)
}

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance }

func (n *node) vector(view strategy.View, seed random.Seed, round uint64, cell int) []float64 {
	n.t.Helper()
	v, err := n.exchange.vector(n.t.Context(), view, seed, round, cell)
	if err != nil {
		n.t.Fatal(err)
	}
	return v
}
