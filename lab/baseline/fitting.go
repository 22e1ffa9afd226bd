package baseline

import (
	"context"
	"slices"
	"sync"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate/gp"
	"github.com/fbo-node/fbo/internal/surrogate/multitask"
)

// kind specifies a process of all members' observations.
type kind struct {
	related bool // every member has its own function, and the process learns their similarity
	units   Units
}

// perKind holds one value for each kind.
type perKind[T any] [2][unitsCount]T

func (p *perKind[T]) of(k kind) *T { return &p[number(k.related)][k.units] }

// lazily returns a function for each kind, which calls make at its first call only.
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

// similar is the lengthscale of the members' block that assumes nearly equal members: a correlation
// of 0.98 under SE. A fit starts from it.
const similar = 7.0

// growth is the factor by which the number of observations must grow before the next fit.
const growth = 1.5

// fitting holds the hyperparameters of a pool at one moment. They are learned at the first request,
// starting from the previous fitting.
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

// learn returns the maximiser of the posterior density given at most 300 observations, which
// package gp selects at random.
func (f *fitting) learn(spec gp.Spec, k kind, before *fitting) (gp.Hyperparameters, error) {
	var starts []gp.Hyperparameters
	if before != nil {
		// If the previous fitting failed, the other starts remain.
		if h, err := (*before.learned.of(k))(); err == nil {
			starts = append(starts, h)
		}
	}
	// Early on, similar and dissimilar members may explain the observations equally well. The
	// previous fitting found only one of these two maxima, so the guess is tried too.
	if len(starts) == 0 || k.related {
		starts = append(starts, f.guess(k))
	}
	all, err := gather(f.members, k)
	if err != nil {
		return gp.Hyperparameters{}, err
	}
	x, y := all.points()
	// The stream selects the observations; any fixed stream will do.
	rng := random.SeedOf(uint64(f.count)).Stream("pooled fit", 0)
	// The first caller learns for all callers, so its cancellation must not end the fit.
	return gp.Fit(context.Background(), pooledSpec(spec, k, len(f.members)), x, y, starts, rng)
}

// guess returns the hyperparameters of the member with the most observations. For related members
// it adds the lengthscale `similar`.
func (f *fitting) guess(k kind) gp.Hyperparameters {
	most := slices.MaxFunc(present(f.members), func(a, b peer) int { return len(a.y) - len(b.y) })
	h := gp.Hyperparameters{Lengthscales: slices.Clone(most.h.Lengthscales), Noise: most.h.Noise}
	if k.related {
		h.Lengthscales = append(h.Lengthscales, similar)
	}
	return h
}

// pooledSpec returns the process of all members' observations. For related members it is that of
// package multitask, in which all pairs of members have the same distance. It is learned with the
// other hyperparameters.
//
// Under SE this is the model f_i = √(1−e²) f₀ + e g_i with 1 − e² = exp(−1/ℓ²), where ℓ is the
// members' lengthscale.
func pooledSpec(spec gp.Spec, k kind, members int) gp.Spec {
	if !k.related {
		return spec
	}
	return multitask.Spec(spec, members)
}
