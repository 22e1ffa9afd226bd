package baseline

import (
	"math/rand/v2"
	"slices"

	"github.com/fbo-node/fbo/internal/surrogate/gp"
)

// snapshot is the content of a pool at one moment. It is immutable.
type snapshot struct {
	spec    gp.Spec
	members []*known
	fitting *fitting // nil if no member has observations

	// whole returns the process of all observations, which is the same for every member.
	whole perKind[func() (*gp.Posterior, error)]
}

func newSnapshot(spec gp.Spec, members []*known, fitting *fitting) *snapshot {
	s := &snapshot{spec: spec, members: members, fitting: fitting}
	s.whole = lazily(func(k kind) (*gp.Posterior, error) {
		all, err := gather(members, k)
		if err != nil {
			return nil, err
		}
		return s.condition(k, all)
	})
	return s
}

// peer is a member that has observations.
type peer struct {
	*known
	member int
}

// peers returns the members with observations, without self.
func (s *snapshot) peers(self int) []peer {
	return slices.DeleteFunc(present(s.members), func(p peer) bool { return p.member == self })
}

func present(members []*known) []peer {
	var all []peer
	for i, k := range members {
		if k != nil {
			all = append(all, peer{k, i})
		}
	}
	return all
}

// count returns the number of observations of all members.
func count(members []*known) int {
	total := 0
	for _, p := range present(members) {
		total += len(p.y)
	}
	return total
}

// process returns the posterior given all members' observations. If these are too many, it uses
// those that matter most to self.
func (s *snapshot) process(k kind, self int, rng *rand.Rand) (*gp.Posterior, error) {
	if count(s.members) <= maxPooled {
		return (*s.whole.of(k))()
	}
	all, err := gather(s.members, k)
	if err != nil {
		return nil, err
	}
	return s.condition(k, all.choose(self, rng))
}

func (s *snapshot) condition(k kind, chosen observations) (*gp.Posterior, error) {
	h, err := (*s.fitting.learned.of(k))()
	if err != nil {
		return nil, err
	}
	x, y := chosen.points()
	return gp.NewPosterior(pooledSpec(s.spec, k, len(s.members)), x, y, h)
}
