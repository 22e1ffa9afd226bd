package experiment

import (
	"math"
	"slices"
	"testing"

	"github.com/fbo-node/fbo/internal/surrogate/gp"
	"github.com/fbo-node/fbo/tsampling"
)

// Two equal designs and one far from them, noise of a quarter: the leading determinants of
// [[5 4 0] [4 5 0] [0 0 5]] are 5, 9 and 45.
func TestGainsByHand(t *testing.T) {
	p := process{spec: gp.Spec{Kernel: gp.SE, Groups: []int{0}}, lengthscales: []float64{0.01}, deviation: 3, noise: 0.25}
	gains, ok := p.gains([][]float64{{0.2}, {0.2}, {0.9}})
	if !ok || len(gains) != 4 {
		t.Fatalf("%v, %v", gains, ok)
	}
	for k, determinant := range []float64{1, 5, 9, 45} {
		near(t, "gain", gains[k], math.Log(determinant)/2)
	}
	if gains, ok := p.gains(nil); !ok || !slices.Equal(gains, []float64{0}) {
		t.Errorf("without observations %v, %v", gains, ok)
	}
}

// The values 3 and 1 at the same design, and 2 far away: [[1.25 1] [1 1.25]] has the inverse
// [[20 -16] [-16 20]]/9, so the square is (20·9 - 2·16·3 + 20)/9 + 4/1.25.
func TestNormByHand(t *testing.T) {
	p := process{spec: gp.Spec{Kernel: gp.SE, Groups: []int{0}}, lengthscales: []float64{0.01}, noise: 0.25}
	near(t, "norm", p.norm([][]float64{{0.2}, {0.2}, {0.9}}, []float64{3, 1, 2}), math.Sqrt((180.-96+20)/9+4/1.25))
	near(t, "norm of nothing", p.norm(nil, nil), 0)
}

// The norm of f = Σ a_i k(x_i, ·) is known: aᵀKa. The lower bound from observations never exceeds
// it, and approaches it as the noise falls.
func TestNormIsALowerBound(t *testing.T) {
	p := process{spec: gp.Spec{Kernel: gp.SE, Groups: []int{0}}, lengthscales: []float64{0.3}}
	centres, a := [][]float64{{0.1}, {0.5}, {0.8}}, []float64{1, -2, 0.7}
	kernel := func(x, z float64) float64 { return math.Exp(-(x - z) * (x - z) / (2 * 0.3 * 0.3)) }
	square := 0.0
	for i := range a {
		for j := range a {
			square += a[i] * a[j] * kernel(centres[i][0], centres[j][0])
		}
	}
	var x [][]float64
	var y []float64
	for i := range 21 {
		at, value := float64(i)/20, 0.0
		for k := range a {
			value += a[k] * kernel(centres[k][0], at)
		}
		x, y = append(x, []float64{at}), append(y, value)
	}
	for _, noise := range []float64{1, 0.01, 1e-6} {
		p.noise = noise
		if got := p.norm(x, y); got > math.Sqrt(square)*(1+1e-6) || noise == 1e-6 && got < 0.98*math.Sqrt(square) {
			t.Errorf("noise %g: %g, the norm is %g", noise, got, math.Sqrt(square))
		}
	}
}

// smallBound has an agent with one starting design and three more evaluations, and two peers with
// other numbers of observations. All designs are so far apart that they are independent: each
// observation adds ½ log(1 + 1/0.25) = ½ log 5.
func smallBound() boundInput {
	far := func(n int) (x [][]float64) {
		for i := range n {
			x = append(x, []float64{float64(i)})
		}
		return x
	}
	return boundInput{
		process:  process{spec: gp.Spec{Kernel: gp.SE, Groups: []int{0}}, lengthscales: []float64{0.01}, deviation: 2, noise: 0.25},
		schedule: tsampling.Schedule{Name: tsampling.InverseSqrt}, features: 16, initial: 1, logDesigns: math.Log(10),
		counts: []bool{true, false, false}, late: []bool{true, false, false},
		common:  [][]float64{{1, 2}, {1.5, -1}, {0.75, 2}},
		x:       [][][]float64{far(4), far(6), far(2)},
		y:       [][]float64{{0, 0, 0, 0}, {0, 0, 0, 0, 0, 0}, {0, 0}},
		regrets: [][]float64{{9, 3, 2, 0.5}, nil, nil},
	}
}

// The formulas of Theorem 1, written once more with numbers: B is 2, the largest value.
func TestThompsonBoundByHand(t *testing.T) {
	b := smallBound()
	got := b.average()
	if got == nil || len(got.C) != 3 || len(got.Peers) != 2 {
		t.Fatalf("%+v", got)
	}
	nat := math.Log(5) / 2
	near(t, "B", float64(got.Norm), 2)
	own := []float64{1 - 1/math.Sqrt2, 1 - 1/math.Sqrt2, 1 - 1/math.Sqrt(3)}
	// Both peers had finished before, with 6 and 2 observations; M is 16.
	delta := func(peer, t int) float64 {
		n, d := []float64{6, 2}[peer], []float64{3, 0.25}[peer]
		return 2*n*n/4 + 2 + math.Sqrt(n*nat) + 4 + d + math.Sqrt(float64(1+t)*nat)
	}
	var c []float64
	sum, kept := 0.0, 0.0
	for k := range 3 {
		now := float64(k + 1)
		beta := 2 + 0.5*math.Sqrt(2*(now*nat+1+math.Log(40)))
		c = append(c, beta*(1+math.Sqrt(2*math.Log(10*now*now))))
		psi := 2 * (1 - own[k]) * (delta(0, k+1) + delta(1, k+1)) / 2
		sum += psi
		if k > 0 && (1-own[k])*c[k] <= (1-own[0])*c[0] {
			kept++
		}
		near(t, "p_t", float64(got.OwnProbability[k]), own[k])
		near(t, "γ_t", float64(got.Information[k]), (now+1)*nat)
		near(t, "β_t", float64(got.Beta[k]), beta)
		near(t, "c_t", float64(got.C[k]), c[k])
		near(t, "ψ_t", float64(got.Psi[k]), psi)
	}
	near(t, "condition", float64(got.Condition), kept/2)
	term := (2 + 1/own[0]) * 4 * nat * math.Sqrt(3)
	near(t, "own term", float64(got.OwnTerm), 2*term)
	near(t, "peer term", float64(got.PeerTerm), 2*sum)
	near(t, "bound", float64(got.Bound), 2*(term+sum))
	near(t, "regret", float64(got.Regret), 5.5)
	for k, peer := range got.Peers {
		if peer.Agent != k+1 {
			t.Errorf("peer %d is agent %d", k, peer.Agent)
		}
		near(t, "d_n", float64(peer.Distance), []float64{3, 0.25}[k])
		near(t, "Δ_n", float64(peer.Delta), delta(k, 3))
	}
}

// In mode one-shot t_n is share_after, or all that a peer has; in mode concurrent it is as much as
// the agent has, except that a newcomer finds peers that have finished.
func TestObservationsOfMessages(t *testing.T) {
	b := smallBound()
	for _, c := range []struct{ shareAfter, agent, peer, own, want int }{
		{4, 0, 1, 2, 4}, {4, 0, 2, 2, 2}, {0, 0, 1, 2, 6}, {0, 1, 0, 2, 2}, {0, 1, 0, 5, 4}, {0, 1, 2, 5, 2},
	} {
		b.shareAfter = c.shareAfter
		if got := b.observations(c.agent, c.peer, c.own); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// A schedule with p_1 = 0 has no finite bound; a single evaluation has no condition.
func TestThompsonBoundAtTheEdge(t *testing.T) {
	b := smallBound()
	b.schedule = tsampling.Schedule{Name: tsampling.Inverse}
	if got := b.average(); got == nil || !math.IsInf(float64(got.Bound), 1) {
		t.Errorf("p_1 = 0: %+v", got)
	}
	b = smallBound()
	b.initial = 3
	if got := b.average(); got == nil || len(got.C) != 1 || !math.IsNaN(float64(got.Condition)) {
		t.Errorf("one evaluation: %+v", got)
	}
	b.initial = 4
	if got := b.average(); got != nil {
		t.Errorf("no evaluation: %+v", got)
	}
}

// A run of fts has the bound, of ts it has none. Regrets, distances and peers are those of the
// federation.
func TestRunsOfFTSHaveABound(t *testing.T) {
	p := tiny(t, func(p *Plan) { p.Strategies = specsOf(t, "ts,fts,fts:mode=one-shot,share_after=3") })
	f := drawn(t, p)
	records := playAll(t, p, f)
	if records["ts"].ThompsonBound != nil {
		t.Errorf("ts has %+v", records["ts"].ThompsonBound)
	}
	for _, name := range []string{"fts", "fts:mode=one-shot,share_after=3"} {
		r := records[name]
		b := r.ThompsonBound
		if b == nil || len(b.Psi) != p.Evaluations-p.Initial || len(b.Peers) != p.Agents {
			t.Fatalf("%s: %+v", name, b)
		}
		regret := 0.0
		for _, m := range r.Members {
			for _, one := range m.Regret[p.Initial:] {
				regret += float64(one) / float64(len(r.Members))
			}
		}
		near(t, "R_T", float64(b.Regret), regret)
		if b.Bound < b.Regret || !slices.IsSorted(b.Information) || !slices.IsSorted(b.C) {
			t.Errorf("%s: %+v", name, b)
		}
		// e = 0.05 between functions of variance 1: they differ by some tenths.
		for _, peer := range b.Peers {
			if peer.Distance < 0.02 || peer.Distance > 0.6 {
				t.Errorf("%s: d_%d is %g", name, peer.Agent, peer.Distance)
			}
		}
	}
}

func TestRunsWithoutAThompsonBound(t *testing.T) {
	for name, change := range map[string]func(p *Plan){
		"no noise":     func(p *Plan) { p.Family = familyOf(t, "gp:d=1,noise=0") },
		"a liar":       func(p *Plan) { p.Family = familyOf(t, "gp:d=1,adversaries=1") },
		"two at once":  func(p *Plan) { p.Parallel = 2 },
		"own cluster":  func(p *Plan) { p.Strategies = specsOf(t, "ts,fts:peers=own-cluster") },
		"privacy":      func(p *Plan) { p.Strategies = specsOf(t, "ts,fts:mechanism=local,epsilon=4") },
		"one agent":    func(p *Plan) { p.Agents = 1 },
		"real trained": func(p *Plan) { p.Family.Costly = true },
	} {
		p := tiny(t, change)
		s := p.Strategies[1]
		for key, record := range playAll(t, p, drawn(t, p)) {
			if key == s.String() && record.ThompsonBound != nil {
				t.Errorf("%s: %+v", name, record.ThompsonBound)
			}
		}
	}
}

// The report has means over federations, and peers by their number.
func TestThompsonBoundOfFederations(t *testing.T) {
	record := func(bound, distance Number, agents ...int) Record {
		b := &ThompsonBound{OwnProbability: []Number{0.5}, Information: []Number{1}, Beta: []Number{1}, C: []Number{1}, Psi: []Number{1}, Bound: bound}
		for _, agent := range agents {
			b.Peers = append(b.Peers, PeerDistance{Agent: agent, Distance: distance})
		}
		return Record{ThompsonBound: b}
	}
	got := thompsonBoundOf([]Record{record(1, 2, 1, 2), record(3, 4, 1, 2)})
	if got == nil || got.Bound != 2 || len(got.Peers) != 2 || got.Peers[1] != (PeerDistance{Agent: 2, Distance: 3}) {
		t.Errorf("%+v", got)
	}
	if got := thompsonBoundOf([]Record{record(1, 2, 1, 2), record(3, 4, 0, 2)}); got == nil || len(got.Peers) != 0 {
		t.Errorf("with other agents that count: %+v", got)
	}
	if got := thompsonBoundOf([]Record{record(1, 2), {}}); got != nil {
		t.Errorf("without a bound in one federation: %+v", got)
	}
}
