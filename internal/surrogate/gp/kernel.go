package gp

import (
	"fmt"
	"math"
	"slices"

	"github.com/fbo-node/fbo/internal/radial"
)

// The kernels.
const (
	Matern52 = radial.Matern52
	SE       = radial.SE // squared exponential
)

// Spec specifies the process.
type Spec struct {
	Kernel string // Matern52 or SE
	// Groups[i] is the index of the lengthscale of coordinate i. Indices start at 0 and have no
	// gaps. The coordinates of a one-hot category share one lengthscale, so the kernel only
	// distinguishes equal and different categories.
	Groups []int
	// Centred states that the mean of the process is known to be zero. Otherwise the mean is an
	// unknown constant, which is integrated out.
	Centred bool
}

// clone returns a copy that shares no memory with s.
func (s Spec) clone() Spec {
	s.Groups = slices.Clone(s.Groups)
	return s
}

func (s Spec) validate() error {
	if s.Kernel != Matern52 && s.Kernel != SE {
		return fmt.Errorf("kernel %q: must be %q or %q", s.Kernel, Matern52, SE)
	}
	if len(s.Groups) == 0 {
		return fmt.Errorf("groups: one is needed for every coordinate, have none")
	}
	used := make([]bool, len(s.Groups))
	for i, g := range s.Groups {
		if g < 0 || g >= len(s.Groups) {
			return fmt.Errorf("group %d of coordinate %d: must be in [0, %d)", g, i, len(s.Groups))
		}
		used[g] = true
	}
	for g := range s.lengthscales() {
		if !used[g] {
			return fmt.Errorf("group %d has no coordinate", g)
		}
	}
	return nil
}

// lengthscales returns the number of lengthscales, one per group.
func (s Spec) lengthscales() int {
	highest := -1
	for _, g := range s.Groups {
		highest = max(highest, g)
	}
	return highest + 1
}

// Hyperparameters holds the learned numbers of the process.
type Hyperparameters struct {
	Lengthscales []float64 `json:"lengthscales"` // one per group, in units of the unit cube's side
	Noise        float64   `json:"noise"`        // variance, in units of the standardised outputs

	// Prior is the prior of the fit that returned these numbers; nil is the standard prior. Sample
	// uses it.
	Prior *Prior `json:"prior,omitempty"`
}

// Equal reports whether both have the same lengthscales, noise and prior.
func (h Hyperparameters) Equal(other Hyperparameters) bool {
	return h.Noise == other.Noise && slices.Equal(h.Lengthscales, other.Lengthscales) && h.Prior.equal(other.Prior)
}

func (h Hyperparameters) validate(s Spec) error {
	if len(h.Lengthscales) != s.lengthscales() {
		return fmt.Errorf("%d lengthscales: the process has %d groups", len(h.Lengthscales), s.lengthscales())
	}
	for g, l := range h.Lengthscales {
		if !(l > 0) || math.IsInf(l, 1) {
			return fmt.Errorf("lengthscale %g of group %d: must be positive and finite", l, g)
		}
	}
	if !(h.Noise > 0) || math.IsInf(h.Noise, 1) {
		return fmt.Errorf("noise %g: must be positive and finite", h.Noise)
	}
	return h.Prior.validate(s)
}

// unknownMean is the prior variance of the unknown mean, which is constant over the cube. The mean
// is integrated out: the prior covariance of two values is unknownMean + k. Standardised outputs
// have the average zero, but the designs of an optimiser are not a representative sample of the
// space.
const unknownMean = 1.0

// meanVariance returns the prior variance of the unknown mean, or 0 if the mean is known.
func (s Spec) meanVariance() float64 {
	if s.Centred {
		return 0
	}
	return unknownMean
}

// priorVariance returns the prior variance of the function, which is the same at every point.
func (s Spec) priorVariance() float64 { return s.meanVariance() + 1 }

func checkPoint(x []float64, dim int) {
	if len(x) != dim {
		panic(fmt.Sprintf("gp: point of %d coordinates: the process takes %d", len(x), dim))
	}
}
