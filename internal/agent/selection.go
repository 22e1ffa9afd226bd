package agent

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/libp2p/go-libp2p/core/peer"
)

// candidateAuthor is an author that announces shares.
type candidateAuthor struct {
	id    peer.ID
	group string  // as of Source
	use   float64 // weight that the strategy gives its shares; 0: none, or unknown
}

// selectAuthors chooses the authors whose announced shares an agent fetches, at most limit. Up to half
// of them are those of most use, up to a quarter are suggested ones, in their order, and the others are
// random. A random author is of a random group, so that many identities of one group gain little.
func selectAuthors(limit int, all []candidateAuthor, suggested []peer.ID, rng *rand.Rand) map[peer.ID]bool {
	chosen := map[peer.ID]bool{}
	if len(all) <= limit {
		for _, c := range all {
			chosen[c.id] = true
		}
		return chosen
	}
	byUse := slices.Clone(all)
	slices.SortFunc(byUse, func(a, b candidateAuthor) int { return cmp.Or(cmp.Compare(b.use, a.use), cmp.Compare(a.id, b.id)) })
	for _, c := range byUse[:limit/2] {
		if c.use > 0 {
			chosen[c.id] = true
		}
	}
	announcing := map[peer.ID]bool{}
	for _, c := range all {
		announcing[c.id] = true
	}
	most := len(chosen) + limit/4
	for _, id := range suggested {
		if announcing[id] && len(chosen) < most {
			chosen[id] = true
		}
	}
	fillAtRandom(chosen, limit, all, rng)
	return chosen
}

// fillAtRandom adds random authors until there are as many as limit.
func fillAtRandom(chosen map[peer.ID]bool, limit int, all []candidateAuthor, rng *rand.Rand) {
	groups := map[string][]peer.ID{}
	for _, c := range all {
		if !chosen[c.id] {
			groups[c.group] = append(groups[c.group], c.id)
		}
	}
	names := slices.Sorted(maps.Keys(groups))
	for len(chosen) < limit && len(names) > 0 {
		g := rng.IntN(len(names))
		ids := groups[names[g]]
		i := rng.IntN(len(ids))
		chosen[ids[i]] = true
		if groups[names[g]] = slices.Delete(ids, i, i+1); len(ids) == 1 {
			names = slices.Delete(names, g, g+1)
		}
	}
}
