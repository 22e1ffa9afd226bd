package multitask

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/linalg"
	"github.com/fbo-node/fbo/internal/radial"
	"github.com/fbo-node/fbo/internal/surrogate/gp"
)

// similarities are the sizes of a peer's similarity: the correlation of the two functions at one
// design. odds are their prior probabilities. The similarity is negative with probability negative if
// it is not 0.
var (
	similarities = []float64{0, 0.3, 0.6, 0.85, 0.97}
	odds         = []float64{0.3, 0.1, 0.2, 0.2, 0.2}
)

const negative = 0.1

// Limits of the cost. A model of 200 own observations and of 50 peers with 200 each costs as much as
// 50·5 factorisations of order 100, and one of order 400.
const (
	maxCompared   = 40  // maximum number of a peer's observations by which its level and similarity are estimated: those nearest to own designs
	maxOwn        = 60  // maximum number of own observations by which a similarity is estimated: the newest
	maxPeers      = 12  // maximum number of peers whose observations the model learns from: the most similar
	maxOfPeers    = 200 // maximum number of their observations, in equal parts: the best half, and those nearest to own designs
	minSimilarity = 0.1 // peers with a similarity of smaller size are left out

	levelVariance = 1.0 // prior variance of a task's level, in units of its standardised outputs
	sizeCount     = 4.0 // weight of the prior size 1, in observations
)

// Data are the observations of one task: encoded designs, and outputs that are standardised by
// themselves.
type Data struct {
	X [][]float64
	Y []float64
}

// Model is the posterior of an agent's objective, given its own observations and those of peers. It is
// immutable and safe for concurrent use.
type Model struct {
	// Posterior is the process of all tasks, with outputs in units of their task's size and relative
	// to its level.
	Posterior *gp.Posterior
	// Level and Size convert values of Posterior to the agent's standardised outputs: Level + Size
	// times the value.
	Level, Size float64
	// Peers has the peers in the order of the arguments of New.
	Peers []Peer

	self []float64 // coordinates of the agent's task
}

// Peer is the information about one peer.
type Peer struct {
	Similarity float64 // posterior mean of the similarity, -1 to 1
	Related    float64 // posterior probability that the similarity is not 0
	Used       int     // number of observations that the model learns from
}

// New returns the model of an agent, given its observations, which may be none, and those of its
// peers. spec and h are those of the agent's own process.
func New(spec gp.Spec, h gp.Hyperparameters, own Data, peers []Data) (*Model, error) {
	b := builder{spec: spec, h: h}
	m := &Model{Peers: make([]Peer, len(peers))}
	var mine []float64
	mine, m.Level, m.Size = b.scaled(own)
	recent := max(len(own.X)-maxOwn, 0)
	compared := Data{own.X[recent:], mine[recent:]}

	scaled := make([]Data, len(peers))
	for i, peer := range peers {
		near := b.nearest(peer, own.X, maxCompared)
		y, level, size := b.scaled(near)
		scaled[i] = Data{peer.X, make([]float64, len(peer.Y))}
		for k, v := range peer.Y {
			scaled[i].Y[k] = (v - level) / size
		}
		m.Peers[i].Similarity, m.Peers[i].Related = b.similarity(compared, Data{near.X, y})
	}
	used := m.mostSimilar()
	var err error
	m.Posterior, err = b.posterior(m, Data{own.X, mine}, scaled, used)
	return m, err
}

// mostSimilar returns the indices of the peers that the model learns from.
func (m *Model) mostSimilar() (used []int) {
	for i, peer := range m.Peers {
		if math.Abs(peer.Similarity) >= minSimilarity {
			used = append(used, i)
		}
	}
	slices.SortStableFunc(used, func(a, b int) int {
		return cmp.Compare(math.Abs(m.Peers[b].Similarity), math.Abs(m.Peers[a].Similarity))
	})
	return used[:min(len(used), maxPeers)]
}

// Function returns the function of a design that f, a function of points of the Posterior, is for the
// agent's own task.
func (m *Model) Function(f acquisition.Function) acquisition.Function { return Fixed(f, m.self) }

// Predict returns the mean and the variance of the agent's standardised objective at an encoded
// design.
func (m *Model) Predict(x []float64) (mean, variance float64) {
	mean, variance = m.Posterior.Predict(m.point(x))
	return m.Level + m.Size*mean, m.Size * m.Size * variance
}

// Noise returns the noise variance of an own standardised output.
func (m *Model) Noise() float64 { return m.Size * m.Size * m.Posterior.Hyperparameters().Noise }

func (m *Model) point(x []float64) []float64 { return slices.Concat(x, m.self) }

// Improvement returns the logarithm of the expected improvement of the agent's standardised objective
// over the largest mean at these encoded designs, at least one.
func (m *Model) Improvement(designs [][]float64) acquisition.Function {
	best := math.Inf(-1)
	for _, x := range designs {
		best = max(best, m.Posterior.Mean(m.point(x)))
	}
	return m.Function(acquisition.LogEI(m.Posterior, best))
}

// WithPending returns the model in which the outcomes of pending designs equal their predictions.
func (m *Model) WithPending(designs [][]float64) (*Model, error) {
	if len(designs) == 0 {
		return m, nil
	}
	x, y := slices.Clone(m.Posterior.Points()), slices.Clone(m.Posterior.Outputs())
	for _, design := range designs {
		x, y = append(x, m.point(design)), append(y, m.Posterior.Mean(m.point(design)))
	}
	posterior, err := m.Posterior.Extend(x, y)
	if err != nil {
		return nil, err
	}
	next := *m
	next.Posterior = posterior
	return &next, nil
}

type builder struct {
	spec gp.Spec
	h    gp.Hyperparameters
}

// LevelAndSize returns the level and the size of a task by its own observations: the posterior mean of
// the process's constant mean, and the root of its posterior amplitude. Without observations they are 0
// and 1.
func LevelAndSize(spec gp.Spec, h gp.Hyperparameters, d Data) (level, size float64) {
	_, level, size = builder{spec, h}.scaled(d)
	return level, size
}

// scaled returns the outputs as (output - level)/size, and both. The level is the posterior mean of the
// process's constant mean, and the size is the root of its posterior amplitude.
func (b builder) scaled(d Data) (y []float64, level, size float64) {
	n := len(d.Y)
	if n == 0 {
		return nil, 0, 1
	}
	k := gp.Covariance(b.spec, d.X, b.h.Lengthscales)
	chol, ok := b.factor(k)
	if !ok {
		return slices.Clone(d.Y), 0, 1
	}
	ones, outputs := mat.NewVecDense(n, slices.Repeat([]float64{1}, n)), mat.NewVecDense(n, slices.Clone(d.Y))
	var weights, solved mat.VecDense
	_ = chol.SolveVecTo(&weights, ones) // an error means a badly conditioned matrix; the result is set nevertheless
	level = mat.Dot(&weights, outputs) / (mat.Sum(&weights) + 1/levelVariance)
	outputs.AddScaledVec(outputs, -level, ones)
	_ = chol.SolveVecTo(&solved, outputs)
	size = math.Sqrt((mat.Dot(outputs, &solved) + sizeCount) / (float64(n) + sizeCount))
	if !(size > 0) || math.IsInf(size, 0) || math.IsNaN(level) {
		return slices.Clone(d.Y), 0, 1
	}
	outputs.ScaleVec(1/size, outputs)
	return outputs.RawVector().Data, level, size
}

// factor returns the factor of k with the noise on its diagonal. It changes k.
func (b builder) factor(k *mat.SymDense) (*mat.Cholesky, bool) {
	for i := range k.SymmetricDim() {
		k.SetSym(i, i, k.At(i, i)+b.h.Noise)
	}
	var chol mat.Cholesky
	return &chol, chol.Factorize(k)
}

// nearest returns the observations with the smallest distances to own designs, at most `most`, in
// their order. Without own designs it returns the best.
func (b builder) nearest(d Data, own [][]float64, most int) Data {
	if len(d.X) <= most {
		return d
	}
	distance := make([]float64, len(d.X))
	for i, x := range d.X {
		distance[i] = math.Inf(1)
		if len(own) == 0 {
			distance[i] = -d.Y[i]
		}
		for _, at := range own {
			distance[i] = min(distance[i], b.square(x, at))
		}
	}
	return d.first(most, distance)
}

func (b builder) square(x, at []float64) (square float64) {
	for k, g := range b.spec.Groups {
		apart := (x[k] - at[k]) / b.h.Lengthscales[g]
		square += apart * apart
	}
	return square
}

// first returns the observations with the smallest ranks, at most `most`, in their order.
func (d Data) first(most int, rank []float64) (some Data) {
	order := make([]int, len(d.X))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rank[a], rank[b]) })
	order = order[:min(most, len(order))]
	slices.Sort(order)
	for _, i := range order {
		some.X, some.Y = append(some.X, d.X[i]), append(some.Y, d.Y[i])
	}
	return some
}

// similarity returns the posterior mean of a peer's similarity, and the posterior probability that it
// is not 0. Both tasks have unknown levels.
func (b builder) similarity(own, peer Data) (mean, related float64) {
	most := math.Inf(-1)
	logs := make([][2]float64, len(similarities)) // of the evidence, with the peer's outputs and with their negatives
	for i, s := range similarities {
		if len(own.X) > 0 {
			logs[i] = b.evidence(own, peer, s)
		}
		most = max(most, logs[i][0], logs[i][1])
	}
	if math.IsInf(most, -1) {
		most = 0
		clear(logs)
	}
	total := 0.0
	for i, s := range similarities {
		same, opposite := odds[i]*(1-negative)*math.Exp(logs[i][0]-most), odds[i]*negative*math.Exp(logs[i][1]-most)
		total += same + opposite
		mean += s * (same - opposite)
		if s > 0 {
			related += same + opposite
		}
	}
	return mean / total, related / total
}

// evidence returns the logarithms of the densities of all outputs, up to a constant, if the tasks have
// this similarity or its negative.
func (b builder) evidence(own, peer Data, similarity float64) (logs [2]float64) {
	n := len(own.X)
	apart := distance(b.spec.Kernel, similarity)
	var points [][]float64
	for _, x := range own.X {
		points = append(points, append(slices.Clone(x), 0))
	}
	for _, x := range peer.X {
		points = append(points, append(slices.Clone(x), apart))
	}
	k := gp.Covariance(Spec(b.spec, 1), points, append(slices.Clone(b.h.Lengthscales), 1))
	for i := range points {
		for j := range i + 1 {
			if (i < n) == (j < n) {
				k.SetSym(i, j, k.At(i, j)+levelVariance)
			}
		}
	}
	chol, ok := b.factor(k)
	for i, sign := range []float64{1, -1} {
		logs[i] = math.Inf(-1)
		if !ok {
			continue
		}
		z := mat.NewVecDense(len(points), slices.Concat(own.Y, peer.Y))
		for at := n; at < len(points); at++ {
			z.SetVec(at, sign*z.AtVec(at))
		}
		var solved mat.VecDense
		_ = chol.SolveVecTo(&solved, z)
		if log := -mat.Dot(z, &solved)/2 - chol.LogDet()/2; !math.IsNaN(log) {
			logs[i] = log
		}
	}
	return logs
}

// unrelated is the distance of tasks with similarity 0.
const unrelated = 40

// distance returns the distance of two tasks at which the kernel has this value.
func distance(kernel string, similarity float64) float64 {
	low, high := 0.0, float64(unrelated)
	for range 60 {
		middle := (low + high) / 2
		if k, _ := radial.Evaluate(kernel, middle*middle); k > similarity {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// posterior returns the process of the agent's and the used peers' observations. It sets Used and the
// coordinates of the agent's task. A peer with distance d is at d/√2 along a coordinate of all peers
// and at d/√2 along its own one. Then peers of equal distance have this distance to each other as
// well.
func (b builder) posterior(m *Model, own Data, peers []Data, used []int) (*gp.Posterior, error) {
	m.self = make([]float64, 1+len(used))
	spec := Spec(b.spec, len(m.self))
	h := gp.Hyperparameters{Lengthscales: append(slices.Clone(b.h.Lengthscales), 1), Noise: b.h.Noise}
	var x [][]float64
	y := slices.Clone(own.Y)
	for _, at := range own.X {
		x = append(x, m.point(at))
	}
	for k, i := range used {
		apart := distance(b.spec.Kernel, math.Abs(m.Peers[i].Similarity)) / math.Sqrt2
		sign := math.Copysign(1, m.Peers[i].Similarity)
		task := make([]float64, len(m.self))
		task[0], task[1+k] = apart, apart
		some := b.choose(peers[i], sign, own.X, maxOfPeers/len(used))
		m.Peers[i].Used = len(some.X)
		for at, point := range some.X {
			x, y = append(x, slices.Concat(point, task)), append(y, sign*some.Y[at])
		}
	}
	if n := len(own.X); n > 0 && len(used) > 0 {
		if shift := b.shift(spec, h, x, y, n); !math.IsNaN(shift) {
			m.Level += m.Size * shift
			for i := range n {
				y[i] -= shift
			}
		}
	}
	return gp.NewPosterior(spec, x, y, h)
}

// shift returns the posterior mean of the level of the first n outputs relative to the others, or NaN
// if it cannot be computed.
func (b builder) shift(spec gp.Spec, h gp.Hyperparameters, x [][]float64, y []float64, n int) float64 {
	k := gp.Covariance(spec, x, h.Lengthscales)
	for i := range x {
		for j := range i + 1 {
			k.SetSym(i, j, k.At(i, j)+levelVariance)
		}
	}
	chol, ok := b.factor(k)
	if !ok {
		return math.NaN()
	}
	self := mat.NewVecDense(len(x), nil)
	for i := range n {
		self.SetVec(i, 1)
	}
	var weights mat.VecDense
	_ = chol.SolveVecTo(&weights, self)
	return linalg.Dot(weights.RawVector().Data, y) / (mat.Dot(&weights, self) + 1/levelVariance)
}

// choose returns at most `most` observations: half are the best, and the others are those of the rest
// that are nearest to own designs. With sign -1 the best are the smallest.
func (b builder) choose(d Data, sign float64, own [][]float64, most int) Data {
	if len(d.X) <= most {
		return d
	}
	rank := make([]float64, len(d.X))
	for i, v := range d.Y {
		rank[i] = -sign * v
	}
	order := make([]int, len(d.X))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rank[a], rank[b]) })
	var best, rest Data
	for k, i := range order {
		to := &best
		if k >= most/2 {
			to = &rest
		}
		to.X, to.Y = append(to.X, d.X[i]), append(to.Y, d.Y[i])
	}
	rest = b.nearest(rest, own, most-most/2)
	return Data{append(best.X, rest.X...), append(best.Y, rest.Y...)}
}
