package family

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/task"
)

// function is the objective of one member on the unit cube of the space, with the values that the
// member measures of each constraint.
type function struct {
	value   func(u []float64) float64
	limits  []func(u []float64) float64
	optimum func() float64 // computes the best value; may take seconds, and is safe for concurrent use
	err     error          // reason for which the function does not have the required properties; nil if it does
}

// source makes the functions of one federation. Their standard deviation over the space is about 1,
// except for published functions in their own units.
type source struct {
	space *task.Space
	goal  task.Goal
	noise float64

	constraints []task.Constraint // each is satisfied by values of at most 0
	limitNoise  float64           // standard deviation of the noise of their measured values
	infeasible  bool              // whether no design satisfies all constraints

	// member returns the function of member k of a cluster. Members of one cluster are similar;
	// clusters are independent.
	member func(cluster, k int) function
}

const (
	othersKey      = "others"
	adversariesKey = "adversaries"
	attackKey      = "attack"
)

// Values of the key attack: the designs in forged shares.
const (
	atRandom = "random"
	inCorner = "corner"
)

// Values of the key others.
const (
	similar     = "similar"
	dissimilar  = "dissimilar"
	negated     = "negated"
	halfNegated = "half-negated"
	deceptive   = "deceptive"
	constant    = "constant"
	noisy       = "noise"
	forged      = "forged"
)

func compositionKeys() []Key {
	return []Key{
		{Name: othersKey, Type: Choice, Default: similar, Choices: []string{similar, dissimilar, negated, halfNegated, deceptive, constant, noisy, forged},
			Meaning: "what all but one member are; unless they are similar, that one alone is honest and counts"},
		{Name: "clusters", Type: Whole, Default: "1", Low: 1, High: 100,
			Meaning: "number of clusters, to which members are assigned in turn; members are similar within and dissimilar across clusters"},
		{Name: "newcomer", Type: Switch, Default: "false",
			Meaning: "the last member starts when the others have ended, and alone counts"},
		{Name: adversariesKey, Type: Whole, Default: "0", Low: 0, High: 100,
			Meaning: "number of members, the last ones, that share forged content and do not count"},
		{Name: attackKey, Type: Choice, Default: atRandom, Choices: []string{atRandom, inCorner},
			Meaning: "forged designs are random, each anew, or always the same: the corner where all numbers are largest"},
	}
}

// composition holds the settings that determine the members of a federation.
type composition struct {
	others      string
	clusters    int
	newcomer    bool
	adversaries int
	corner      bool // all forged designs are the same corner
}

func compositionOf(v Values) (composition, error) {
	c := composition{v.Choice(othersKey), v.Whole("clusters"), v.Switch("newcomer"), v.Whole(adversariesKey), v.Choice(attackKey) == inCorner}
	if c.others != similar && c.clusters > 1 {
		return c, errors.New("clusters is for others=similar")
	}
	if c.adversaries > 0 && (c.others != similar || c.newcomer) {
		return c, errors.New("adversaries is for others=similar, without a newcomer")
	}
	if c.corner && c.adversaries == 0 && c.others != forged {
		return c, errors.New("attack=corner is for adversaries or others=forged")
	}
	return c, nil
}

// build implements Kind.Build for kinds whose members come from a source over a space.
func build(v Values, space *task.Space, from func(random.Seed) (source, error)) (*task.Space, DrawFunc, error) {
	c, err := compositionOf(v)
	if err != nil {
		return nil, nil, err
	}
	return space, func(seed random.Seed, agents int) (Federation, error) {
		s, err := from(seed.Derive("functions", 0))
		if err != nil {
			return Federation{}, err
		}
		return c.gather(s, seed.Derive("company", 0), agents)
	}, nil
}

func (c composition) gather(s source, seed random.Seed, agents int) (Federation, error) {
	if c.adversaries >= agents {
		return Federation{}, fmt.Errorf("adversaries=%d of %d agents: at least one must be honest", c.adversaries, agents)
	}
	f := Federation{Space: s.space, Goal: s.goal, Members: make([]Member, agents), Constraints: s.constraints, Infeasible: s.infeasible}
	honest := 0 // the only honest member, or the only one that counts
	if c.newcomer {
		honest = agents - 1
	}
	var failed error
	draw := s.member
	s.member = func(cluster, k int) function {
		g := draw(cluster, k)
		failed = cmp.Or(failed, g.err)
		return g
	}
	odd := odds{source: s, seed: seed}
	counting := make([]function, agents)
	for k := range f.Members {
		switch {
		case c.others == similar:
			cluster := k % c.clusters
			g := s.member(cluster, k)
			forges := k >= agents-c.adversaries
			f.Members[k] = s.playing(g, Member{Counts: !forges && (!c.newcomer || k == honest), Forged: forges, Cluster: cluster})
			counting[k] = g
		case k == honest:
			g := s.member(0, k)
			f.Members[k] = s.playing(g, Member{Counts: true})
			counting[k] = g
			odd.victim = g
		}
	}
	if c.others != similar {
		place := 0 // index among the members that are not honest
		for k := range f.Members {
			if k != honest {
				f.Members[k] = odd.member(c.others, k, place)
				place++
			}
		}
	}
	if failed != nil {
		return Federation{}, failed
	}
	for k := range f.Members {
		f.Members[k].Corner = f.Members[k].Forged && c.corner
	}
	f.Members[honest].Late = c.newcomer
	f.findOptima(counting)
	return f, nil
}

// playing returns m with the function g. Its optimum is not computed yet.
func (s source) playing(g function, m Member) Member {
	m.Objective = Objective{Value: s.ofDesign(g.value), Noise: s.noise, Optimum: math.NaN()}
	for _, limit := range g.limits {
		m.Constraints = append(m.Constraints, Measure{Value: s.ofDesign(limit), Noise: s.limitNoise})
	}
	if len(s.constraints) > 0 {
		m.Objective.Range = math.NaN()
	}
	return m
}

func (s source) ofDesign(value func(u []float64) float64) func(task.Design) float64 {
	return func(d task.Design) float64 { return value(s.space.Encode(d)) }
}

// findOptima computes the optima of the members that count, several at a time.
func (f Federation) findOptima(functions []function) {
	limit := make(chan struct{}, runtime.GOMAXPROCS(0))
	var all sync.WaitGroup
	for k := range f.Members {
		if f.Members[k].Counts {
			limit <- struct{}{}
			all.Go(func() {
				defer func() { <-limit }()
				o := &f.Members[k].Objective
				o.Optimum = functions[k].optimum()
				if len(f.Constraints) > 0 {
					o.Range = rangeOf(functions[k].value, f.Space.Dim())
				}
			})
		}
	}
	all.Wait()
}

// rangeOf returns the difference of the largest and the smallest value over a dense set of points.
func rangeOf(value func(u []float64) float64, d int) float64 {
	low, high := math.Inf(1), math.Inf(-1)
	points := dense(densePoints, d)
	for i := range densePoints {
		v := value(points[i*d : (i+1)*d])
		low, high = min(low, v), max(high, v)
	}
	return high - low
}
