package family

import (
	"errors"
	"math"
	"runtime"
	"sync"

	"github.com/fbo-node/fbo/random"
	"github.com/fbo-node/fbo/task"
)

// function is one member's objective over the unit cube of the space.
type function struct {
	value   func(u []float64) float64
	optimum func() float64 // may take a second; safe for concurrent use
}

// source makes the functions of one federation. Their standard deviation over the
// space is about 1.
type source struct {
	space *task.Space
	goal  task.Goal
	noise float64

	// member returns the function of member k as one of a cluster. Members of one
	// cluster are alike; clusters are independent.
	member func(cluster, k int) function
}

const othersKey = "others"

// The kinds of company.
const (
	alike       = "alike"
	unlike      = "unlike"
	negated     = "negated"
	halfNegated = "half-negated"
	lying       = "lying"
	constant    = "constant"
	noisy       = "noise"
	forged      = "forged"
)

func companyKeys() []Key {
	return []Key{
		{Name: othersKey, Type: Choice, Default: alike, Choices: []string{alike, unlike, negated, halfNegated, lying, constant, noisy, forged},
			Meaning: "what all but one member are; unless they are alike, that one alone is honest and counts"},
		{Name: "clusters", Type: Whole, Default: "1", Low: 1, High: 100,
			Meaning: "members are alike within so many clusters, dealt out in turn, and unlike across"},
		{Name: "newcomer", Type: Switch, Default: "false",
			Meaning: "the last member starts when the others have ended, and alone counts"},
	}
}

// company says who keeps whom company.
type company struct {
	others   string
	clusters int
	newcomer bool
}

func companyOf(v Values) (company, error) {
	c := company{v.Choice(othersKey), v.Whole("clusters"), v.Switch("newcomer")}
	if c.others != alike && c.clusters > 1 {
		return c, errors.New("clusters is for others=alike")
	}
	return c, nil
}

// build is the Build of a kind whose members come from a source over a space.
func build(v Values, space *task.Space, from func(random.Seed) (source, error)) (*task.Space, DrawFunc, error) {
	c, err := companyOf(v)
	if err != nil {
		return nil, nil, err
	}
	return space, func(seed random.Seed, agents int) (Federation, error) {
		s, err := from(seed.Derive("functions", 0))
		if err != nil {
			return Federation{}, err
		}
		return c.gather(s, seed.Derive("company", 0), agents), nil
	}, nil
}

func (c company) gather(s source, seed random.Seed, agents int) Federation {
	f := Federation{Space: s.space, Goal: s.goal, Members: make([]Member, agents)}
	honest := 0 // the one who alone is honest, or alone counts
	if c.newcomer {
		honest = agents - 1
	}
	odd := odds{source: s, seed: seed}
	optima := make([]func() float64, agents)
	for k := range f.Members {
		switch {
		case c.others == alike:
			cluster := k % c.clusters
			g := s.member(cluster, k)
			f.Members[k] = Member{Objective: s.objective(g), Counts: !c.newcomer || k == honest, Cluster: cluster}
			optima[k] = g.optimum
		case k == honest:
			g := s.member(0, k)
			f.Members[k] = Member{Objective: s.objective(g), Counts: true}
			optima[k] = g.optimum
			odd.victim = g
		}
	}
	if c.others != alike {
		place := 0 // among the others
		for k := range f.Members {
			if k != honest {
				f.Members[k] = odd.member(c.others, k, place)
				place++
			}
		}
	}
	f.Members[honest].Late = c.newcomer
	f.findOptima(optima)
	return f
}

// objective has no optimum yet.
func (s source) objective(g function) Objective {
	return Objective{
		Value:   func(d task.Design) float64 { return g.value(s.space.Encode(d)) },
		Noise:   s.noise,
		Optimum: math.NaN(),
	}
}

// findOptima calls the functions of the members that count, some at a time.
func (f Federation) findOptima(optima []func() float64) {
	limit := make(chan struct{}, runtime.GOMAXPROCS(0))
	var all sync.WaitGroup
	for k := range f.Members {
		if f.Members[k].Counts {
			limit <- struct{}{}
			all.Go(func() {
				defer func() { <-limit }()
				f.Members[k].Objective.Optimum = optima[k]()
			})
		}
	}
	all.Wait()
}
