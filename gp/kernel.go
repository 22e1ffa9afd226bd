package gp

import (
	"fmt"
	"math"
)

// The kernels.
const (
	Matern52 = "matern52"
	SE       = "se" // squared exponential
)

// Spec says which process.
type Spec struct {
	Kernel string // Matern52 or SE
	// Groups[i] is the index of the lengthscale of coordinate i. Indices start
	// at 0 and leave none out. The coordinates of a one-hot category share one,
	// which makes the kernel one of equal and unequal choices.
	Groups []int
}

func (s Spec) validate() error {
	if s.Kernel != Matern52 && s.Kernel != SE {
		return fmt.Errorf("gp: kernel %q: must be %q or %q", s.Kernel, Matern52, SE)
	}
	if len(s.Groups) == 0 {
		return fmt.Errorf("gp: groups: one is needed for every coordinate, have none")
	}
	used := make([]bool, len(s.Groups))
	for i, g := range s.Groups {
		if g < 0 || g >= len(s.Groups) {
			return fmt.Errorf("gp: group %d of coordinate %d: must be in [0, %d)", g, i, len(s.Groups))
		}
		used[g] = true
	}
	for g := range s.lengthscales() {
		if !used[g] {
			return fmt.Errorf("gp: group %d has no coordinate", g)
		}
	}
	return nil
}

// lengthscales is the number of groups.
func (s Spec) lengthscales() int {
	highest := -1
	for _, g := range s.Groups {
		highest = max(highest, g)
	}
	return highest + 1
}

// Hyperparameters are the learned part of the process.
type Hyperparameters struct {
	Lengthscales []float64 `json:"lengthscales"` // one per group, in units of the cube's side
	Noise        float64   `json:"noise"`        // variance, in units of the standardised outputs
}

func (h Hyperparameters) validate(s Spec) error {
	if len(h.Lengthscales) != s.lengthscales() {
		return fmt.Errorf("gp: %d lengthscales: the process has %d groups", len(h.Lengthscales), s.lengthscales())
	}
	for g, l := range h.Lengthscales {
		if !(l > 0) || math.IsInf(l, 1) {
			return fmt.Errorf("gp: lengthscale %g of group %d: must be positive and finite", l, g)
		}
	}
	if !(h.Noise > 0) || math.IsInf(h.Noise, 1) {
		return fmt.Errorf("gp: noise %g: must be positive and finite", h.Noise)
	}
	return nil
}

// evaluate returns the kernel at the squared scaled distance, and slope, minus
// twice its derivative by that square. Then dk/dx_i = -slope (x_i-y_i)/l_i² and
// dk/dln l_g = slope times the group's part of the square.
func evaluate(kernel string, square float64) (k, slope float64) {
	if kernel == SE {
		k = math.Exp(-0.5 * square)
		return k, k
	}
	root := math.Sqrt(5 * square)
	decay := math.Exp(-root)
	return (1 + root + root*root/3) * decay, 5.0 / 3 * (1 + root) * decay
}

// metric measures scaled distances between points.
type metric struct {
	kernel  string
	inverse []float64 // per coordinate, 1/lengthscale
}

func newMetric(s Spec, h Hyperparameters) metric {
	m := metric{kernel: s.Kernel, inverse: make([]float64, len(s.Groups))}
	for i, g := range s.Groups {
		m.inverse[i] = 1 / h.Lengthscales[g]
	}
	return m
}

func (m metric) between(x, y []float64) (k, slope float64) {
	square := 0.0
	for i, inverse := range m.inverse {
		d := (x[i] - y[i]) * inverse
		square += d * d
	}
	return evaluate(m.kernel, square)
}

func (m metric) checkPoint(x []float64) {
	if len(x) != len(m.inverse) {
		panic(fmt.Sprintf("gp: point of %d coordinates: the process takes %d", len(x), len(m.inverse)))
	}
}
