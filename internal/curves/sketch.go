package curves

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/task"
)

// A Sketch has quartiles of a node's curves at each rung (task.Stopping.Rungs). A value at a rung is
// that of the first step at or after it.
type Sketch []protocol.CurveRung

// SketchOf returns the sketch of a node's curves. Quartiles are rounded to about an eighth of the
// distance between the outer ones.
func SketchOf(s task.Stopping, all []Trial) (sketch Sketch) {
	for rung := range s.Rungs() {
		values, changes := at(rung, all)
		if len(values) < protocol.MinCurves {
			return sketch
		}
		r := protocol.CurveRung{Count: len(values), Values: quartiles(values)}
		if len(changes) >= protocol.MinCurves {
			r.Complete, r.Changes = len(changes), quartiles(changes)
		}
		sketch = append(sketch, r)
	}
	return sketch
}

// at returns the values at a rung of all curves that have reached it, and the changes from there to
// the outcomes of those that came to their end.
func at(rung uint64, all []Trial) (values, changes []float64) {
	for _, t := range all {
		i := t.first(rung)
		if i == len(t.Curve) {
			continue
		}
		v := t.Curve[i].Value
		values = append(values, v)
		if t.Complete && !t.Cut {
			changes = append(changes, t.Final-v)
		}
	}
	return values, changes
}

// quartiles returns rounded quartiles. It sorts the values.
func quartiles(values []float64) (q protocol.Quartiles) {
	slices.Sort(values)
	for i := range q {
		q[i] = stat.Quantile(float64(i+1)/4, stat.LinInterp, values, nil)
	}
	coarse := max((q[2]-q[0])/4, math.Abs(q[1])/1024)
	if unit := math.Exp2(math.Floor(math.Log2(coarse))); unit > 0 {
		for i := range q {
			q[i] = unit * math.Round(q[i]/unit)
		}
	}
	return q
}

// below returns the part of a distribution with these quartiles that lies below v. It is linear
// between the quartiles, and beyond them as steep as beside them.
func below(q protocol.Quartiles, v float64) float64 {
	low, high := q[1]-q[0], q[2]-q[1]
	switch {
	case v == q[1]:
		return .5
	case v < q[1] && low > 0:
		return max(0, .5-.25*(q[1]-v)/low)
	case v > q[1] && high > 0:
		return min(1, .5+.25*(v-q[1])/high)
	case v < q[1]:
		return 0
	}
	return 1
}

// moments returns the median, and the standard deviation of a normal distribution with this distance
// between the outer quartiles. The deviation is at least that of the rounding.
func moments(q protocol.Quartiles) (mean, deviation float64) {
	return q[1], max((q[2]-q[0])/(2*upperQuartile), math.Abs(q[1])/1024)
}

// upperQuartile is that of the standard normal distribution.
const upperQuartile = .6744897501960817

// evidence counts how often own numbers lie in each quarter of a peer's distribution.
type evidence [4]int

func (e *evidence) add(q protocol.Quartiles, numbers []float64) {
	for _, v := range numbers {
		i := 0
		for i < 3 && v > q[i] {
			i++
		}
		e[i]++
	}
}

// likelihoodRatio returns the probability of the counts if each quarter is as likely as the others,
// divided by that if their probabilities have Jeffreys' prior, a Dirichlet distribution with
// parameters 1/2.
func (e evidence) likelihoodRatio() float64 {
	alike, n := 0.0, 0
	for _, count := range e {
		for k := range count {
			alike += math.Log(.25) - math.Log((float64(k)+.5)/(float64(n)+2))
			n++
		}
	}
	return math.Exp(alike)
}

// Peer is the sketch of a peer with its weight by own results.
type Peer struct {
	Sketch Sketch
	// Weight is the probability that own results have the peer's distribution, if that had the
	// probability 1/2 before: more than minWeight.
	Weight float64
}

// minWeight is the weight up to which a sketch is not used.
const minWeight = .5

// Judge returns the sketches of peers that own results agree with. Peers whose objective has other
// units, another level or other changes have a low weight.
//
// Until two own evaluations have reached the first rung, and one has come to its end, no sketch is
// used. Evidence is the position of own values among the peer's quartiles at the first rung, and of
// own changes from there to the end.
func Judge(s task.Stopping, own []Trial, sketches []Sketch) (peers []Peer) {
	values, changes := at(s.GracePeriod, own)
	if len(values) < 2 || len(changes) < 1 {
		return nil
	}
	for _, sketch := range sketches {
		if len(sketch) == 0 {
			continue
		}
		var positions, ends evidence
		positions.add(sketch[0].Values, values)
		ratio := positions.likelihoodRatio()
		if sketch[0].Complete > 0 {
			ends.add(sketch[0].Changes, changes)
			ratio *= ends.likelihoodRatio()
		}
		if w := ratio / (1 + ratio); w > minWeight {
			peers = append(peers, Peer{sketch, w})
		}
	}
	return peers
}

// reachedBy returns how many of peers' evaluations reached a rung, by index, and how many of them are
// better than a value there. Both are weighted.
func reachedBy(peers []Peer, rung int, value, sign float64) (among, better float64) {
	for _, p := range peers {
		if rung >= len(p.Sketch) {
			continue
		}
		r := p.Sketch[rung]
		part := below(r.Values, value)
		if sign > 0 {
			part = 1 - part
		}
		among, better = among+p.Weight*float64(r.Count), better+p.Weight*float64(r.Count)*part
	}
	return among, better
}

// ForecastByPeers predicts the final value of an evaluation from its value at the newest rung that
// it has reached, and peers' changes from there to the end. ok is false if no peer has them.
func ForecastByPeers(s task.Stopping, own Curve, peers []Peer) (mean, deviation float64, ok bool) {
	index, value := -1, 0.0
	for rung := range s.Rungs() {
		i := own.first(rung)
		if i == len(own) {
			break
		}
		index, value = index+1, own[i].Value
	}
	if index < 0 {
		return 0, 0, false
	}
	var changes, deviations, weights []float64
	for _, p := range peers {
		if index < len(p.Sketch) && p.Sketch[index].Complete > 0 {
			change, deviation := moments(p.Sketch[index].Changes)
			changes, deviations = append(changes, change), append(deviations, deviation)
			weights = append(weights, p.Weight*float64(p.Sketch[index].Complete))
		}
	}
	if len(weights) == 0 {
		return 0, 0, false
	}
	mean, variance := stat.PopMeanVariance(changes, weights)
	for i, d := range deviations {
		variance += d * d * weights[i] / floats.Sum(weights)
	}
	return value + mean, math.Sqrt(variance), true
}
