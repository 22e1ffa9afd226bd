package gp

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/recoverpanic"
)

// patience is a context that ends after so many looks at it.
type patience struct {
	context.Context
	left, after int
}

func (p *patience) Err() error {
	if p.left--; p.left >= 0 {
		return nil
	}
	p.after++
	return context.Canceled
}

func TestFitEndsWithItsContext(t *testing.T) {
	spec := separate(Matern52, 2)
	rng := random.SeedOf(3).Stream("t", 0)
	x := uniformPoints(40, 2, rng)
	y := priorDraw(spec, Hyperparameters{Lengthscales: []float64{0.2, 2}}, x, rng)
	for _, looks := range []int{0, 1, 7, 30} {
		ctx := &patience{Context: t.Context(), left: looks}
		if h, err := Fit(ctx, spec, x, y, nil, rng); !errors.Is(err, context.Canceled) || len(h.Lengthscales) > 0 {
			t.Errorf("after %d looks: %+v, %v", looks, h, err)
		}
		if ctx.after > 3 {
			t.Errorf("after %d looks Fit looked %d times more", looks, ctx.after)
		}
	}
}

// The optimiser evaluates the density on a goroutine of its own, where nobody could
// contain a panic.
func TestAPanicOfTheDensityReachesTheCaller(t *testing.T) {
	start := []float64{0, 0}
	o := &objective{density: (*evidence)(nil), theta: start, value: 1, gradient: []float64{1, 1}} // all other places panic
	_, err := recoverpanic.Call("the surrogate", func() (float64, error) {
		_, value, err := o.descend(t.Context(), start)
		return value, err
	})
	var p *recoverpanic.Panic
	if !errors.As(err, &p) || !strings.Contains(string(p.Stack), "logPosterior") {
		t.Fatalf("%v", err)
	}
}
