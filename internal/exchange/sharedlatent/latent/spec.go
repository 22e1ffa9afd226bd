package latent

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/fbo-node/fbo/internal/radial"
)

// Spec defines the common process. It is the same for all agents of a task.
type Spec struct {
	Kernel  string      // kernel of the own processes: radial.Matern52 or radial.SE
	Groups  []int       // Groups[i] is the index of the lengthscale of coordinate i, from 0 without gaps
	Points  [][]float64 // the points Z, 1 to MaxPoints
	Latents int         // number Q of latent functions, 1 to MaxLatents

	// Own means that each agent's function has a part of its own, and that predictions condition
	// exactly on the agent's own observations. Without Own the method is that of the paper.
	Own bool
}

// MaxPoints and MaxLatents are the largest sizes of a Spec.
const (
	MaxPoints  = 100
	MaxLatents = 4
)

const (
	jitter       = 1e-6 // variance that is added to the values u, for numerical stability
	noiseFloor   = 1e-4
	meanVariance = 4.0 // prior variance of the own process's constant mean
)

// Validate returns an error if the spec is invalid. The error contains the invalid value and the
// accepted ones.
func (s Spec) Validate() error {
	if s.Kernel != radial.Matern52 && s.Kernel != radial.SE {
		return fmt.Errorf("kernel %q: must be %q or %q", s.Kernel, radial.Matern52, radial.SE)
	}
	if len(s.Groups) == 0 {
		return errors.New("groups: one is needed for every coordinate, have none")
	}
	for g := range s.groups() {
		if !slices.Contains(s.Groups, g) {
			return fmt.Errorf("group %d has no coordinate", g)
		}
	}
	if slices.Min(s.Groups) < 0 {
		return fmt.Errorf("group %d: must be 0 or more", slices.Min(s.Groups))
	}
	if len(s.Points) < 1 || len(s.Points) > MaxPoints {
		return fmt.Errorf("%d points: must be 1 to %d", len(s.Points), MaxPoints)
	}
	for i, z := range s.Points {
		if err := s.checkPoint(z); err != nil {
			return fmt.Errorf("point %d of the latent functions: %w", i, err)
		}
	}
	if s.Latents < 1 || s.Latents > MaxLatents {
		return fmt.Errorf("%d latent functions: must be 1 to %d", s.Latents, MaxLatents)
	}
	return nil
}

func (s Spec) checkPoint(x []float64) error {
	if len(x) != len(s.Groups) {
		return fmt.Errorf("%d coordinates: the process takes %d", len(x), len(s.Groups))
	}
	for _, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("coordinate %g: must be finite", v)
		}
	}
	return nil
}

func (s Spec) checkObservations(x [][]float64, y []float64) error {
	if len(x) != len(y) {
		return fmt.Errorf("%d points but %d outputs", len(x), len(y))
	}
	for i := range x {
		if err := s.checkPoint(x[i]); err != nil {
			return fmt.Errorf("observation %d: %w", i, err)
		}
		if math.IsNaN(y[i]) || math.IsInf(y[i], 0) {
			return fmt.Errorf("observation %d: output %g: must be finite", i, y[i])
		}
	}
	return nil
}

// groups returns the number of groups of coordinates with a common lengthscale.
func (s Spec) groups() int { return slices.Max(s.Groups) + 1 }

// size returns the length of u: the number of latent functions times the number of points.
func (s Spec) size() int { return s.Latents * len(s.Points) }

// Hyperparameters holds the hyperparameters of one agent. Statements contain only Latent.
type Hyperparameters struct {
	Latent    [][]float64 `json:"latent"`    // squared lengthscales of each latent function, one per group
	Smoothing [][]float64 `json:"smoothing"` // variances of the densities that smooth each latent function, one per group
	Gains     []float64   `json:"gains"`     // gain S of each latent function, of either sign
	Noise     float64     `json:"noise"`     // variance of the noise of an observation

	// Hyperparameters of the own process. They are 0 and nil without Spec.Own.
	Own          float64   `json:"own,omitempty"` // variance of the own process
	Lengthscales []float64 `json:"lengthscales,omitempty"`
}

func (h Hyperparameters) validate(s Spec) error {
	for name, rows := range map[string][][]float64{"latent": h.Latent, "smoothing": h.Smoothing} {
		if len(rows) != s.Latents {
			return fmt.Errorf("%s has %d rows: there are %d latent functions", name, len(rows), s.Latents)
		}
		for _, row := range rows {
			if err := positive(name, row, s.groups()); err != nil {
				return err
			}
		}
	}
	if len(h.Gains) != s.Latents {
		return fmt.Errorf("%d gains: there are %d latent functions", len(h.Gains), s.Latents)
	}
	for _, v := range h.Gains {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("gain %g: must be finite", v)
		}
	}
	scalars := []float64{h.Noise}
	if s.Own {
		scalars = append(scalars, h.Own)
		if err := positive("lengthscales", h.Lengthscales, s.groups()); err != nil {
			return err
		}
	}
	return positive("noise and own variance", scalars, len(scalars))
}

func positive(name string, values []float64, count int) error {
	if len(values) != count {
		return fmt.Errorf("%s has %d values: must be %d", name, len(values), count)
	}
	for _, v := range values {
		if !(v > 0) || math.IsInf(v, 1) {
			return fmt.Errorf("%s has %g: must be positive and finite", name, v)
		}
	}
	return nil
}
