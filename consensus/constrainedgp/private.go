package constrainedgp

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/privacy/compare"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

// Times of the exchange. Numbers without a unit are in ticks of length ticking.
const (
	ticking       = 5 * time.Second
	hour          = time.Hour
	patience      = 13  // age at which a comparison is abandoned: slightly longer than a direct message may wait for delivery
	earlyPause    = 6   // pause after a refusal by a peer that has no threshold yet
	frequentPause = 120 // pause after a refusal by a peer whose budget of answers is spent
)

// attempts is the maximum number of comparisons of one design that the agent begins with a peer
// that does not respond.
const attempts = 3

// maxPeers is the maximum number of peers whose state the exchange stores.
const maxPeers = 1024

const (
	tickTimer = "tick"
	hourTimer = "hour"
)

// Private is the exchange of one agent on a task with threshold: private. It publishes nothing.
// After every observation, from the last starting design on, the agent compares the lower
// confidence bound of its best design with the threshold of each present agent. It sends the design
// to the agents whose threshold the bound exceeds.
//
// Before the agent sends a message that begins or answers a comparison, the record of that
// comparison is on disk. Before the strategy uses a received design, the design is on disk. Secrets
// are not stored. So comparisons that were running when an agent stopped are abandoned, and the
// same design is not compared again.
type Private struct {
	task   *task.Task
	find   search.Search
	random io.Reader

	own       found
	ready     bool // the first design and threshold have been computed
	computing bool

	peers    map[peer.ID]*neighbour
	budget   *compare.Budget                  // budget of answers per hour
	awaits   map[peer.ID]session              // sessions of answered comparisons whose verdict has not arrived
	received map[peer.ID]protocol.NearOptimal // designs of peers whose bound exceeded the own threshold
}

// found holds the values that an agent uses in comparisons.
type found struct {
	observations int // number of observations from which these values were computed
	design       *protocol.NearOptimal
	bound        uint64 // lower confidence bound of the design, encoded by compare.Ordered; larger is better
	threshold    uint64 // own threshold, encoded by compare.Ordered
}

// received is the exchange's result in the view: the received designs, in order of the peers.
type received []protocol.NearOptimal

var _ strategy.Exchange = (*Private)(nil)

// NewPrivate returns the exchange of one agent. random is the source of secrets; nil means
// crypto/rand.Reader.
func NewPrivate(t *task.Task, random io.Reader) (*Private, error) {
	budget, err := compare.NewBudget(designsOf(t).ComparisonsPerHour)
	if err != nil {
		return nil, err
	}
	if random == nil {
		random = rand.Reader
	}
	return &Private{
		task: t, find: search.New(t), random: random, budget: budget,
		peers: map[peer.ID]*neighbour{}, awaits: map[peer.ID]session{}, received: map[peer.ID]protocol.NearOptimal{},
	}, nil
}

// Name implements strategy.Exchange.
func (*Private) Name() string { return protocol.NearOptimalKind }

// Decode implements strategy.Exchange. Nothing is published, so every payload is refused.
func (*Private) Decode([]byte) (any, error) {
	return nil, fmt.Errorf("%w: a design for all, but the task's threshold is %q", protocol.ErrMalformed, private)
}

// Step implements strategy.Exchange.
func (e *Private) Step(view strategy.View, in strategy.Input) []strategy.Output {
	switch in := in.(type) {
	case strategy.Replayed:
		e.replay(in.Data)
	case strategy.Start:
		return append(e.compute(view), e.show(), strategy.SetTimer{Name: tickTimer, After: ticking}, strategy.SetTimer{Name: hourTimer, After: hour})
	case strategy.TrialsEnded:
		return e.compute(view)
	case strategy.Timer:
		if in.Name == hourTimer {
			return e.renew()
		}
		return append(e.tick(view), strategy.SetTimer{Name: tickTimer, After: ticking})
	case strategy.Direct:
		return e.receive(view, in)
	case strategy.WorkDone:
		return e.done(view, in)
	}
	return nil
}

// show puts the received designs into the view.
func (e *Private) show() strategy.Output {
	var all received
	for _, id := range slices.Sorted(maps.Keys(e.received)) {
		all = append(all, e.received[id])
	}
	return strategy.Result{Value: all}
}

// compute begins the computation of a new design and threshold if there are new observations.
func (e *Private) compute(view strategy.View) []strategy.Output {
	if e.computing || view.Observations <= e.own.observations || view.Observations < e.task.Strategy.InitialDesigns {
		return nil
	}
	e.computing = true
	return []strategy.Output{strategy.Work{Name: "design", Run: func(ctx context.Context, view strategy.View, seed strategy.Seed) (any, error) {
		return find(ctx, e.task, e.find, view, seed)
	}}}
}

// find computes a found for this view, or returns nil if the agent cannot compare yet. The next
// attempt follows the next observation.
func find(ctx context.Context, t *task.Task, s search.Search, view strategy.View, seed strategy.Seed) (any, error) {
	if view.Posterior == nil {
		return nil, nil // the surrogate could not be fitted
	}
	f := found{observations: view.Observations}
	threshold, err := largestMean(ctx, t, s, view, seed)
	if err != nil {
		return nil, err
	}
	if f.threshold, err = compare.Ordered(threshold); err != nil {
		return nil, nil // outputs beyond the limits of the format cannot be compared
	}
	n, ok, err := nearOptimal(ctx, t, s, view, seed)
	if !ok || err != nil {
		return f, err
	}
	bound := *n.Bound
	n.Bound = nil
	if f.bound, err = compare.Ordered(bound); err == nil && math.Abs(bound) <= protocol.MaxUnit {
		f.design = &n
	}
	return f, nil
}

// largestMean returns the threshold δ: the largest posterior mean among probably feasible designs,
// in the objective's units. Until a feasible design is known it returns -Inf, which every design
// exceeds.
func largestMean(ctx context.Context, t *task.Task, s search.Search, view strategy.View, seed strategy.Seed) (float64, error) {
	if len(view.Constraints) > 0 && strategy.Best(t, view.Trials) == nil {
		return math.Inf(-1), nil
	}
	units, err := unitsOf(t, view)
	if err != nil {
		return 0, err
	}
	mean := acquisition.Mean(view.Posterior)
	x, _, err := s.Maximizer.Maximize(ctx, search.AmongFeasible(view, mean), s.BestFeasible(view), seed.Stream("threshold", uint64(view.Observations)))
	if err != nil {
		return 0, err
	}
	return own(units, mean.Value(x)), nil
}
