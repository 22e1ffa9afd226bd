package batch

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/fbo-node/fbo/internal/linalg"
	"github.com/fbo-node/fbo/internal/surrogate"
)

// pool holds the candidate designs of batches. It computes covariances only when they are first
// used, since few of a thousand designs are ever in a batch.
type pool struct {
	posterior      surrogate.JointPosterior
	designs        [][]float64
	mean, variance []float64
	columns        map[int][]float64
}

// newPool returns a pool of these designs. The only error is that of ctx.
func newPool(ctx context.Context, posterior surrogate.JointPosterior, designs [][]float64) (*pool, error) {
	p := &pool{posterior: posterior, columns: map[int][]float64{}}
	return p, p.add(ctx, designs...)
}

// add adds designs to the pool. The only error is that of ctx.
func (p *pool) add(ctx context.Context, designs ...[]float64) error {
	for _, x := range designs {
		if err := ctx.Err(); err != nil {
			return err
		}
		mean, variance := p.posterior.Predict(x)
		p.designs = append(p.designs, x)
		p.mean, p.variance = append(p.mean, mean), append(p.variance, variance)
	}
	return nil
}

// column returns the covariances of the function at design i with the function at each design of
// the pool.
func (p *pool) column(i int) []float64 {
	c := p.columns[i]
	if len(c) == len(p.designs) {
		return c
	}
	joint := p.posterior.Joint(p.designs[i : i+1])
	for j := len(c); j < len(p.designs); j++ {
		c = append(c, p.variance[i])
		if i != j {
			joint.Cross(c[j:], p.designs[j])
		}
	}
	p.columns[i] = c
	return c
}

// given fills left with the variances of the function at the candidates, given observations of the
// other designs. It returns the information of these observations. ok is false if rounding errors
// prevent the computation.
func (p *pool) given(left []float64, candidates, others []int, noise float64) (known float64, ok bool) {
	for k, c := range candidates {
		left[k] = p.variance[c]
	}
	n, m := len(others), len(candidates)
	if n == 0 {
		return 0, true
	}
	a := blas64.Symmetric{Uplo: blas.Upper, N: n, Stride: n, Data: make([]float64, n*n)}
	cross := blas64.General{Rows: n, Cols: m, Stride: m, Data: make([]float64, n*m)}
	for i, other := range others {
		column := p.column(other)
		for j := i; j < n; j++ {
			a.Data[i*n+j] = column[others[j]] / noise
		}
		a.Data[i*n+i]++
		row := cross.Data[i*m : (i+1)*m]
		for k, c := range candidates {
			row[k] = column[c]
		}
	}
	root, known, ok := linalg.Factorise(a)
	if !ok {
		return 0, false
	}
	blas64.Trsm(blas.Left, blas.Trans, 1, root, cross)
	for i := range n {
		for k, v := range cross.Data[i*m : (i+1)*m] {
			left[k] -= v * v / noise
		}
	}
	for k := range left {
		left[k] = max(left[k], 0)
	}
	return known, true
}

// values returns, for each candidate, the value of the batch with the candidate as the design of
// one party. batch and candidates are indices into the pool. ok is false if rounding errors prevent
// the computation.
func (p *pool) values(o *objective, batch []int, party int, candidates []int) (values []float64, ok bool) {
	b := &block{problem: o.problem, utility: o.utility, which: party, means: make([]float64, len(batch))}
	for i, design := range batch {
		b.means[i] = p.mean[design]
	}
	others := append(append([]int(nil), batch[:party]...), batch[party+1:]...)
	values = make([]float64, len(candidates))
	if b.known, ok = p.given(values, candidates, others, o.problem.Noise); !ok {
		return nil, false
	}
	for k, c := range candidates {
		values[k] = b.value(p.mean[c], values[k])
	}
	return values, true
}

// exchange replaces each party's design in turn by the candidate with the largest batch value, with
// the other designs fixed. It ends when no candidate is better by more than rounding errors, after
// this number of sweeps over the parties, or when ctx ends. candidates has a list for each party.
// exchange changes batch and returns its value.
func (p *pool) exchange(ctx context.Context, o *objective, batch []int, candidates [][]int, sweeps int) float64 {
	value := math.Inf(-1)
	for moved := true; moved && sweeps > 0; sweeps-- {
		moved = false
		for party, mine := range candidates {
			if ctx.Err() != nil {
				return value
			}
			values, ok := p.values(o, batch, party, mine)
			if !ok {
				continue
			}
			best := 0
			for k, v := range values {
				if larger(v, values[best]) {
					best = k
				}
			}
			if larger(values[best], value) {
				moved = moved || mine[best] != batch[party]
				batch[party], value = mine[best], values[best]
			}
		}
	}
	return value
}

// minGain is the difference by which a value must be larger to count as larger, relative to 1 plus
// the absolute value.
const minGain = 1e-12

// larger reports whether a value is larger than another by more than rounding errors. So all
// processors select the same one of nearly equal values.
func larger(value, other float64) bool {
	return math.IsInf(other, -1) && value > other || value > other+minGain*(1+math.Abs(other))
}
