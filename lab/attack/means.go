package attack

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/rff"
	"github.com/fbo-node/fbo/task"
)

// meanAttacks returns attacks on exact means, which are known functions of their author's
// observations. The attacker solves for the designs, given the variance reductions, and then for
// the values, given the mean.
func meanAttacks() []Attack {
	kinds := []string{protocol.MeanKind}
	return []Attack{
		{Name: "inversion of all shares", Kinds: kinds, Scene: Listen, Guess: func(ctx context.Context, seen *Seen, rng *rand.Rand) (Guess, error) {
			return invert(ctx, seen, rng, valuesOf[protocol.Mean](seen.Disclosures[0]))
		}},
		{Name: "inversion of the last share alone", Kinds: kinds, Scene: Listen, Most: 10, Guess: func(ctx context.Context, seen *Seen, rng *rand.Rand) (Guess, error) {
			all := valuesOf[protocol.Mean](seen.Disclosures[0])
			return invert(ctx, seen, rng, all[max(len(all)-1, 0):])
		}},
		{Name: "differences of successive shares", Kinds: kinds, Scene: Listen, Guess: meanDifferences},
	}
}

func invert(ctx context.Context, seen *Seen, rng *rand.Rand, shares []protocol.Mean) (Guess, error) {
	r, err := newReader(seen.Task)
	if err != nil {
		return Guess{}, err
	}
	for _, m := range shares {
		if err := r.read(ctx, m, rng); err != nil {
			return Guess{}, err
		}
	}
	if len(r.x) == 0 {
		return Guess{}, nil
	}
	y, err := r.values(ctx, shares[len(shares)-1])
	return Guess{X: r.x, Y: y}, err
}

// reader is an attacker that solves for the observations behind exact means.
type reader struct {
	task     *task.Task
	model    surrogate.Model
	features *rff.Map
	x        [][]float64
	noise    float64 // logarithm of the noise of the author's process
}

func newReader(t *task.Task) (*reader, error) {
	model, err := surrogate.New(t)
	if err != nil {
		return nil, err
	}
	features, err := surrogate.SharedMap(t)
	return &reader{task: t, model: model, features: features, noise: math.Log(0.01)}, err
}

const (
	// solved is the misfit below which a share counts as explained. The numbers are sent as float32
	// and cannot agree much better.
	solved      = 1e-10
	guesses     = 16 // starting guesses for the designs that are new in a share
	newSteps    = 30 // steps of the solution for the new designs alone
	allSteps    = 10 // steps of the solution for all designs
	placesToTry = 8  // locations of each kind tried for each new design
	maxToMove   = 90 // numbers to solve for at once, after a share that could not be explained
)

// read solves for the observations of a share. The first of them are known from earlier shares. The
// misfit shows whether it has found the observations behind the share; until then it tries other
// starting guesses.
func (r *reader) read(ctx context.Context, m protocol.Mean, rng *rand.Rand) error {
	fresh := m.Observations - len(r.x)
	if fresh <= 0 {
		return ctx.Err()
	}
	dim := r.task.Space.Dim()
	known := slices.Clone(r.x)
	best, least := []float64(nil), math.Inf(1)
	for trial := range guesses {
		start, err := r.start(m, known, fresh, trial, rng)
		if err != nil {
			return err
		}
		var failed error
		misfit := func(u []float64) []float64 {
			v, err := r.misfit(m, slices.Concat(known, rows(u, dim)), u[len(u)-1])
			if err != nil {
				failed = err
			}
			return v
		}
		u, away := leastSquares(ctx, misfit, start, newSteps, solved)
		if failed != nil {
			return failed
		}
		if away < least {
			best, least = u, away
		}
		if least < solved || ctx.Err() != nil {
			break
		}
	}
	r.x, r.noise = append(known, rows(best, dim)...), best[len(best)-1]
	if all := append(slices.Concat(r.x...), r.noise); least > solved && len(all) <= maxToMove {
		misfit := func(u []float64) []float64 {
			v, _ := r.misfit(m, rows(u, dim), u[len(u)-1]) // unexpected: the start has given no error, so other points give none
			return v
		}
		u, _ := leastSquares(ctx, misfit, all, allSteps, solved)
		r.x, r.noise = rows(u, dim), u[len(u)-1]
	}
	fold(r.x)
	return ctx.Err()
}

// fold reflects coordinates outside the unit cube into it. Many designs lie on the sides of the
// cube, and a search that stopped at the sides would not find them.
func fold(x [][]float64) {
	for _, point := range x {
		for k, v := range point {
			v = math.Abs(math.Mod(v, 2))
			point[k] = min(v, 2-v)
		}
	}
}

// rows divides numbers into designs. It ignores a remainder at the end.
func rows(u []float64, dim int) (x [][]float64) {
	for i := 0; i+dim <= len(u); i += dim {
		x = append(x, slices.Clone(u[i:i+dim]))
	}
	return x
}

// noiseMoves are added to the logarithm of the last noise for the starting guesses, because the
// author learns its hyperparameters again from time to time.
var noiseMoves = []float64{0, -2, 2, -4}

// start adds new designs to the known ones, one after the other. Candidates are random locations,
// and locations where the share's variance reduction exceeds most what the known designs explain.
// It takes the candidate with which the share is explained best, or in later trials next best.
func (r *reader) start(m protocol.Mean, known [][]float64, fresh, trial int, rng *rand.Rand) ([]float64, error) {
	noise := r.noise + noiseMoves[trial%len(noiseMoves)]
	x, u := slices.Clone(known), []float64(nil)
	for range fresh {
		more := r.features.Function(m.ExplainedWeights)
		if len(x) > 0 {
			posterior, err := r.condition(m, x, nil, noise)
			if err != nil {
				return nil, err
			}
			_, weights := posterior.Explained()
			more = r.features.Function(minus(m.ExplainedWeights, weights))
		}
		places := peaks(r.task, more.Value, placesToTry, apart, rng)
		for range placesToTry {
			places = append(places, acquisition.Sample(r.task.Space, rng))
		}
		misfits := make([]float64, len(places))
		for i, at := range places {
			v, err := r.misfit(m, append(slices.Clone(x), at), noise)
			if err != nil {
				return nil, err
			}
			misfits[i] = squared(v)
		}
		for range trial / len(noiseMoves) { // the better candidates were used in earlier trials
			misfits[slices.Index(misfits, slices.Min(misfits))] = math.Inf(1)
		}
		best := places[slices.Index(misfits, slices.Min(misfits))]
		x, u = append(x, best), append(u, best...)
	}
	return append(u, noise), nil
}

func (r *reader) condition(m protocol.Mean, x [][]float64, y []float64, logNoise float64) (surrogate.Posterior, error) {
	if y == nil {
		y = make([]float64, len(x))
		for i := range y {
			y[i] = float64(i) // any values: the variance reduction does not depend on them
		}
	}
	h := surrogate.Hyperparameters{Lengthscales: m.Lengthscales, Noise: math.Exp(min(max(logNoise, -20), 2))}
	posterior, err := r.model.Condition(surrogate.Observations{X: x, Y: y}, h, nil)
	if err != nil {
		return nil, err
	}
	return posterior, nil
}

// misfit returns the difference between the variance reductions (Explained) given these designs and
// this noise, and those of the share.
func (r *reader) misfit(m protocol.Mean, x [][]float64, logNoise float64) ([]float64, error) {
	fold(x)
	posterior, err := r.condition(m, x, nil, logNoise)
	if err != nil {
		return nil, err
	}
	average, known := posterior.Explained()
	return append(minus(known, m.ExplainedWeights), 10*(average-m.Explained)), nil
}

// values returns the values that the author must have measured at the designs, given the mean,
// level and scale of the share.
func (r *reader) values(ctx context.Context, m protocol.Mean) ([]float64, error) {
	says := r.features.Function(m.Values)
	y := make([]float64, len(r.x))
	for i, x := range r.x {
		y[i] = says.Value(x) // in standardised units, so that values are of order one
	}
	var failed error
	misfit := func(y []float64) []float64 {
		obs := surrogate.Observations{X: r.x, Y: make([]float64, len(y))}
		for i, v := range y {
			obs.Y[i] = m.Level + m.Scale*v
		}
		posterior, err := r.condition(m, r.x, obs.Y, r.noise)
		if err == nil {
			var units surrogate.Units
			if _, units, err = surrogate.Outputs(r.task, obs); err == nil {
				level, weights := posterior.DetailedMean()
				return append(minus(weights, m.Values), (units.Level+units.Scale*level-m.Level)/m.Scale, units.Scale/m.Scale-1)
			}
		}
		failed = err
		return make([]float64, len(m.Values)+2)
	}
	y, _ = leastSquares(ctx, misfit, y, 15, 1e-14)
	for i := range y {
		y[i] = m.Level + m.Scale*y[i]
	}
	return y, failed
}

// meanDifferences guesses the designs at which the variance reduction of a share exceeds that of
// the share before most.
func meanDifferences(_ context.Context, seen *Seen, rng *rand.Rand) (Guess, error) {
	shares := valuesOf[protocol.Mean](seen.Disclosures[0])
	if len(shares) == 0 {
		return Guess{}, nil
	}
	features, err := surrogate.SharedMap(seen.Task)
	if err != nil {
		return Guess{}, err
	}
	var g Guess
	before, count := make([]float64, features.Features()), 0
	for _, m := range shares {
		more := features.Function(minus(m.ExplainedWeights, before))
		g.X = append(g.X, peaks(seen.Task, more.Value, m.Observations-count, apart, rng)...)
		before, count = m.ExplainedWeights, m.Observations
	}
	last := shares[len(shares)-1]
	says := features.Function(last.Values)
	for _, x := range g.X {
		g.Y = append(g.Y, last.Level+last.Scale*says.Value(x))
	}
	return g, nil
}

const (
	peakCandidates = 2000
	peakClimb      = 120
	apart          = 0.1 // smallest distance of peaks, for functions as smooth as the task's kernel
)

// peaks returns about the count highest local maxima of f. It returns fewer if it does not find as
// many with this distance from each other.
func peaks(t *task.Task, f func([]float64) float64, count int, apart float64, rng *rand.Rand) [][]float64 {
	type candidate struct {
		x     []float64
		value float64
	}
	var all []candidate
	for range peakCandidates {
		x := acquisition.Sample(t.Space, rng)
		all = append(all, candidate{x, f(x)})
	}
	slices.SortFunc(all, func(a, b candidate) int {
		switch {
		case a.value > b.value:
			return -1
		case a.value < b.value:
			return 1
		}
		return 0
	})
	var found [][]float64
	for _, c := range all {
		if len(found) == count {
			break
		}
		near := func(x []float64) bool { return distance(x, c.x) < apart }
		if slices.ContainsFunc(found, near) {
			continue
		}
		if x := climb(t, f, c.x, 0.05, peakClimb, rng); !slices.ContainsFunc(found, func(y []float64) bool { return distance(x, y) < apart/2 }) {
			found = append(found, x)
		}
	}
	return found
}

// climb improves x by random steps, which become longer after a success and shorter otherwise.
func climb(t *task.Task, f func([]float64) float64, x []float64, step float64, tries int, rng *rand.Rand) []float64 {
	x = slices.Clone(x)
	value := f(x)
	for range tries {
		next := slices.Clone(x)
		for k := range next {
			next[k] = min(max(next[k]+step*rng.NormFloat64(), 0), 1)
		}
		t.Space.Snap(next)
		if there := f(next); there > value {
			x, value = next, there
			step *= 1.5
		} else {
			step *= 0.9
		}
	}
	return x
}
