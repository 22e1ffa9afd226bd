package experiment

import (
	"fmt"
	"slices"

	"github.com/fbo-node/fbo/lab/family"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

// deal returns the starting designs of each agent: those of one Latin hypercube of all agents. So no two agents have a
// number from the same part of a range. Without Dealt there are none.
func (p Plan) deal(f *federation) ([][]task.Design, error) {
	dealt := make([][]task.Design, p.Agents)
	if !p.Dealt {
		return dealt, nil
	}
	if f.Space.Listing() != nil || slices.ContainsFunc(f.Members, func(m family.Member) bool { return m.Space != nil }) {
		return nil, fmt.Errorf("--dealt-designs: the family %s has listed designs; expected one with all designs of a space", p.Family.Name)
	}
	for i, design := range search.Latin(f.Space, p.Agents*p.Initial, f.seed.Stream("dealt designs", 0)) {
		dealt[i%p.Agents] = append(dealt[i%p.Agents], design)
	}
	return dealt, nil
}
