package peerprior

import (
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/fbo-node/fbo/internal/linalg"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/random"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/surrogate"
)

// listened is one peer, with what the agent makes of it.
type listened struct {
	*share
	says   func(x []float64) float64 // in place of the share's values; nil: these
	known  []float64                 // the part of the variance that it explains, at the reference points
	weight []float64                 // what it counts for there, if it is of use, by each unit of known
	views  [2]sight                  // in own and in common units
}

// share is a peer's mean as it was received. What it says at the reference points,
// which are the task's, is worked out once, however many suggestions rest on it.
type share struct {
	protocol.Mean
	once     sync.Once
	values   [2][]float64 // at the reference points: of the mean, and of what it knows less Explained
	observed inferred     // by the author
}

// partKnown is the part of the prior variance that is known, given what is so beyond
// Explained, which a share approximates.
func (s *share) partKnown(beyond float64) float64 {
	return min(max(s.Explained+beyond, 0), mostKnown)
}

// sight is a peer's mean in some units, and what the agent thinks of it.
type sight struct {
	mean  []float64 // at the reference points
	atOwn []float64 // at the agent's own points
	nats  float64   // of evidence that it is of use
	use   float64   // the probability that it is of use
	sign  float64   // expected, if it is of use: -1 where the objectives are each other's contrary
}

// The two ways of reading a peer's mean.
const (
	inOwnUnits    = iota // moved and scaled: objectives alike in shape alone
	inCommonUnits        // as it stands: objectives alike in value
)

// choose lists the peers to listen to: those that know most. Whom of equals is
// left to chance.
func choose(view strategy.View, trial uint64, seed random.Seed) []*listened {
	all := make([]*share, 0, len(view.Shares))
	for _, said := range strategy.Shares[*share](view) {
		if said.Explained >= leastExplained {
			all = append(all, said)
		}
	}
	if len(all) > mostPeers {
		seed.Stream("which peers", trial).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		all = mostTelling(all, mostPeers)
	}
	var chosen []*listened
	for _, share := range all {
		chosen = append(chosen, &listened{share: share})
	}
	return chosen
}

// mostTelling returns the n shares that explain most, of equals those that come first.
func mostTelling(all []*share, n int) []*share {
	best := make([]*share, 0, n+1)
	for _, s := range all {
		if len(best) == n && s.Explained <= best[n-1].Explained {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, s, func(a, s *share) int {
			if a.Explained >= s.Explained {
				return -1
			}
			return 1
		})
		best = slices.Insert(best, at, s)
		best = best[:min(len(best), n)]
	}
	return best
}

// evaluate fills in what the peers say at the reference points and at the own
// points, and drops those who say nothing.
//
// In own units each mean is moved and scaled so that over the space it averages
// zero and has the variance that its author's knowledge implies: nobody shall
// speak louder than he claims to know. In common units it is what its author's
// observations say of the agent's own standardised outputs.
func (s *Strategy) evaluate(peers []*listened, own [][]float64, units surrogate.Units) []*listened {
	if len(peers) == 0 {
		return nil
	}
	points := s.projection.Len()
	means, knowns := s.values(peers, own)
	var telling []*listened
	for k, p := range peers {
		mean, known := means[k], knowns[k]
		for i, v := range known {
			known[i] = p.partKnown(v)
		}
		average, variance := moments(mean[:points])
		if !(variance > leastVariance) {
			continue
		}
		p.known = known[:points]
		p.weight = make([]float64, points)
		for i, k := range p.known {
			// An observation of f with noise (1-known)/known + peerNoise, of which
			// mean/known is the value.
			p.weight[i] = 1 / (1 - k + peerNoise*k)
		}
		factor := math.Sqrt(p.Explained / variance)
		p.views[inOwnUnits] = newSight(points, mean, func(i int) float64 {
			return factor * (mean[i] - average)
		})
		if p.says != nil && len(peers) > 1 {
			p.observed = s.infer(nil, p.known, p.views[inOwnUnits].mean, p.Observations)
		}
		level, scale := p.in(units)
		p.views[inCommonUnits] = newSight(points, mean, func(i int) float64 {
			// The prior mean, of which (1 - known) is in the author's posterior mean,
			// is the author's level there and the agent's own here.
			value := known[i]*level + scale*mean[i]
			return min(max(value, -mostDeviations), mostDeviations)
		})
		telling = append(telling, p)
	}
	return telling
}

// in returns level and scale of the author's mean in these units. They are bounded, since
// the author's may be beyond all numbers where these are small; no product of a bounded
// scale with a mean overflows.
func (s *share) in(units surrogate.Units) (level, scale float64) {
	level = (s.Level - units.Level) / units.Scale
	return min(max(level, -protocol.MaxUnit), protocol.MaxUnit), min(s.Scale/units.Scale, protocol.MaxUnit)
}

// featuresAt returns, in a row for each feature, its values at some points.
func (s *Strategy) featuresAt(points [][]float64) blas64.General {
	at := newMatrix(s.features.Features(), len(points))
	phi := make([]float64, at.Rows)
	for j, x := range points {
		s.features.Phi(phi, x)
		for i, v := range phi {
			at.Data[i*at.Stride+j] = v
		}
	}
	return at
}

// combined returns, in a row for each peer, the features' sum, each times the
// peer's weight of it.
func combined(peers []*listened, weights func(*listened) []float64, features blas64.General) blas64.General {
	all := newMatrix(len(peers), features.Rows)
	for i, p := range peers {
		copy(row(all, i), weights(p))
	}
	sums := newMatrix(len(peers), features.Cols)
	if features.Cols > 0 {
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, all, features, 0, sums)
	}
	return sums
}

func row(m blas64.General, i int) []float64 {
	return m.Data[i*m.Stride : i*m.Stride+m.Cols]
}

// values returns what each peer says at the reference points and then at the own
// points: its mean, and what it knows less Explained.
func (s *Strategy) values(peers []*listened, own [][]float64) (means, knowns [][]float64) {
	features := s.featuresAt(own)
	meansAtOwn := combined(peers, func(p *listened) []float64 { return p.Values }, features)
	knownsAtOwn := combined(peers, func(p *listened) []float64 { return p.Known }, features)
	for i, p := range peers {
		if p.says != nil {
			var mean []float64
			for _, x := range slices.Concat(s.points, own) {
				mean = append(mean, p.says(x))
			}
			means, knowns = append(means, mean), append(knowns, make([]float64, len(mean)))
			continue
		}
		p.once.Do(func() {
			for of, weights := range [2][]float64{p.Values, p.Known} {
				p.values[of] = make([]float64, s.projection.Len())
				blas64.Gemv(blas.NoTrans, 1, s.phi.RawMatrix(), linalg.Vector(weights), 0, linalg.Vector(p.values[of]))
			}
			known := make([]float64, len(s.points))
			for i, v := range p.values[1] {
				known[i] = p.partKnown(v)
			}
			p.observed = s.infer(p.Lengthscales, known, p.values[0], p.Observations)
		})
		means = append(means, slices.Concat(p.values[0], row(meansAtOwn, i)))
		knowns = append(knowns, slices.Concat(p.values[1], row(knownsAtOwn, i)))
	}
	return means, knowns
}

func newSight(points int, mean []float64, value func(i int) float64) sight {
	values := make([]float64, len(mean))
	for i := range mean {
		values[i] = value(i)
	}
	return sight{mean: values[:points], atOwn: values[points:]}
}

func moments(values []float64) (mean, variance float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		variance += (v - mean) * (v - mean) / float64(len(values))
	}
	return mean, variance
}

// judge fills in the probability that each peer is of use: that the own
// observations come from a model around this peer's mean or its contrary, rather
// than from one without or from the same one around zero, so that who says
// nothing gains no credit. Of the peer's knowledge only the average counts here.
func judge(peers []*listened, d *data) {
	for _, p := range peers {
		sizes := d.judgedSizes(p.Explained)
		for view, relation := range relations {
			p.views[view].judge(d, relation, sizes)
		}
	}
}

// size is one of the residual by which a peer is judged.
type size struct {
	scale, unlikeness float64
	odds              float64
	whitened          *whitened // the data under it
}

// judgedSizes lists them for a peer that explains this part of the variance; none
// where the own observations cannot be judged by.
func (d *data) judgedSizes(explained float64) []size {
	var list []size
	if d.spectrum == nil && len(d.y) > 0 {
		return nil
	}
	for _, h := range judgedUnlikenesses {
		for i, scale := range scales {
			list = append(list, size{
				scale:      scale,
				unlikeness: h,
				odds:       scaleOdds[i] / float64(len(judgedUnlikenesses)),
				whitened:   d.spectrum.whiten(scale * scale * (h + (1-h)*(1-explained))),
			})
		}
	}
	return list
}

func (v *sight) judge(d *data, r relation, sizes []size) {
	v.use, v.sign = peerOdds, 1
	if len(sizes) == 0 {
		return
	}
	var atOwn []float64
	if d.spectrum != nil {
		atOwn = d.spectrum.rotate(v.atOwn)
	}
	with, contrary, without := math.Inf(-1), math.Inf(-1), d.alone+math.Log(0.5)
	for _, s := range sizes {
		prior := s.whitened.see(atOwn)
		with = logAdd(with, d.weigh(r.models((1-contraryOdds)*s.odds, s.scale, s.unlikeness, nil), s.whitened, prior))
		contrary = logAdd(contrary, d.weigh(r.contrary().models(contraryOdds*s.odds, s.scale, s.unlikeness, nil), s.whitened, prior))
		around := r.around(0.5*s.odds, s.scale, s.unlikeness, nil, 0)
		without = logAdd(without, d.weighOne(&around, s.whitened, seen{}))
	}
	v.sign = math.Tanh((with - contrary) / 2)
	v.nats = logAdd(with, contrary) - without
	v.use = 1 / (1 + math.Exp(-v.nats)*(1-peerOdds)/peerOdds)
}

// said is what one peer contributes to a consensus.
type said struct {
	mean, known, weight []float64 // at the reference points
	use, sign           float64
}

// listen takes each peer for what judge says of it.
func listen(peers []*listened, view int) []said {
	var all []said
	for _, p := range peers {
		v := &p.views[view]
		all = append(all, said{mean: v.mean, known: p.known, weight: p.weight, use: v.use, sign: v.sign})
	}
	return all
}

// reading is one way to take what peers say.
type reading struct {
	said []said
	odds float64
}

// read lists the ways: first all peers as equally useful, then each for what judge
// says of it, then those of one group as equally useful. The group has the odds of all
// groups, for which it stands, so that a suggestion costs the same whatever their number.
// Ways without odds worth their cost are left out.
func read(peers []*listened, view int, groups [][]int, everybodyAlike float64) []reading {
	apart := listen(peers, view)
	together, nats := levelled(apart)
	inGroup := 0.0
	members := likest(peers, view, groups)
	if len(members) > 0 && len(members) < len(peers) {
		inGroup = groupOdds * (1 - everybodyAlike)
	}
	group, _ := levelled(pick(apart, members))
	ways := []reading{
		{together, (1 - inGroup) / 2},
		{apart, (1 - inGroup) / 2 * math.Exp(-nats)},
		{group, inGroup},
	}
	return slices.DeleteFunc(ways, func(r reading) bool { return r.odds < leastReading })
}

// likest returns, of the groups of several, the one whose members the own observations
// speak for most; nil if there is none.
func likest(peers []*listened, view int, groups [][]int) []int {
	var best []int
	most := math.Inf(-1)
	for _, group := range groups {
		evidence := math.Log(float64(len(group)))
		for _, i := range group {
			evidence += peers[i].views[view].nats
		}
		if len(group) > 1 && evidence > most {
			best, most = group, evidence
		}
	}
	return best
}

func pick(all []said, which []int) []said {
	var picked []said
	for _, i := range which {
		picked = append(picked, all[i])
	}
	return picked
}

// levelled takes all peers for equally useful, as useful as they are on average,
// and returns how many nats of information tell them apart otherwise. A consensus
// of peers picked by the own observations fits these by the picking alone, and by
// about so much better.
func levelled(apart []said) (together []said, nats float64) {
	var shares [3]float64 // of those of use, of use by the contrary and of none
	use, sign := 0.0, 0.0
	for _, s := range apart {
		use += s.use
		sign += s.use * s.sign
		for i, q := range [3]float64{s.use * (1 + s.sign) / 2, s.use * (1 - s.sign) / 2, 1 - s.use} {
			shares[i] += q / float64(len(apart))
			nats += plogp(q)
		}
	}
	for _, share := range shares {
		nats -= float64(len(apart)) * plogp(share)
	}
	for _, s := range apart {
		together = append(together, said{mean: s.mean, known: s.known, weight: s.weight, use: use / float64(len(apart)), sign: sign / max(use, 1e-300)})
	}
	return together, max(0, nats)
}

func plogp(p float64) float64 {
	if p == 0 {
		return 0
	}
	return p * math.Log(p)
}

// combine returns the peers' consensus at the reference points: the mean, and
// the part of the variance that they leave. The means are weighed as those of
// independent observers. What they leave is what the one who knows most there
// leaves, since peers who look at the same places err together.
func combine(peers []said, points int) (mean, left []float64) {
	mean, left = make([]float64, points), make([]float64, points)
	precision := make([]float64, points)
	for i := range points {
		precision[i], left[i] = 1, 1
	}
	for _, p := range peers {
		for i, known := range p.known {
			weight := p.use * p.weight[i]
			precision[i] += weight * known
			mean[i] += weight * p.sign * p.mean[i]
			left[i] = min(left[i], 1-p.use*known)
		}
	}
	for i := range mean {
		mean[i] /= precision[i]
	}
	return mean, left
}
