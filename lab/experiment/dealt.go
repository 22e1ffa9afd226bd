package experiment

import (
	"fmt"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/task"
)

// deal returns the starting designs of each agent, if the plan has Dealt: those of one Latin hypercube of all agents.
// So no two agents have a number from the same part of a range.
func (p Plan) deal(space *task.Space, seed random.Seed) [][]task.Design {
	dealt := make([][]task.Design, p.Agents)
	if !p.Dealt {
		return dealt
	}
	rng := seed.Stream("dealt designs", 0)
	count := p.Agents * p.Initial
	parts := make([][]int, space.Len())
	for k := range parts {
		parts[k] = rng.Perm(count)
	}
	for i := range count {
		u := make([]float64, space.Len())
		for k := range u {
			u[k] = (float64(parts[k][i]) + rng.Float64()) / float64(count)
		}
		dealt[i%p.Agents] = append(dealt[i%p.Agents], space.Decode(u))
	}
	return dealt
}

// checkDealt refuses Dealt for spaces whose designs are not those of a Latin hypercube.
func (p Plan) checkDealt() error {
	if !p.Dealt || p.Family.Space == nil {
		return nil
	}
	if p.Family.Space.Listing() != nil {
		return fmt.Errorf("--dealt-designs: the family %s has listed designs; expected one whose designs are any numbers in ranges", p.Family.Name)
	}
	return nil
}
