package family

import (
	"errors"
	"fmt"
	"strings"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/lab/testfunc"
	"github.com/fbo-node/fbo/task"
)

// severalKinds returns the problems with several objectives.
func severalKinds() []Kind {
	var all []Kind
	for _, o := range testfunc.AllObjectives() {
		all = append(all, several{o}.kind())
	}
	return all
}

// several is a problem with several objectives, from which families are made.
type several struct{ testfunc.Objectives }

func (s several) kind() Kind {
	name, _, _ := strings.Cut(s.Name, "-")
	keys := []Key{
		{Name: "warp", Type: Number, Default: "0.1", Low: 0, High: 1,
			Meaning: "standard deviation of the logarithm of the power to which each member raises each float, which keeps the front"},
		noiseKey("each objective"),
	}
	return Kind{
		Info: Info{
			Name: name,
			About: fmt.Sprintf("%d objectives over %d floats, warped a little for every member, to be minimised; the regret is the missing part of the largest hypervolume",
				s.Count, s.Space.Len()),
			Keys: append(keys, compositionKeys()...),
		},
		Build:      s.build,
		Objectives: func(Values) []task.ObjectiveGoal { return s.goals() },
	}
}

// goals returns the objectives f1, f2 and so on, with the published references.
func (s several) goals() []task.ObjectiveGoal {
	goals := make([]task.ObjectiveGoal, s.Count)
	for i := range goals {
		goals[i] = task.ObjectiveGoal{Name: fmt.Sprintf("f%d", i+1), Goal: task.Minimize, Reference: new(s.Reference[i])}
	}
	return goals
}

func (s several) build(v Values) (*task.Space, DrawFunc, error) {
	if v.Choice(othersKey) != similar && v.Choice(othersKey) != dissimilar {
		return nil, nil, errors.New("key others: accepted for several objectives: similar, dissimilar")
	}
	c, err := compositionOf(v)
	if err != nil {
		return nil, nil, err
	}
	if c.adversaries > 0 {
		return nil, nil, errors.New("key adversaries: accepted for several objectives: 0")
	}
	space := s.Space
	return space, func(seed random.Seed, agents int) (Federation, error) {
		f := Federation{Space: space, Goal: task.Minimize, Objectives: s.goals(), Members: make([]Member, agents)}
		for k := range f.Members {
			cluster := k % c.clusters
			if c.others == dissimilar {
				cluster = k
			}
			f.Members[k] = s.member(v, seed, cluster, k)
			f.Members[k].Counts = c.others == similar && !c.newcomer || c.newcomer && k == agents-1 || c.others == dissimilar && !c.newcomer && k == 0
		}
		f.Members[agents-1].Late = c.newcomer
		return f, nil
	}, nil
}

// member returns a member. Its motion maps the cube onto itself, so that all members have the largest
// hypervolume of the problem. In all clusters but the first the floats are permuted and partly mirrored.
func (s several) member(v Values, seed random.Seed, cluster, k int) Member {
	m, own := still(s.Space.Len()), seed.Derive("own", uint64(k))
	if cluster > 0 {
		m.mix(seed.Stream("cluster mix", uint64(cluster)))
	}
	m.move(amounts{warp: v.Number("warp")}, own.Stream("shift", 0), own.Stream("turn", 0), own.Stream("warp", 0))
	of := func(i int) func(task.Design) float64 {
		return func(d task.Design) float64 { return s.Value(m.forth(s.Space.Encode(d)))[i] }
	}
	noise := v.Number("noise")
	member := Member{
		Cluster:     cluster,
		Objective:   Objective{Value: of(0), Noise: noise, Deviation: s.Hypervolume},
		Hypervolume: s.Hypervolume,
	}
	for i := 1; i < s.Count; i++ {
		member.Further = append(member.Further, Measure{Value: of(i), Noise: noise})
	}
	return member
}
