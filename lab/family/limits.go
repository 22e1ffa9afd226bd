package family

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/rff"
	"github.com/fbo-node/fbo/task"
)

const (
	smallestShare, largestShare = 0.05, 0.4 // feasible share of the space, if the spec names none
	beyond                      = 0.5       // if nothing is feasible: distance of the limit below the smallest value of the common function
	redraws                     = 1000      // largest number of draws of constraints until they meet the spec
)

// Values of the key border: whether the optimum without constraints must be infeasible.
const (
	borderAny = "any"
	borderYes = "yes"
	borderNo  = "no"
)

func limitsKind() Kind {
	keys := slices.DeleteFunc(gpKeys(), func(k Key) bool { return k.Name == "d_n" })
	keys = append(keys,
		Key{Name: "c", Type: Whole, Default: "1", Low: 1, High: 3, Meaning: "number of constraints, each an output that must be at most 0"},
		Key{Name: "feasible", Type: Number, Low: 0, High: largestShare,
			Meaning: fmt.Sprintf("share of %d points at which the functions that members have in common keep all constraints; 0: none can be kept; without it %g to %g, even in its logarithm, for each federation",
				densePoints, smallestShare, largestShare)},
		Key{Name: "border", Type: Choice, Default: borderAny, Choices: []string{borderAny, borderYes, borderNo},
			Meaning: "whether each member's optimum without constraints is infeasible, which puts the best feasible design on a limit or on another hill"},
		limitNoiseKey(),
	)
	return Kind{
		Info: Info{
			Name:  "limits",
			About: "samples of Gaussian processes as in gp, one to be maximised, and one for each constraint",
			Keys:  append(keys, compositionKeys()...),
		},
		Build:       buildLimits,
		Constraints: func(v Values) []task.Constraint { return atMostZero(v.Whole("c")) },
	}
}

func limitNoiseKey() Key {
	return Key{Name: "limit_noise", Type: Number, Default: "0", Low: 0, High: 100,
		Meaning: "standard deviation of the noise of what is measured of a constraint, where that of the constraint is 1"}
}

// atMostZero returns n constraints c1, c2, …, each of which must be at most 0.
func atMostZero(n int) []task.Constraint {
	all := make([]task.Constraint, n)
	for i := range all {
		all[i] = task.Constraint{Output: task.Output(fmt.Sprintf("c%d", i+1)), Low: math.Inf(-1), High: 0}
	}
	return all
}

func buildLimits(v Values) (*task.Space, DrawFunc, error) {
	space, err := unitSpace(v.Whole("d"))
	if err != nil {
		return nil, nil, err
	}
	l := limits{
		gp:    gp{space: space, spec: gpFeatures(v), e: v.Number("e"), distance: math.NaN()},
		count: v.Whole("c"), feasible: v.Number("feasible"), border: v.Choice("border"),
	}
	if l.feasible == 0 && l.border != borderAny {
		return nil, nil, errors.New("key border applies where something is feasible; with feasible=0 it must be any")
	}
	return build(v, space, func(seed random.Seed) (source, error) {
		s, err := l.source(seed)
		s.noise, s.limitNoise = v.Number("noise"), v.Number("limit_noise")
		return s, err
	})
}

// limits holds the settings that all federations of a family share.
type limits struct {
	gp
	count    int
	feasible float64 // feasible share; NaN if each federation has its own
	border   string
}

func (l limits) source(seed random.Seed) (source, error) {
	f := &limited{limits: l, seed: seed, points: dense(densePoints, l.space.Dim()), clusters: map[int]commonLimits{}}
	if math.IsNaN(f.feasible) {
		f.feasible = smallestShare * math.Pow(largestShare/smallestShare, seed.Stream("feasible", 0).Float64())
	}
	for i := range 1 + l.count {
		features, err := rff.NewMap(seed.Derive("features", uint64(i)), l.spec)
		if err != nil {
			return source{}, err
		}
		f.features = append(f.features, features)
	}
	return source{
		space: l.space, goal: task.Maximize, member: f.member,
		constraints: atMostZero(l.count), infeasible: l.feasible == 0,
	}, nil
}

// limited holds the data that the members of one federation share.
type limited struct {
	limits
	seed     random.Seed
	features []*rff.Map // features of the objective first, then of each constraint
	points   []float64  // dense points that fill the space
	clusters map[int]commonLimits
}

// commonLimits holds the common part of the constraints of one cluster.
type commonLimits struct {
	attempt int       // number of the draw that was accepted
	shifts  []float64 // amounts that are subtracted from each drawn function, so that its limit is 0
	err     error
}

// draw returns the function of member k for output i, where 0 is the objective. common and own are
// the numbers of the draws of the common part and of the member's own part.
func (f *limited) draw(e float64, i, cluster, k, common, own int) *rff.Function {
	g := f.gp
	g.e = e
	seed := f.seed.Derive("output", uint64(i))
	return g.mixed(f.features[i], seed.Derive("common", uint64(common)), seed.Derive("own", uint64(own)), cluster, k)
}

func (f *limited) drawConstraints(e float64, cluster, k, common, own int) (all []*rff.Function) {
	for i := range f.count {
		all = append(all, f.draw(e, 1+i, cluster, k, common, own))
	}
	return all
}

// common draws the common part of a cluster's constraints until it has the required border.
func (f *limited) common(cluster int) commonLimits {
	if known, ok := f.clusters[cluster]; ok {
		return known
	}
	c := commonLimits{err: f.failure("of a cluster")}
	top := f.top(f.draw(0, 0, cluster, 0, 0, 0))
	for c.attempt = range redraws {
		functions := f.drawConstraints(0, cluster, 0, c.attempt, 0)
		if c.shifts = f.shiftsOf(functions); f.bordered(atMost(functions, c.shifts), top) {
			c.err = nil
			break
		}
	}
	f.clusters[cluster] = c
	return c
}

func (f *limited) failure(of string) error {
	return fmt.Errorf("%d draws of the constraints %s are not as feasible=%.3g and border=%s say", redraws, of, f.feasible, f.border)
}

// member draws a member's own part of the constraints until it has the required border. In addition
// some design must be feasible, or none if the spec requires that.
func (f *limited) member(cluster, k int) function {
	common := f.common(cluster)
	objective := f.draw(f.e, 0, cluster, k, 0, 0)
	g := function{value: objective.Value, err: common.err}
	if g.err != nil {
		return g
	}
	g.err = f.failure(fmt.Sprintf("of member %d", k))
	var bounds []acquisition.Bounded
	top := f.top(objective)
	for attempt := range redraws {
		bounds = atMost(f.drawConstraints(f.e, cluster, k, common.attempt, attempt), common.shifts)
		if f.bordered(bounds, top) && f.reaches(bounds) == (f.feasible > 0) {
			g.err = nil
			break
		}
	}
	for _, b := range bounds {
		g.limits = append(g.limits, func(u []float64) float64 { return b.Value(u) - b.High })
	}
	g.optimum = func() float64 {
		if f.feasible == 0 {
			return math.NaN()
		}
		return largestFeasible(f.space, objective, bounds, f.seed.Derive("optimum", uint64(k)))
	}
	return g
}

// top returns the maximiser of an objective; nil if the border does not matter.
func (f *limited) top(objective *rff.Function) []float64 {
	if f.border == borderAny {
		return nil
	}
	u, _ := f.highest(objective)
	return u
}

// highest runs one search for the maximum of g.
func (f *limited) highest(g acquisition.Function) (u []float64, value float64) {
	u, value, err := acquisition.Maximizer{Space: f.space, Workers: 1}.Maximize(context.Background(), g, nil, f.seed.Stream("highest", 0))
	if err != nil {
		panic(err) // this context never ends
	}
	return u, value
}

func (f *limited) bordered(bounds []acquisition.Bounded, top []float64) bool {
	return f.border == borderAny || (acquisition.Violation(top, bounds...) > 0) == (f.border == borderYes)
}

// reaches reports whether a dense point satisfies all bounds. If the spec requires that nothing is
// feasible, it reports whether some point satisfies one of the bounds.
func (f *limited) reaches(bounds []acquisition.Bounded) bool {
	if f.feasible == 0 {
		return slices.ContainsFunc(bounds, func(b acquisition.Bounded) bool { return f.least(b) <= b.High })
	}
	for u := range slices.Chunk(f.points, f.space.Dim()) {
		if acquisition.Violation(u, bounds...) == 0 {
			return true
		}
	}
	return false
}

func (f *limited) least(g acquisition.Function) float64 {
	_, value := f.highest(upsideDown{g})
	return -value
}

type upsideDown struct{ acquisition.Function }

func (n upsideDown) Value(u []float64) float64 { return -n.Function.Value(u) }

func (n upsideDown) Gradient(grad, u []float64) float64 {
	value := n.Function.Gradient(grad, u)
	for i := range grad {
		grad[i] = -grad[i]
	}
	return -value
}

// atMost returns bounds by which each function must be at most its number in highs.
func atMost(functions []*rff.Function, highs []float64) []acquisition.Bounded {
	all := make([]acquisition.Bounded, len(functions))
	for i, g := range functions {
		all[i] = acquisition.Bounded{Function: g, Low: math.Inf(-1), High: highs[i]}
	}
	return all
}

// shiftsOf returns a limit for each function, all at the same quantile of their functions. The
// quantile is chosen so that the required share of the dense points satisfies all limits. If
// nothing shall be feasible, it returns limits that cannot be satisfied.
func (f *limited) shiftsOf(functions []*rff.Function) []float64 {
	shifts := make([]float64, len(functions))
	if f.feasible == 0 {
		for i, g := range functions {
			shifts[i] = f.least(g) - beyond
		}
		return shifts
	}
	values, ranks := make([][]float64, len(functions)), make([]int, densePoints)
	for i, g := range functions {
		values[i] = make([]float64, densePoints)
		g.Values(values[i], f.points)
		order := make([]int, densePoints)
		for k := range order {
			order[k] = k
		}
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(values[i][a], values[i][b]) })
		for rank, k := range order {
			ranks[k] = max(ranks[k], rank) // rank of the limit from which on point k satisfies all limits
		}
		slices.Sort(values[i])
	}
	slices.Sort(ranks)
	last := ranks[max(int(math.Round(f.feasible*densePoints)), 1)-1]
	for i := range shifts {
		shifts[i] = values[i][last]
	}
	return shifts
}
