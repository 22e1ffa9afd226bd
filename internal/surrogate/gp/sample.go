package gp

import (
	"context"
	"math"
	"math/rand/v2"
)

// Constants of Sample: the numbers of observations and sweeps, and the search for the slice.
const (
	maxSampled = 100 // largest number of observations used; a random subset if there are more

	sweeps    = 2   // sweeps over all hyperparameters from one draw to the next
	sliceStep = 1.0 // initial width of a slice, in the logarithm of the hyperparameter
	maxSteps  = 8   // largest number of steps by which a slice is widened
	shrinks   = 30  // largest number of times a slice shrinks; after that the hyperparameter keeps its value
)

// Sample returns count draws of hyperparameters given outputs y (length t >= 1) at the points x (t
// rows). The density of their logarithms is proportional to the density that Fit maximises (or
// FitUnder with start.Prior), so both have the same mode. The standard priors are stated as
// densities of the parameters themselves. Draws under those would need one more factor per
// parameter. Their lengthscales are several times as long as those of Fit, and the acquisition
// function then misses many improvements.
//
// Sample runs a Markov chain from start. The chain uses slice sampling, one logarithm after the
// other (Neal, "Slice Sampling", Annals of Statistics, 2003, figures 3 and 5), with two sweeps per
// draw. With more than 100 observations it uses a random subset of 100, because each step evaluates
// several densities. Like Fit it keeps lengthscales above 0.025 and the noise above 1e-4; a start
// below these floors is moved to them.
//
// The result depends only on the arguments and rng. If ctx ends first, Sample returns the error of
// ctx.
//
// extra has the variance of the error of each output besides the noise; nil means none.
func Sample(ctx context.Context, spec Spec, x [][]float64, y, extra []float64, start Hyperparameters, count int, rng *rand.Rand) ([]Hyperparameters, error) {
	if err := checkExtra(spec, x, y, extra); err != nil {
		return nil, err
	}
	if err := start.validate(spec); err != nil {
		return nil, err
	}
	c := &chain{evidence: newUnequalEvidence(spec, x, y, extra, maxSampled, rng), rng: rng}
	c.evidence.prior = start.Prior
	for _, l := range start.Lengthscales {
		c.at = append(c.at, math.Log(max(l, lengthscaleFloor)))
	}
	c.at = append(c.at, math.Log(max(start.Noise, NoiseFloor)))
	c.value = c.density()
	draws := make([]Hyperparameters, count)
	for i := range draws {
		for range sweeps {
			for k := range c.at {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				c.step(k)
			}
		}
		draws[i] = c.hyperparameters()
	}
	return draws, nil
}

// chain is the state of the Markov chain.
type chain struct {
	evidence *evidence
	rng      *rand.Rand
	at       []float64 // current logarithms of the hyperparameters
	value    float64   // log density at the current point
}

func (c *chain) hyperparameters() Hyperparameters {
	h := Hyperparameters{Lengthscales: make([]float64, len(c.at)-1), Noise: math.Exp(c.at[len(c.at)-1]), Prior: c.evidence.prior}
	for g := range h.Lengthscales {
		h.Lengthscales[g] = math.Exp(c.at[g])
	}
	return h
}

// density returns the log density at the current point, up to a constant. It returns -Inf below the
// floors of Fit.
func (c *chain) density() float64 {
	for g, v := range c.at {
		floor := lengthscaleFloor
		if g == len(c.at)-1 {
			floor = NoiseFloor
		}
		if !(v >= math.Log(floor)) || v > logLimit {
			return math.Inf(-1)
		}
	}
	value, err := c.evidence.logDensity(c.hyperparameters())
	if err != nil {
		return math.Inf(-1)
	}
	return value
}

// step replaces coordinate k by a draw from its slice.
func (c *chain) step(k int) {
	from := c.at[k]
	level := c.value - c.rng.ExpFloat64()
	low := from - sliceStep*c.rng.Float64()
	high := low + sliceStep
	below := c.rng.IntN(maxSteps + 1)
	for range below {
		if c.try(k, low) <= level {
			break
		}
		low -= sliceStep
	}
	for range maxSteps - below {
		if c.try(k, high) <= level {
			break
		}
		high += sliceStep
	}
	for range shrinks {
		to := low + (high-low)*c.rng.Float64()
		if value := c.try(k, to); value > level {
			c.value = value
			return
		}
		if to < from {
			low = to
		} else {
			high = to
		}
	}
	c.at[k] = from
}

func (c *chain) try(k int, to float64) float64 {
	c.at[k] = to
	return c.density()
}
