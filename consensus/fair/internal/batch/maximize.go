package batch

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/linalg"
	"github.com/fbo-node/fbo/task"
)

// Maximise returns the best batch that its search finds. The same problem and random stream give
// the same batch, on different processors up to rounding. It returns an error if the problem is
// invalid, if no batch has a finite value, or if ctx ends first.
func (p Problem) Maximise(ctx context.Context, rng *rand.Rand) (Batch, error) {
	if err := p.check(); err != nil {
		return Batch{}, err
	}
	find := p.find
	if p.Choices != nil {
		find = p.choose
	}
	designs, err := find(ctx, rng)
	if err != nil {
		return Batch{}, err
	}
	b := Batch{Designs: designs, Value: p.Value(designs)}
	if math.IsNaN(b.Value) || math.IsInf(b.Value, 0) {
		return Batch{}, fmt.Errorf("the value of the best batch is %g: must be finite", b.Value)
	}
	return b, nil
}

// indifferent reports whether the value does not depend on the assignment of designs to parties.
func (p Problem) indifferent() bool { return p.Rule == Fair && p.Weights.equal() }

// paired assigns the designs to the parties, each of which must be able to evaluate each design.
// Parties with less gain get designs with larger mean. If the assignment does not affect the value,
// it is random, since a search may favour some positions in the batch.
func (p Problem) paired(designs [][]float64, rng *rand.Rand) [][]float64 {
	if p.indifferent() {
		rng.Shuffle(len(designs), func(i, j int) { designs[i], designs[j] = designs[j], designs[i] })
		return designs
	}
	means := p.Posterior.Joint(designs).Mean()
	best := rising(means)
	slices.Reverse(best)
	served := make([][]float64, len(designs))
	for rank, party := range rising(p.Gains) {
		served[party] = designs[best[rank]]
	}
	return served
}

// Constants of the search for batches of any designs.
const (
	spread      = 300 // number of random designs in the pool
	around      = 100 // number of designs around Near and around the maxima of confidence bounds
	boundClimbs = 3   // number of climbs on each confidence bound

	startedDesigns = 16  // total number of designs in the batches of all starts; there is at least one start
	rounds         = 2   // number of rounds in which single designs climb
	climbers       = 4   // number of parties whose designs climb in a round, which may be exceeded by one
	climbs         = 10  // number of climbs for each such party
	apart          = 0.3 // minimum distance between the starts of a party's climbs

	jointGradients    = 1600 // number of gradients of a joint ascent, divided by the number of parties
	minJointGradients = 30

	minScale     = 0.003 // smallest standard deviation of designs that are sampled around others, in the unit cube
	largestScale = 0.3
)

// bounds are the β of the upper confidence bounds μ + √β·sd whose maxima are in the pool.
var bounds = [...]float64{0, 0.25, 1, 4}

// smoothings are the ε (see distribute) of successive ascents, for weights whose largest is 1.
var smoothings = [...]float64{0.3, 0.03, 3e-3, 3e-4, 3e-5, 1e-6}

// find returns the best batch of any designs that it finds. It first improves batches of designs
// from a pool by exchanges of single designs. Single designs then climb from the best candidates,
// with the others fixed, and the results join the pool. After more exchanges all designs climb
// together.
func (p Problem) find(ctx context.Context, rng *rand.Rand) ([][]float64, error) {
	pool, err := p.pool(ctx, rng)
	if err != nil {
		return nil, err
	}
	n := len(p.Gains)
	o := &objective{problem: p, utility: newUtility(p, true)}
	best := result{value: math.Inf(-1)}
	var seen [][]int
	for start := range max(startedDesigns/n, 1) {
		o.utility.smoothing = p.smoothings()[0]
		batch, err := pool.explore(ctx, o, start, rng)
		if err != nil {
			return nil, err
		}
		sorted := slices.Sorted(slices.Values(batch))
		if slices.ContainsFunc(seen, func(other []int) bool { return slices.Equal(other, sorted) }) {
			continue
		}
		seen = append(seen, sorted)
		var x []float64
		for _, i := range batch {
			x = append(x, pool.designs[i]...)
		}
		for _, o.utility.smoothing = range p.smoothings() {
			x = o.climb(ctx, x, max(jointGradients/n, minJointGradients))
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		o.utility.smoothing = 0
		if v := o.Value(x); larger(v, best.value) {
			best = result{x, v}
		}
	}
	if best.x == nil {
		return nil, fmt.Errorf("no batch of finite value was found")
	}
	return p.paired(linalg.Clone(o.split(best.x)), rng), nil
}

// smoothings returns the values of ε for the weights of p. It returns only 0 if the utility has no
// ridges.
func (p Problem) smoothings() []float64 {
	if p.Rule != Fair || p.Weights.equal() {
		return []float64{0}
	}
	scaled := slices.Clone(smoothings[:])
	for i := range scaled {
		scaled[i] /= p.Weights[0]
	}
	return scaled
}

// explore returns a good batch of designs from the pool, as indices, and adds designs to the pool.
// Start 0 begins with the design of the largest mean for all parties. Other starts begin with
// random designs.
func (p *pool) explore(ctx context.Context, o *objective, start int, rng *rand.Rand) ([]int, error) {
	batch := make([]int, len(o.problem.Gains))
	for party := range batch {
		batch[party] = rng.IntN(len(p.designs))
		if start == 0 {
			batch[party] = slices.MaxFunc(p.all(), p.byMean)
		}
	}
	for round := range rounds + 1 {
		candidates := make([][]int, len(batch))
		for party := range candidates {
			candidates[party] = p.all()
		}
		p.exchange(ctx, o, batch, candidates, maxSweeps)
		if round == rounds {
			break
		}
		var fresh [][]float64
		for party := 0; party < len(batch); party += max(len(batch)/climbers, 1) {
			fresh = append(fresh, p.tops(ctx, o, batch, party)...)
		}
		if err := p.add(ctx, fresh...); err != nil {
			return nil, err
		}
	}
	return batch, ctx.Err()
}

// tops returns the ends of climbs of one party's design, with the others fixed. The climbs start
// from the best designs for the party, at least the distance `apart` from each other.
func (p *pool) tops(ctx context.Context, o *objective, batch []int, party int) (found [][]float64) {
	designs := make([][]float64, len(batch))
	for i, b := range batch {
		designs[i] = p.designs[b]
	}
	b, ok := newBlock(o, designs, party)
	if !ok {
		return nil
	}
	order := p.all()
	values, ok := p.values(o, batch, party, order)
	if !ok {
		return nil
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(values[j], values[i]) })
	var from []int
	for _, i := range order {
		near := func(j int) bool { return distance(p.designs[i], p.designs[j]) < apart }
		if len(from) == climbs || ctx.Err() != nil {
			break
		}
		if !slices.ContainsFunc(from, near) {
			from = append(from, i)
			top, _ := acquisition.Climb(ctx, o.problem.Space, b, p.designs[i])
			found = append(found, top)
		}
	}
	return found
}

// distance returns the largest difference between coordinates of a and b.
func distance(a, b []float64) (largest float64) {
	for i := range a {
		largest = max(largest, math.Abs(a[i]-b[i]))
	}
	return largest
}

// result is the best batch of a search so far.
type result struct {
	x     []float64
	value float64
}

// climb returns the end of the ascent of a batch. If the space has parameters other than floats,
// or constraints among parameters, single designs climb first. Then all float coordinates of the batch ascend together.
func (o *objective) climb(ctx context.Context, x []float64, gradients int) []float64 {
	var floats []int
	single := len(o.problem.Space.ParameterConstraints()) > 0 // whether single designs climb first
	dim := o.problem.Space.Dim()
	for _, part := range o.problem.Space.Blocks() {
		if part.Kind != task.Float {
			single = true
			continue
		}
		for party := range len(x) / dim {
			floats = append(floats, party*dim+part.Start)
		}
	}
	x = slices.Clone(x)
	if single {
		for party, design := range o.split(x) {
			if b, ok := newBlock(o, o.split(x), party); ok {
				top, _ := acquisition.Climb(ctx, o.problem.Space, b, design)
				copy(design, top)
			}
		}
	}
	x, _ = acquisition.Ascend(ctx, o.problem.Space, o, x, floats, gradients)
	return x
}

// pool returns the initial candidate designs: random ones, the maxima of confidence bounds, Near,
// and samples around the maxima and Near.
func (p Problem) pool(ctx context.Context, rng *rand.Rand) (*pool, error) {
	made := make([][]float64, 0, spread+around)
	for range spread {
		made = append(made, acquisition.Sample(p.Space, rng))
	}
	centres := make([][]float64, 0, len(p.Near)+climbs*len(bounds))
	for _, x := range p.Near {
		x = slices.Clone(x)
		p.Space.Snap(x)
		centres = append(centres, x)
	}
	from, err := newPool(ctx, p.Posterior, append(slices.Clone(made), centres...))
	if err != nil {
		return nil, err
	}
	for _, beta := range bounds {
		height := func(i int) float64 { return from.mean[i] + math.Sqrt(beta*from.variance[i]) }
		order := from.all()
		slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(height(j), height(i)) })
		for _, i := range order[:boundClimbs] {
			top, _ := acquisition.Climb(ctx, p.Space, acquisition.UCB(p.Posterior, beta), from.designs[i])
			centres = append(centres, top)
		}
	}
	further := centres[len(p.Near):]
	for range around {
		x := slices.Clone(centres[rng.IntN(len(centres))])
		scale := minScale * math.Pow(largestScale/minScale, rng.Float64())
		for i := range x {
			x[i] += scale * rng.NormFloat64()
		}
		p.Space.Snap(x)
		further = append(further, x)
	}
	return from, from.add(ctx, further...)
}

func (p *pool) byMean(i, j int) int { return cmp.Compare(p.mean[i], p.mean[j]) }

// all returns the indices of all designs.
func (p *pool) all() []int {
	all := make([]int, len(p.designs))
	for i := range all {
		all[i] = i
	}
	return all
}
