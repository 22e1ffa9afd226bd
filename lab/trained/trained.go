package trained

import (
	"math"
	"runtime"
	"sync"

	"github.com/fbo-node/fbo/lab/family"
	"github.com/fbo-node/fbo/task"
)

// Kinds returns the kinds of this package that run no programs; Programs.Kind is the one
// that does.
func Kinds() family.Catalogue {
	return family.Catalogue{syntheticKind(), tableKind(), trafficKind()}
}

// measuredFloor is the part of the deviation of measured values that no application would
// notice: a search misses more of the optimum, and the values are known no better.
const measuredFloor = 0.01

func newcomerKey() family.Key {
	return family.Key{Name: "newcomer", Type: family.Switch, Default: "false",
		Meaning: "the last member starts when the others have ended, and alone counts"}
}

func noiseKey() family.Key {
	return family.Key{Name: "noise", Type: family.Number, Default: "0", Low: 0, High: 100,
		Meaning: "standard deviation of the noise of an evaluation"}
}

// objective is one member's.
type objective struct {
	value   func(d task.Design) float64
	optimum func() float64 // may take long
}

// assemble finds the optima of the members that count, some at a time.
func assemble(space *task.Space, goal task.Goal, v family.Values, objectives []objective) family.Federation {
	f := family.Federation{Space: space, Goal: goal, Members: make([]family.Member, len(objectives))}
	newcomer, last := v.Switch("newcomer"), len(objectives)-1
	limit := make(chan struct{}, runtime.GOMAXPROCS(0))
	var all sync.WaitGroup
	for k, o := range objectives {
		f.Members[k] = family.Member{
			Objective: family.Objective{Value: o.value, Noise: v.Number("noise"), Optimum: math.NaN()},
			Counts:    !newcomer || k == last,
			Late:      newcomer && k == last,
		}
		if f.Members[k].Counts {
			limit <- struct{}{}
			all.Go(func() {
				defer func() { <-limit }()
				f.Members[k].Objective.Optimum = o.optimum()
			})
		}
	}
	all.Wait()
	return f
}
