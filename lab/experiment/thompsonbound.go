package experiment

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/sim"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/task"
	"github.com/fbo-node/fbo/tsampling"
)

// The bound is computed for at most maxBoundAgents agents with at most maxBoundTrials evaluations
// each. The time grows with the square of the one and with the cube of the other.
const (
	maxBoundAgents = 100
	maxBoundTrials = 1000
)

// ThompsonBound holds the quantities of Theorem 1 of Dai, Low and Jaillet (2020), the regret bound
// of federated Thompson sampling, in one run. Curves have one number for each evaluation t = 1, 2,
// … after the starting designs. Everything is averaged over the agents that count. Function values
// are in units of the prior's standard deviation, except the four that say otherwise.
//
// The theorem leaves choices, which are made as follows:
//
//   - The kernel is the task's, with the fixed lengthscales, else with those of the shared features.
//     Mean and standard deviation are the fixed ones, else those of the objectives over the space.
//   - γ_t is the information gain of the agent's own observations, starting designs included. That
//     is a lower bound of γ_t, the largest possible gain.
//   - B is unknown. Norm is a lower bound of it; see boundInput.norm.
//   - Constants and logarithmic factors that Õ hides are 1.
//   - δ is theoremDelta, and |X| is the number of designs; see logDesigns.
//   - P_N is uniform over all peers, also after their messages have been used.
//   - t_n is share_after in mode one-shot. In mode concurrent a peer has as many observations as the
//     agent, or all of its budget if the agent starts when the peers have finished.
//
// The theorem is for a strategy that inflates its variance by β_t². Strategies here use β_t = 1, as
// in the paper's experiments. The bound is therefore a yardstick and no guarantee.
type ThompsonBound struct {
	OwnProbability []Number `json:"own_probability"` // p_t
	Information    []Number `json:"information"`     // measured in place of γ_t, in nats
	Norm           Number   `json:"norm"`            // measured in place of B
	Beta           []Number `json:"beta"`            // β_t = B + σ·sqrt(2(γ_(t-1) + 1 + log(4/δ)))
	C              []Number `json:"c"`               // c_t = β_t·(1 + sqrt(2·log(|X|·t²)))
	Psi            []Number `json:"psi"`             // ψ_t = 2(1-p_t)·Σ P_N[n]·Δ_(n,t)

	// Condition is the share of t = 2, 3, … with (1-p_t)·c_t ≤ (1-p_1)·c_1. The theorem requires 1.
	Condition Number `json:"condition"`

	// The next four are in the objective's units.
	OwnTerm  Number `json:"own_term"`  // (B + 1/p_1)·γ_T·sqrt(T)
	PeerTerm Number `json:"peer_term"` // Σψ_t
	Bound    Number `json:"bound"`     // the sum of both terms
	Regret   Number `json:"regret"`    // measured: R_T, the sum of regrets after the starting designs

	// Peers has the agents that are peers of agents that count.
	Peers []PeerDistance `json:"peers,omitempty"`
}

// PeerDistance is how much the function of a peer differs, averaged over the agents that count.
type PeerDistance struct {
	Agent    int    `json:"agent"`    // from 0
	Distance Number `json:"distance"` // measured in place of d_n: the largest |f-g_n| at 500 random designs
	Delta    Number `json:"delta"`    // Δ_(n,T) = B·t_n²/sqrt(M) + B + sqrt(γ_(t_n)) + sqrt(M) + d_n + sqrt(γ_T)
}

// boundInput is what the bound of a run is computed from. Rows are agents.
type boundInput struct {
	process    process
	schedule   tsampling.Schedule
	shareAfter int // number of observations of a message in mode one-shot; 0 in mode concurrent
	features   int // M
	initial    int // number of starting designs
	logDesigns float64

	counts, late []bool
	common       [][]float64   // the functions at designs that all agents have in common
	x            [][][]float64 // evaluated designs
	y            [][]float64   // the functions there, without noise
	regrets      [][]float64   // of the evaluated designs, in the objective's units
}

// gains returns the information gain of an agent's first k observations for k = 0, 1, …
func (b boundInput) gains(agent int) ([]float64, bool) { return b.process.gains(b.x[agent]) }

// norm returns a lower bound of the norms of all functions in the kernel's space. For a function f
// with values y at designs with covariance K, f itself attains ‖f‖² in the minimum over g of
// ‖g‖² + |y-g|²/σ², which is yᵀ(K+σ²I)⁻¹y. And ‖f‖ is at least |f(x)|, since k(x, x) is 1.
func (b boundInput) norm() float64 {
	most := 0.0
	for agent, values := range b.common {
		for _, v := range values {
			most = max(most, math.Abs(v))
		}
		most = max(most, b.process.norm(b.x[agent], b.y[agent]))
	}
	return most
}

// distance returns the largest difference of two agents' functions at the common designs.
func (b boundInput) distance(one, other int) float64 {
	most := 0.0
	for i, v := range b.common[one] {
		most = max(most, math.Abs(v-b.common[other][i]))
	}
	return most
}

// observations returns t_n, the number of observations of a peer when the agent has own ones.
func (b boundInput) observations(agent, peer, own int) int {
	total := len(b.x[peer])
	switch {
	case b.shareAfter > 0:
		return min(b.shareAfter, total)
	case b.late[agent] && !b.late[peer]:
		return total
	}
	return min(own, total)
}

// bound returns the quantities for one agent, and Δ_(n,T) and d_n of each agent, which are NaN for
// the agent itself. norm is that of all functions, gains has those of all agents.
func (b boundInput) bound(agent int, norm float64, gains [][]float64) (r ThompsonBound, distances, deltas []float64) {
	n, T := len(b.x), len(b.x[agent])-b.initial
	distances, deltas = make([]float64, n), make([]float64, n)
	for peer := range n {
		distances[peer], deltas[peer] = math.NaN(), math.NaN()
		if peer != agent {
			distances[peer] = b.distance(agent, peer)
		}
	}
	sigma, root := math.Sqrt(b.process.noise), math.Sqrt(float64(b.features))
	r.Norm = Number(norm)
	kept, peerTerm := 0, 0.0
	for t := 1; t <= T; t++ {
		p := b.schedule.Own(uint64(t))
		before, gain := gains[agent][b.initial+t-1], gains[agent][b.initial+t]
		beta := norm + sigma*math.Sqrt(2*(before+1+math.Log(4/theoremDelta)))
		c := beta * (1 + math.Sqrt(2*(b.logDesigns+2*math.Log(float64(t)))))
		sum := 0.0
		for peer := range n {
			if peer == agent {
				continue
			}
			tn := b.observations(agent, peer, b.initial+t-1)
			deltas[peer] = norm*float64(tn*tn)/root + norm + math.Sqrt(gains[peer][tn]) + root + distances[peer] + math.Sqrt(gain)
			sum += deltas[peer]
		}
		psi := 2 * (1 - p) * sum / float64(n-1)
		peerTerm += psi
		r.OwnProbability, r.Information = append(r.OwnProbability, Number(p)), append(r.Information, Number(gain))
		r.Beta, r.C, r.Psi = append(r.Beta, Number(beta)), append(r.C, Number(c)), append(r.Psi, Number(psi))
		if t > 1 && (1-p)*c <= float64((1-r.OwnProbability[0])*r.C[0]) {
			kept++
		}
		r.Regret += Number(b.regrets[agent][b.initial+t-1])
	}
	r.Condition = Number(float64(kept) / float64(T-1)) // NaN for a single evaluation
	unit := b.process.deviation
	own := (norm + 1/float64(r.OwnProbability[0])) * gains[agent][b.initial+T] * math.Sqrt(float64(T))
	r.OwnTerm, r.PeerTerm, r.Bound = Number(unit*own), Number(unit*peerTerm), Number(unit*(own+peerTerm))
	return r, distances, deltas
}

// average returns the mean over the agents that count and have evaluations after the starting
// designs. It returns nil if there are none, or if rounding prevents it.
func (b boundInput) average() *ThompsonBound {
	gains := make([][]float64, len(b.x))
	for agent := range gains {
		var ok bool
		if gains[agent], ok = b.gains(agent); !ok {
			return nil
		}
	}
	norm := b.norm()
	var all []ThompsonBound
	var distances, deltas [][]float64
	for agent := range b.x {
		if b.counts[agent] && len(b.x[agent]) > b.initial {
			one, distance, delta := b.bound(agent, norm, gains)
			all, distances, deltas = append(all, one), append(distances, distance), append(deltas, delta)
		}
	}
	if len(all) == 0 {
		return nil
	}
	r := meanBound(all)
	for peer := range b.x {
		if distance := meanKnown(column(distances, peer)); !math.IsNaN(distance) {
			r.Peers = append(r.Peers, PeerDistance{Agent: peer, Distance: Number(distance), Delta: Number(meanKnown(column(deltas, peer)))})
		}
	}
	return &r
}

// meanKnown returns the mean of the values that are not NaN.
func meanKnown(values []float64) float64 {
	return mean(slices.DeleteFunc(slices.Clone(values), math.IsNaN))
}

// meanBound returns the mean of each number, with curves as long as the shortest, without Peers.
func meanBound(all []ThompsonBound) (r ThompsonBound) {
	number := func(of func(*ThompsonBound) *Number) {
		values := make([]float64, len(all))
		for i := range all {
			values[i] = float64(*of(&all[i]))
		}
		*of(&r) = Number(mean(values))
	}
	curve := func(of func(*ThompsonBound) *[]Number) {
		length := len(*of(&all[0]))
		for i := range all {
			length = min(length, len(*of(&all[i])))
		}
		for t := range length {
			values := make([]float64, len(all))
			for i := range all {
				values[i] = float64((*of(&all[i]))[t])
			}
			*of(&r) = append(*of(&r), Number(mean(values)))
		}
	}
	curve(func(b *ThompsonBound) *[]Number { return &b.OwnProbability })
	curve(func(b *ThompsonBound) *[]Number { return &b.Information })
	curve(func(b *ThompsonBound) *[]Number { return &b.Beta })
	curve(func(b *ThompsonBound) *[]Number { return &b.C })
	curve(func(b *ThompsonBound) *[]Number { return &b.Psi })
	number(func(b *ThompsonBound) *Number { return &b.Norm })
	number(func(b *ThompsonBound) *Number { return &b.Condition })
	number(func(b *ThompsonBound) *Number { return &b.OwnTerm })
	number(func(b *ThompsonBound) *Number { return &b.PeerTerm })
	number(func(b *ThompsonBound) *Number { return &b.Bound })
	number(func(b *ThompsonBound) *Number { return &b.Regret })
	return r
}

// thompsonBound returns the bound of a run. It returns nil unless the run is one of fts with peers,
// a uniform P_N and noise in its evaluations, and the theorem is about such a run: without
// parallel evaluations, privacy, forged shares and members with spaces of their own. It also returns
// nil if an evaluation is a training or a program, since it needs further values, and for too many
// agents or evaluations.
func (p Plan) thompsonBound(s Spec, t *task.Task, f *federation, result sim.Result) *ThompsonBound {
	settings, ok := t.Strategy.Settings.(tsampling.Settings)
	if !ok || settings.Peers.Kind != tsampling.Uniform || len(f.Members) < 2 || len(f.Members) > maxBoundAgents || p.Parallel > 1 || p.Family.Costly ||
		t.Privacy != nil || peersOf(s) != everybody {
		return nil
	}
	b := boundInput{
		schedule: settings.Schedule, shareAfter: settings.ShareAfter, features: t.Surrogate.Features,
		initial: p.Initial, logDesigns: logDesigns(t.Space),
	}
	designs := make([]task.Design, deviationDesigns)
	rng := f.seed.Derive("bound", 0).Stream("designs", 0)
	for i := range designs {
		designs[i] = t.Space.Decode(acquisition.Sample(t.Space, rng))
	}
	for i, m := range result.Members {
		member := f.Members[i]
		if member.Forged || member.Space != nil || len(m.Trials) > maxBoundTrials {
			return nil
		}
		regret := regretOf(member.Objective, t.Goal)
		var x [][]float64
		var y, regrets []float64
		for _, trial := range m.Trials {
			x, y = append(x, t.Space.Encode(trial.Design)), append(y, member.Objective.Value(trial.Design))
			regrets = append(regrets, max(regret(trial.Design), 0))
		}
		common := make([]float64, len(designs))
		for k, d := range designs {
			common[k] = member.Objective.Value(d)
		}
		b.counts, b.late = append(b.counts, member.Counts), append(b.late, member.Late)
		b.x, b.y, b.regrets, b.common = append(b.x, x), append(b.y, y), append(b.regrets, regrets), append(b.common, common)
	}
	if !b.standardise(t, f) {
		return nil
	}
	return b.average()
}

// standardise sets the process, and converts values to its units. Fixed hyperparameters determine
// it. Without them the lengthscales are those of the shared features, and level, deviation and
// noise are averages over the members that count. It returns false without noise, since information
// gains are then infinite.
func (b *boundInput) standardise(t *task.Task, f *federation) bool {
	known, ok := fixedProcess(t)
	level := 0.0
	if ok {
		level = t.Surrogate.Fixed.Mean
	} else {
		known = process{spec: surrogate.ProcessSpec(t), lengthscales: sharedLengthscales(t.Space, t.Surrogate), deviation: f.deviation}
		var levels, noises []float64
		for i := range f.Members {
			if f.Members[i].Counts {
				levels, noises = append(levels, mean(b.common[i])), append(noises, noiseOf(f, i))
			}
		}
		level = mean(levels)
		ratio := mean(noises) / known.deviation
		known.noise = ratio * ratio
	}
	b.process = known
	for _, rows := range [][][]float64{b.common, b.y} {
		for _, row := range rows {
			for i := range row {
				row[i] = (row[i] - level) / known.deviation
			}
		}
	}
	return known.noise > 0
}

// sharedLengthscales returns the lengthscale of the shared features for each parameter.
func sharedLengthscales(space *task.Space, s task.Surrogate) []float64 {
	var all []float64
	for _, block := range space.Blocks() {
		if block.Kind == task.Categorical {
			all = append(all, s.CategoryLengthscale)
		} else {
			all = append(all, s.Lengthscale)
		}
	}
	return all
}

// gains returns the information gain of the first k observations for k = 0, 1, …, in nats: half the
// logarithm of the determinant of the leading k rows and columns of I + K/σ².
func (p process) gains(x [][]float64) ([]float64, bool) {
	gains := make([]float64, 1, len(x)+1)
	if len(x) == 0 {
		return gains, true
	}
	c, ok := p.factor(x)
	if !ok {
		return nil, false
	}
	var lower mat.TriDense
	c.LTo(&lower)
	for k := range x {
		gains = append(gains, gains[k]+math.Log(lower.At(k, k)))
	}
	return gains, true
}

// norm returns sqrt(yᵀ(K+σ²I)⁻¹y) for values y at the designs x, and 0 if rounding prevents it.
func (p process) norm(x [][]float64, y []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	c, ok := p.factor(x)
	values, solved := mat.NewVecDense(len(y), slices.Clone(y)), mat.NewVecDense(len(y), nil)
	if !ok || c.SolveVecTo(solved, values) != nil {
		return 0
	}
	return math.Sqrt(max(mat.Dot(values, solved)/p.noise, 0))
}

// thompsonBoundOf returns the mean over federations, and nil if a record has no bound.
func thompsonBoundOf(records []Record) *ThompsonBound {
	var all []ThompsonBound
	for _, r := range records {
		if r.ThompsonBound == nil {
			return nil
		}
		all = append(all, *r.ThompsonBound)
	}
	r := meanBound(all)
	for i := range all[0].Peers {
		peer := PeerDistance{Agent: all[0].Peers[i].Agent}
		for _, one := range all {
			if len(one.Peers) != len(all[0].Peers) || one.Peers[i].Agent != peer.Agent {
				return &r // other agents count in each federation
			}
			peer.Distance += one.Peers[i].Distance / Number(len(all))
			peer.Delta += one.Peers[i].Delta / Number(len(all))
		}
		r.Peers = append(r.Peers, peer)
	}
	return &r
}
