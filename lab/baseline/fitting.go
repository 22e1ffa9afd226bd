package baseline

import (
	"context"
	"slices"
	"sync"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate/gp"
)

// kind is one way to make a process of all members' observations.
type kind struct {
	related bool // every member has its own function, and their similarity is learned
	units   Units
}

// perKind holds something for each kind.
type perKind[T any] [2][unitsCount]T

func (p *perKind[T]) of(k kind) *T { return &p[number(k.related)][k.units] }

// lazily returns what make gives for each kind, made when it is first asked for.
func lazily[T any](make func(k kind) (T, error)) perKind[func() (T, error)] {
	var all perKind[func() (T, error)]
	for _, related := range []bool{false, true} {
		for units := range unitsCount {
			k := kind{related, units}
			*all.of(k) = sync.OnceValues(func() (T, error) { return make(k) })
		}
	}
	return all
}

// similar is the lengthscale of the members' block from which a fit starts that assumes nearly
// equal members: a correlation of 0.98 under SE.
const similar = 7.0

// growth is by how much the observations of a pool grow between two fits.
const growth = 1.5

// fitting holds the hyperparameters of a pool at one moment, learned at the first request. It
// starts from the previous fitting.
type fitting struct {
	members []*known
	count   int
	learned perKind[func() (gp.Hyperparameters, error)]
}

func newFitting(spec gp.Spec, members []*known, before *fitting) *fitting {
	f := &fitting{members: members, count: count(members)}
	f.learned = lazily(func(k kind) (gp.Hyperparameters, error) { return f.learn(spec, k, before) })
	return f
}

// outgrownBy reports whether the members have enough new observations to learn the hyperparameters
// again.
func (f *fitting) outgrownBy(members []*known) bool {
	return float64(count(members)) >= growth*float64(f.count)
}

// learn is the maximum of the posterior density over at most 300 observations,
// which package gp chooses at random.
func (f *fitting) learn(spec gp.Spec, k kind, before *fitting) (gp.Hyperparameters, error) {
	var starts []gp.Hyperparameters
	if before != nil {
		// Without the fitting before there are still the other starts.
		if h, err := (*before.learned.of(k))(); err == nil {
			starts = append(starts, h)
		}
	}
	// At first, similar and dissimilar members may explain the observations equally well; the
	// previous fitting had one of the two.
	if len(starts) == 0 || k.related {
		starts = append(starts, f.guess(k))
	}
	all, err := gather(f.members, k)
	if err != nil {
		return gp.Hyperparameters{}, err
	}
	x, y := all.points()
	// The stream chooses among the observations; any fixed one will do.
	rng := random.SeedOf(uint64(f.count)).Stream("pooled fit", 0)
	// The first caller learns for all, so that the end of one caller must not cancel it.
	return gp.Fit(context.Background(), pooledSpec(spec, k, len(f.members)), x, y, starts, rng)
}

// guess returns the hyperparameters of the member with the most observations, and the lengthscale
// of similar members.
func (f *fitting) guess(k kind) gp.Hyperparameters {
	most := slices.MaxFunc(present(f.members), func(a, b peer) int { return len(a.y) - len(b.y) })
	h := gp.Hyperparameters{Lengthscales: slices.Clone(most.h.Lengthscales), Noise: most.h.Noise}
	if k.related {
		h.Lengthscales = append(h.Lengthscales, similar)
	}
	return h
}

// pooledSpec is the process of all members' observations. For related members a point has, after
// the design's coordinates, a one-hot block that identifies its member, with a lengthscale ℓ of its
// own: two values at the squared distance r² in lengthscales have the covariance k(r) for one
// member and k(√(r² + 2/ℓ²)) for two, beside that of the constant part. Under SE the latter is
// exp(−1/ℓ²)·k(r), which is the model f_i = √(1−e²) f₀ + e g_i with 1 − e² = exp(−1/ℓ²). Under
// Matérn it is no product but shrinks in the same way, to k(√2/ℓ) at r = 0, and what two members
// have in common is smoother than what each has.
func pooledSpec(spec gp.Spec, k kind, members int) gp.Spec {
	if !k.related {
		return spec
	}
	pooled := gp.Spec{Kernel: spec.Kernel, Groups: slices.Clone(spec.Groups)}
	block := slices.Max(spec.Groups) + 1
	for range members {
		pooled.Groups = append(pooled.Groups, block)
	}
	return pooled
}

// whose is the one-hot block of a member.
func whose(member, members int) []float64 {
	block := make([]float64, members)
	block[member] = 1
	return block
}
