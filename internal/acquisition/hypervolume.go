package acquisition

import (
	"fmt"
	"math"
	"slices"

	"github.com/fbo-node/fbo/internal/normal"
	"github.com/fbo-node/fbo/internal/pareto"
)

// Latent is a posterior of a function, given draws of its values at some designs. Given a draw, the
// function at any point has a normal distribution, whose variance is the same for all draws. It is
// safe for concurrent use.
type Latent interface {
	// Draws returns the number of draws, at least 1.
	Draws() int
	// Values returns the values of a draw at the designs.
	Values(draw int) []float64
	// Predict fills means with the mean at x given each draw, and returns the variance, at least 0.
	Predict(means, x []float64) (variance float64)
	// Gradient fills grad with the gradient at x of a weighted sum of what Predict returns.
	Gradient(grad, byMean []float64, byVariance float64, x []float64)
}

// minLatentSD is the smallest standard deviation with which LogNEHVI computes. With 0 the value
// would be -Inf at evaluated designs, without a gradient.
const minLatentSD = 1e-8

// LogNEHVI returns the logarithm of the noisy expected hypervolume improvement: the expected
// volume, above the reference, that an evaluation at x adds to what the designs dominate (Daulton,
// Balandat and Bakshy, "Parallel Bayesian Optimization of Multiple Noisy Objectives with Expected
// Hypervolume Improvement", NeurIPS 2021). All objectives are maximised and independent. They have
// the same designs in the same order, evaluated and pending, and the same number of draws. counted
// reports for each design whether it may be on the front, for example whether it is feasible; nil
// means that all may. The reference has a finite value for each objective, in its units. For a
// product with the probability of feasibility add [LogFeasibility].
//
// Each draw has its front, and the region that the front does not dominate is a union of disjoint
// boxes, from l to u. With m and s the mean and the standard deviation of an objective given the
// draw, the improvement is exactly
//
//	Σ_boxes Π_objectives [ψ(l) - ψ(u)],   ψ(v) = E max(N(m, s²) - v, 0)
//
// (Emmerich, Deutz and Klinkenberg, "Hypervolume-based Expected Improvement", CEC 2011; Yang et
// al., "Efficient Computation of Expected Hypervolume Improvement Using Box Decomposition
// Algorithms", Journal of Global Optimization, 2019). LogNEHVI averages it over the draws. So it
// departs from Daulton et al., who also draw the outcome at x: its value is smooth, and its only
// error is that of the draws of the front.
//
// The sums are computed in logarithms, as in Ament et al., "Unexpected Improvements to Expected
// Improvement for Bayesian Optimization" (NeurIPS 2023). The value and its gradient stay accurate
// where the improvement underflows. No smoothing of minima is needed for this, since the sum has
// none. A standard deviation below 1e-8 counts as 1e-8. With one objective and one draw LogNEHVI is
// [LogEI].
//
// Where noise is negligible and no design is pending, one draw suffices, if it has the posterior
// means. Otherwise 8 to 16 draws average over the fronts that are possible. Each objective needs a
// random stream of its own, since the draws of two objectives must be independent.
//
// For n points on the front one value takes O(draws·n) for two and three objectives. LogNEHVI
// panics if the objectives do not fit each other, the designs or the reference.
func LogNEHVI(objectives []Latent, counted []bool, reference []float64) Function {
	checkObjectives(objectives, counted, reference)
	g := &volumeGain{objectives: slices.Clone(objectives)}
	for s := range objectives[0].Draws() {
		var points [][]float64
		for i := range objectives[0].Values(s) {
			if counted != nil && !counted[i] {
				continue
			}
			p := make([]float64, len(objectives))
			for k, o := range objectives {
				p[k] = o.Values(s)[i]
			}
			points = append(points, p)
		}
		r := regionOf(pareto.Boxes(points, reference), len(objectives))
		g.draws = append(g.draws, r)
		g.levels = max(g.levels, r.start[len(objectives)])
	}
	return g
}

func checkObjectives(objectives []Latent, counted []bool, reference []float64) {
	if len(objectives) == 0 || len(objectives) != len(reference) {
		panic(fmt.Sprintf("acquisition: %d objectives and a reference of %d coordinates", len(objectives), len(reference)))
	}
	for _, v := range reference {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			panic(fmt.Sprintf("acquisition: reference %v; expected finite numbers", reference))
		}
	}
	first := objectives[0]
	for _, o := range objectives {
		if o.Draws() != first.Draws() || len(o.Values(0)) != len(first.Values(0)) || counted != nil && len(counted) != len(o.Values(0)) {
			panic("acquisition: the objectives have other draws or designs than the first")
		}
	}
}

// region is the part of the objectives' space that a front does not dominate, as boxes.
type region struct {
	bounds []float64 // the distinct finite bounds of the boxes, by objective
	start  []int     // start of each objective's bounds, and their number
	lower  []int32   // for each box and objective, index of the bound
	upper  []int32   // the same; unbounded for +Inf
}

const unbounded = -1

func regionOf(boxes []pareto.Box, objectives int) region {
	r := region{start: []int{0}, lower: make([]int32, len(boxes)*objectives), upper: make([]int32, len(boxes)*objectives)}
	for k := range objectives {
		var bounds []float64
		for _, b := range boxes {
			bounds = append(bounds, b.Lower[k])
			if !math.IsInf(b.Upper[k], 1) {
				bounds = append(bounds, b.Upper[k])
			}
		}
		slices.Sort(bounds)
		bounds = slices.Compact(bounds)
		index := func(v float64) int32 {
			i, ok := slices.BinarySearch(bounds, v)
			if !ok {
				return unbounded
			}
			return int32(r.start[k] + i)
		}
		for i, b := range boxes {
			r.lower[i*objectives+k], r.upper[i*objectives+k] = index(b.Lower[k]), index(b.Upper[k])
		}
		r.bounds = append(r.bounds, bounds...)
		r.start = append(r.start, len(r.bounds))
	}
	return r
}

// volumeGain is the function of LogNEHVI.
type volumeGain struct {
	objectives []Latent
	draws      []region
	levels     int // largest number of bounds of a region
	memory     scratch
	tails      lender[normal.Tail]
}

func (g *volumeGain) Value(x []float64) float64 {
	count, draws := len(g.objectives), len(g.draws)
	held := g.memory.take((draws + 1) * count)
	tails := g.tails.take(g.levels)
	means, sds := (*held)[:draws*count], (*held)[draws*count:]
	g.predict(means, sds, x)
	total := math.Inf(-1)
	for s := range g.draws {
		total = logAdd(total, g.draws[s].gain(means, sds, s, draws, *tails, nil, nil))
	}
	g.memory.put(held)
	g.tails.put(tails)
	return total - math.Log(float64(draws))
}

// predict fills means, one row of draws per objective, and the standard deviations of the
// objectives.
func (g *volumeGain) predict(means, sds, x []float64) {
	draws := len(g.draws)
	for k, o := range g.objectives {
		sds[k] = max(math.Sqrt(max(o.Predict(means[k*draws:(k+1)*draws], x), 0)), minLatentSD)
	}
}

func (g *volumeGain) Gradient(grad, x []float64) float64 {
	count, draws := len(g.objectives), len(g.draws)
	held := g.memory.take(2*draws*count + 2*count + draws + draws*count + count + len(x))
	tails := g.tails.take(g.levels)
	rest := *held
	part := func(length int) []float64 {
		v := rest[:length:length]
		rest = rest[length:]
		return v
	}
	means, sds := part(draws*count), part(count)
	bySDs, values := part(draws*count), part(draws) // bySDs has one row of objectives per draw
	byMeans, bySD := part(draws*count), part(count) // byMeans has one row of draws per objective
	byMean, term := part(count), part(len(x))
	g.predict(means, sds, x)
	total := math.Inf(-1)
	for s := range g.draws {
		values[s] = g.draws[s].gain(means, sds, s, draws, *tails, byMean, bySDs[s*count:(s+1)*count])
		for k, v := range byMean {
			byMeans[k*draws+s] = v
		}
		total = logAdd(total, values[s])
	}
	clear(bySD)
	for s, value := range values {
		weight := math.Exp(value - total)
		for k := range count {
			byMeans[k*draws+s] *= weight
			bySD[k] += weight * bySDs[s*count+k]
		}
	}
	clear(grad)
	for k, o := range g.objectives {
		byVariance := 0.0
		if sds[k] > minLatentSD {
			byVariance = bySD[k] / (2 * sds[k])
		}
		o.Gradient(term, byMeans[k*draws:(k+1)*draws], byVariance, x)
		for i, slope := range term {
			grad[i] += slope
		}
	}
	g.memory.put(held)
	g.tails.put(tails)
	return total - math.Log(float64(draws))
}

// gain returns the logarithm of the expected improvement given draw s. If byMean is not nil, gain
// fills it and bySD with the derivatives with respect to the mean and the standard deviation of
// each objective.
func (r *region) gain(means, sds []float64, s, draws int, tails []normal.Tail, byMean, bySD []float64) float64 {
	count := len(sds)
	scale := 0.0
	for k, sd := range sds {
		mean := means[k*draws+s]
		for i := r.start[k]; i < r.start[k+1]; i++ {
			tails[i] = normal.TailOf((mean - r.bounds[i]) / sd)
		}
		scale += math.Log(sd)
	}
	clear(byMean)
	clear(bySD)
	var between, drop [pareto.MaxObjectives]float64
	largest, sum := math.Inf(-1), 0.0 // logarithm of the largest term so far, and the sum of all as multiples of it
	for first := 0; first < len(r.lower); first += count {
		log, factor := 0.0, 1.0
		for k := range count {
			low := tails[r.lower[first+k]]
			log += low.LogExcess
			between[k], drop[k] = low.CumulativeRatio, low.DensityRatio
			if upper := r.upper[first+k]; upper != unbounded {
				rise := normal.RiseOf(tails[upper], low)
				factor *= rise.Factor
				between[k], drop[k] = rise.Between, rise.Drop
			}
		}
		if log += math.Log(factor); math.IsInf(log, -1) {
			continue // two bounds are equal after division by the standard deviation
		}
		if log > largest {
			shrink := math.Exp(largest - log)
			sum *= shrink
			for k := range byMean {
				byMean[k] *= shrink
				bySD[k] *= shrink
			}
			largest = log
		}
		weight := math.Exp(log - largest)
		sum += weight
		for k := range byMean {
			byMean[k] += weight * between[k]
			bySD[k] += weight * drop[k]
		}
	}
	for k := range byMean {
		byMean[k] /= sum * sds[k]
		bySD[k] /= sum * sds[k]
	}
	return scale + largest + math.Log(sum)
}
