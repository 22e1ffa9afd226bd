package largetopic

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
)

// Candidate is an author that announces shares.
type Candidate[ID cmp.Ordered] struct {
	ID     ID
	Group  string  // origin that costs more than an identity
	Use    float64 // weight that the strategy gives its shares; 0: none, or unknown
	Remote bool    // the agent cannot connect to it
}

// selectAuthors chooses the authors whose announced shares an agent fetches, at most limit. Up to half
// of them are those of most use, and up to a quarter are suggested ones, in their order. Half of the other
// places stay with authors of the last choice that were served and whose use is unknown: most others cannot be fetched
// if the topic has more authors than an agent can connect to. All further authors are random, remote ones only if
// there are no others. A random author is of a random group, so that many identities of one group gain little.
func selectAuthors[ID cmp.Ordered](limit int, all []Candidate[ID], suggested, served []ID, rng *rand.Rand) map[ID]bool {
	chosen, use := map[ID]bool{}, map[ID]float64{}
	for _, c := range all {
		use[c.ID] = c.Use
	}
	if len(all) <= limit {
		for id := range use {
			chosen[id] = true
		}
		return chosen
	}
	used := slices.DeleteFunc(slices.Clone(all), func(c Candidate[ID]) bool { return c.Use <= 0 })
	slices.SortFunc(used, func(a, b Candidate[ID]) int { return cmp.Or(cmp.Compare(b.Use, a.Use), cmp.Compare(a.ID, b.ID)) })
	for _, c := range used[:min(len(used), limit/2)] {
		chosen[c.ID] = true
	}
	most := len(chosen) + limit/4
	for _, id := range suggested {
		if _, announces := use[id]; announces && len(chosen) < most {
			chosen[id] = true
		}
	}
	most = (len(chosen) + limit) / 2
	for _, i := range rng.Perm(len(served)) {
		if known, announces := use[served[i]]; announces && known <= 0 && len(chosen) < most {
			chosen[served[i]] = true
		}
	}
	fillAtRandom(chosen, limit, all, rng)
	return chosen
}

// fillAtRandom adds random authors until there are as many as limit, remote ones last.
func fillAtRandom[ID cmp.Ordered](chosen map[ID]bool, limit int, all []Candidate[ID], rng *rand.Rand) {
	for _, remote := range []bool{false, true} {
		groups := map[string][]ID{}
		for _, c := range all {
			if c.Remote == remote && !chosen[c.ID] {
				groups[c.Group] = append(groups[c.Group], c.ID)
			}
		}
		fillFrom(chosen, limit, groups, rng)
	}
}

func fillFrom[ID cmp.Ordered](chosen map[ID]bool, limit int, groups map[string][]ID, rng *rand.Rand) {
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
