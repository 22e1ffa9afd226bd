package baseline

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate/gp"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

const (
	fmtboPoints = 30  // points for ranks, times the number of dimensions
	fmtboShare  = 0.8 // share of the members whose hyperparameters are averaged
)

// FMTBO is the server of federated many-task Bayesian optimisation (Zhu, Wang, Jin, IEEE TEVC 2024),
// as GUIDE-FBO compares with it. Members send the hyperparameters of their processes and the ranks
// of their predictions at common points. A member receives the average hyperparameters of the
// members whose ranks are most similar to its own. From there it fits a second process to its own
// observations, and maximises the mean of the expected improvements under both.
//
// Departure: this project's processes have no output scale and integrate over the mean, so that
// there are lengthscales and a noise only. Logarithms are averaged.
//
// An FMTBO is safe for concurrent use. It is repeatable under the same condition as a Pool.
type FMTBO struct {
	task   *task.Task
	pool   *Pool
	points [][]float64

	mu    sync.Mutex
	means map[*known]func() ([]float64, error) // predictions at points
}

// NewFMTBO returns the server of all members of a pool. seed determines the common points.
func NewFMTBO(t *task.Task, pool *Pool, seed random.Seed) *FMTBO {
	f := &FMTBO{task: t, pool: pool, means: map[*known]func() ([]float64, error){}}
	rng := seed.Stream("points", 0)
	for range fmtboPoints * t.Space.Dim() {
		f.points = append(f.points, acquisition.Sample(t.Space, rng))
	}
	return f
}

// Member returns the strategy of a member.
func (f *FMTBO) Member(self int) strategy.Strategy {
	return manyTask{search: search.New(f.task), server: f, self: self}
}

// predictions returns the predictions of each member at the common points.
func (f *FMTBO) predictions(members []peer) ([][]float64, error) {
	f.mu.Lock()
	next, lazy := map[*known]func() ([]float64, error){}, make([]func() ([]float64, error), len(members))
	for i, m := range members {
		p, ok := f.means[m.known]
		if !ok {
			p = sync.OnceValues(func() ([]float64, error) { return m.predict(f.points) })
		}
		next[m.known], lazy[i] = p, p
	}
	f.means = next
	f.mu.Unlock()
	all := make([][]float64, len(members))
	for i, m := range members {
		var err error
		if all[i], err = lazy[i](); err != nil {
			return nil, fmt.Errorf("the predictions of member %d: %w", m.member, err)
		}
	}
	return all, nil
}

func (k *known) predict(points [][]float64) ([]float64, error) {
	process, err := k.process()
	if err != nil {
		return nil, err
	}
	means := make([]float64, len(points))
	for i, x := range points {
		means[i] = process.Mean(x)
	}
	return means, nil
}

// average returns the average hyperparameters of the members most similar to self, which is one of
// them.
func (f *FMTBO) average(self int) (h gp.Hyperparameters, members int, err error) {
	all := present(f.pool.now().members)
	predictions, err := f.predictions(all)
	if err != nil {
		return h, 0, err
	}
	own := slices.IndexFunc(all, func(p peer) bool { return p.member == self })
	if own < 0 {
		return h, 0, fmt.Errorf("the pool has no observations of member %d", self)
	}
	inversions := make([]int, len(all))
	order := make([]int, len(all))
	for i := range all {
		inversions[i], order[i] = discordant(predictions[i], predictions[own]), i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(inversions[a], inversions[b]) })
	members = max(1, int(fmtboShare*float64(len(all))))
	h.Lengthscales = make([]float64, len(all[own].h.Lengthscales))
	for _, i := range order[:members] {
		for k, l := range all[i].h.Lengthscales {
			h.Lengthscales[k] += math.Log(l) / float64(members)
		}
		h.Noise += math.Log(all[i].h.Noise) / float64(members)
	}
	for k, l := range h.Lengthscales {
		h.Lengthscales[k] = math.Exp(l)
	}
	h.Noise = math.Exp(h.Noise)
	return h, members, nil
}

// manyTask is the strategy of one member.
type manyTask struct {
	search search.Search
	server *FMTBO
	self   int
}

var _ strategy.Strategy = manyTask{}

// Suggest implements strategy.Strategy.
func (s manyTask) Suggest(ctx context.Context, view strategy.View, trial uint64, seed random.Seed) (strategy.Suggestion, error) {
	if s.search.Starting(view, trial) {
		return s.search.Start(view, trial, seed)
	}
	own, err := s.server.pool.own(view)
	if err != nil {
		return strategy.Suggestion{}, err
	}
	average, members, err := s.server.average(s.self)
	if err != nil {
		return strategy.Suggestion{}, err
	}
	h, err := gp.FitFrom(ctx, own.spec, own.x, own.y, average, seed.Stream("global fit", trial))
	if err != nil {
		return strategy.Suggestion{}, err
	}
	global, err := gp.NewPosterior(own.spec, own.x, own.y, h)
	if err != nil {
		return strategy.Suggestion{}, err
	}
	f := acquisition.LogMean(acquisition.LogEI(global, own.best()), acquisition.LogEI(view.Posterior, own.best()))
	return s.search.Maximise(ctx, view, trial, seed, f, strategy.Why{Source: "peers", PeerCount: members - 1})
}
