package batch

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/fbo-node/fbo/internal/linalg"
)

const (
	maxEnumerated = 100_000 // maximum number of batches that are enumerated; if there are more, a search is used
	listedStarts  = 8       // number of starts of that search
	maxSweeps     = 20      // maximum number of sweeps over the parties in one exchange
)

// lists holds the designs that each party can evaluate, as indices into the distinct designs of all
// parties.
type lists struct {
	designs    [][]float64
	candidates [][]int // by party: sorted indices into designs, without duplicates
	common     bool    // all parties have the same candidates
}

func newLists(p Problem) lists {
	l := lists{common: true}
	index := map[string]int{}
	for _, choices := range p.Choices {
		var mine []int
		seen := map[int]bool{}
		for _, x := range choices {
			x = slices.Clone(x)
			p.Space.Snap(x)
			key := p.Space.Decode(x).Key()
			i, known := index[key]
			if !known {
				i = len(l.designs)
				index[key] = i
				l.designs = append(l.designs, x)
			}
			if !seen[i] {
				seen[i] = true
				mine = append(mine, i)
			}
		}
		slices.Sort(mine)
		l.candidates = append(l.candidates, mine)
		l.common = l.common && slices.Equal(mine, l.candidates[0])
	}
	return l
}

// few reports whether there are at most maxEnumerated possible batches.
func (l lists) few() bool {
	count := 1
	for _, mine := range l.candidates {
		if count *= len(mine); count > maxEnumerated {
			return false
		}
	}
	return true
}

// choose returns the best batch of listed designs. If there are too many batches to enumerate, it
// returns the best one that a search finds.
func (p Problem) choose(ctx context.Context, rng *rand.Rand) ([][]float64, error) {
	l := newLists(p)
	pool, err := newPool(ctx, p.Posterior, l.designs)
	if err != nil {
		return nil, err
	}
	o := &objective{problem: p, utility: newUtility(p, l.common)}
	var batch []int
	if l.few() {
		batch = pool.enumerate(ctx, o, l.candidates)
	} else {
		batch = pool.search(ctx, o, l.candidates, rng)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !l.common {
		pool.swap(p, batch, l.candidates)
	}
	designs := make([][]float64, len(batch))
	for party, i := range batch {
		designs[party] = slices.Clone(pool.designs[i])
	}
	if l.common {
		designs = p.paired(designs, rng)
	}
	return designs, nil
}

// search returns the best batch that exchange reaches from several starts. In the first start each
// party has its design with the largest mean. The other starts are random.
func (p *pool) search(ctx context.Context, o *objective, candidates [][]int, rng *rand.Rand) (best []int) {
	value := math.Inf(-1)
	for start := range listedStarts {
		batch := make([]int, len(candidates))
		for party, mine := range candidates {
			batch[party] = mine[rng.IntN(len(mine))]
			if start == 0 {
				batch[party] = slices.MaxFunc(mine, p.byMean)
			}
		}
		v := p.exchange(ctx, o, batch, candidates, maxSweeps)
		for !o.utility.free && p.swap(o.problem, batch, candidates) && ctx.Err() == nil {
			v = p.exchange(ctx, o, batch, candidates, maxSweeps)
		}
		if best == nil || larger(v, value) {
			best, value = batch, v
		}
	}
	return best
}

// swap exchanges the designs of two parties if each can evaluate the other's design and the party
// with less gain has the lower mean, until there are no such parties. Under every rule each
// exchange makes the batch better or leaves it equal. swap reports whether it exchanged any.
func (p *pool) swap(problem Problem, batch []int, candidates [][]int) (any bool) {
	if problem.indifferent() {
		return false
	}
	can := func(party, design int) bool {
		_, found := slices.BinarySearch(candidates[party], design)
		return found
	}
	order := rising(problem.Gains)
	for again := true; again; {
		again = false
		for i, low := range order {
			for _, high := range order[i+1:] {
				a, b := batch[low], batch[high]
				if problem.Gains[low] < problem.Gains[high] && p.mean[a] < p.mean[b] && can(low, b) && can(high, a) {
					batch[low], batch[high] = b, a
					again, any = true, true
				}
			}
		}
	}
	return any
}

// enumerate returns the best of all batches. It descends a tree with one level for each party. On
// each level it extends the Cholesky factor of the designs chosen so far by one row.
func (p *pool) enumerate(ctx context.Context, o *objective, candidates [][]int) (best []int) {
	n, noise := len(candidates), o.problem.Noise
	order := make([]int, n) // the party with the longest list is last, since no covariance columns of its designs are needed
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return len(candidates[i]) - len(candidates[j]) })
	batch, means := make([]int, n), make([]float64, n)
	rows := make([][]float64, n)
	for level := range rows {
		rows[level] = make([]float64, level+1)
	}
	value := math.Inf(-1)
	var descend func(level int, information float64)
	descend = func(level int, information float64) {
		if level == n {
			v := o.utility.of(means, nil) + o.problem.exploration(information)
			if best == nil || larger(v, value) {
				best, value = slices.Clone(batch), v
			}
			return
		}
		if ctx.Err() != nil {
			return
		}
		party, row := order[level], rows[level]
		for _, c := range candidates[party] {
			left := p.variance[c] + noise
			for i := range level {
				before := rows[i]
				row[i] = (p.column(batch[order[i]])[c] - linalg.Dot(row[:i], before[:i])) / before[i]
				left -= row[i] * row[i]
			}
			left = max(left, noise)
			row[level] = math.Sqrt(left)
			batch[party], means[party] = c, p.mean[c]
			descend(level+1, information+math.Log(left/noise)/2)
		}
	}
	descend(0, 0)
	return best
}
