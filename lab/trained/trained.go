package trained

import (
	"math"
	"runtime"
	"sync"

	"github.com/fbo-node/fbo/lab/family"
	"github.com/fbo-node/fbo/task"
)

// Kinds returns the kinds of this package that run no programs. Programs.Kind returns the kind that
// does.
func Kinds() family.Catalogue {
	return family.Catalogue{syntheticKind(), networkKind(), tableKind(), trafficKind()}
}

// measuredFloor is the fraction of the standard deviation of measured values below which regrets do
// not matter in an application. A search misses the optimum by more, and the values are not known
// better.
const measuredFloor = 0.01

func newcomerKey() family.Key {
	return family.Key{Name: "newcomer", Type: family.Switch, Default: "false",
		Meaning: "the last member starts when the others have ended, and alone counts"}
}

func noiseKey() family.Key {
	return family.Key{Name: "noise", Type: family.Number, Default: "0", Low: 0, High: 100,
		Meaning: "standard deviation of the noise of an evaluation"}
}

// objective is the objective of one member.
type objective struct {
	value   func(d task.Design) float64
	optimum func() float64 // returns the best value; may take long
}

// assemble returns a federation of members with these objectives. It computes the optima of the
// members that count, several at a time.
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
