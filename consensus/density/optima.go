package density

import (
	"math"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/normal"
	"github.com/fbo-node/fbo/internal/optprior"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/task"
)

// optimaDensity is the joint density of the optimum by the shares of n peers whose centres have
// noise. It is the logarithm of
//
//	Π_j p(told_j | x)^(k/n),   k = min(n, (s/spread)²)
//
// where told_j is the released centre of peer j and s the standard deviation of noise and spread
// together. p(told_j | x) is the probability of that centre if the optimum is at x. For a numeric
// coordinate it is a normal density. If the noise moved the coordinate to an end of the unit
// interval, it is the probability of reaching or passing that end. The exponent k/n makes the
// product as narrow as with n independent noises, but never narrower than the density of one peer
// without noise. With k = n, the spread would count as independent between peers too.
//
// A parameter that is inactive at x, or by the released centre, has a constant factor: the average
// over its values.
//
// With k = 1 the product would be the geometric mean of the densities. It would be as wide as one
// noise for any number of peers.
type optimaDensity struct {
	layout  *optprior.Layout
	spread  float64 // s
	power   float64 // k/n
	centres [][]float64
	active  []optprior.Active // of the centres
	even    [][]float64       // by centre and number: value of number if it is inactive at x, its logarithm averaged over x
	right   []float64         // by categorical parameter: the probability that the released choice is the choice at x
	wrong   []float64         // by categorical parameter: the probability of each other choice
}

var _ acquisition.Function = (*optimaDensity)(nil)

// newOptimaDensity returns the joint density of the released densities. told must not be empty.
// Each density has one component, and all have the same spread, at least that of the task.
func newOptimaDensity(l *optprior.Layout, t *task.Task, told []protocol.Density) *optimaDensity {
	spread := shapeOf(t).Spread
	c := &optimaDensity{layout: l, spread: told[0].Components[0].Std}
	n := float64(len(told))
	c.power = min(n, c.spread*c.spread/(spread*spread)) / n
	for _, d := range told {
		centre := d.Components[0].Center.Encoded(t.Space)
		c.centres, c.active = append(c.centres, centre), append(c.active, l.Active(centre))
		c.even = append(c.even, c.averages(centre))
	}
	sigma := math.Sqrt(max(c.spread*c.spread-spread*spread, 0))
	for _, block := range l.Categories {
		others := max(float64(block.Len-1), 1)
		scale := 1 / (math.Sqrt2 * spread)
		same := math.Erf(scale/2/float64(block.Len)) / math.Erf(scale/2) // as in optprior.NewNormal
		kept := keepsMaximum(block.Len, sigma)
		right := same*kept + (1-same)*(1-kept)/others
		c.right = append(c.right, right)
		c.wrong = append(c.wrong, (1-right)/others)
	}
	return c
}

// keepsMaximum returns the probability that package designvector releases the true choice of a
// categorical parameter. This is the probability that 1/√2 plus a normal noise of standard
// deviation sigma exceeds choices-1 other such noises.
func keepsMaximum(choices int, sigma float64) float64 {
	if sigma == 0 {
		return 1
	}
	const ends, steps = 9, 360
	sum := 0.0
	for i := range steps {
		z := ends * (2*(float64(i)+0.5)/steps - 1)
		sum += normal.Density(z) * math.Pow(normal.CDF(z+1/(math.Sqrt2*sigma)), float64(choices-1))
	}
	return sum * 2 * ends / steps
}

// averages returns the logarithm of the average factor of each number, over its values. It is empty
// if all parameters are always active.
func (c *optimaDensity) averages(centre []float64) (logs []float64) {
	const steps = 100
	if c.layout.Active(centre) == nil {
		return nil
	}
	for _, i := range c.layout.Numbers {
		sum := 0.0
		for k := range steps {
			value, _ := c.number(centre[i], (float64(k)+0.5)/steps)
			sum += math.Exp(value) / steps
		}
		logs = append(logs, math.Log(max(sum, math.SmallestNonzeroFloat64)))
	}
	return logs
}

// Value implements acquisition.Function.
func (c *optimaDensity) Value(x []float64) float64 { return c.evaluate(nil, x) }

// Gradient implements acquisition.Function.
func (c *optimaDensity) Gradient(grad, x []float64) float64 {
	clear(grad)
	return c.evaluate(grad, x)
}

// evaluate returns the value at x, and adds the gradient to grad if that is not nil.
func (c *optimaDensity) evaluate(grad, x []float64) float64 {
	sum, here := 0.0, c.layout.Active(x)
	for j, centre := range c.centres {
		for k, i := range c.layout.Numbers {
			if !here.At(i) || !c.active[j].At(i) {
				sum += c.even[j][k]
				continue
			}
			value, slope := c.number(centre[i], x[i])
			sum += value
			if grad != nil {
				grad[i] += c.power * slope
			}
		}
		for k, block := range c.layout.Categories {
			if !here.At(block.Start) || !c.active[j].At(block.Start) {
				sum -= math.Log(float64(block.Len)) // the average of one right and Len-1 wrong choices
				continue
			}
			likely := c.choice(k, block, centre, x)
			sum += math.Log(likely)
			if grad == nil {
				continue
			}
			for i := block.Start; i < block.Start+block.Len; i++ {
				grad[i] += c.power * c.at(k, centre, i) / likely
			}
		}
	}
	return c.power * sum
}

// number returns, up to a constant, the logarithm of the probability of the released coordinate
// told if the optimum is at x. slope is its derivative with respect to x.
func (c *optimaDensity) number(told, x float64) (value, slope float64) {
	switch {
	case told <= 0:
		value, slope = normal.LogCDF(-x / c.spread)
		return value, -slope / c.spread
	case told >= 1:
		value, slope = normal.LogCDF((x - 1) / c.spread)
		return value, slope / c.spread
	}
	off := (x - told) / c.spread
	return -off * off / 2, -off / c.spread
}

// choice returns the probability of the released choice of categorical parameter k if the optimum
// is at x. It is linear in x, and thus also defined between the choices.
func (c *optimaDensity) choice(k int, block task.Block, centre, x []float64) float64 {
	likely := 0.0
	for i := block.Start; i < block.Start+block.Len; i++ {
		likely += c.at(k, centre, i) * x[i]
	}
	return likely
}

func (c *optimaDensity) at(k int, centre []float64, i int) float64 {
	if centre[i] == 1 {
		return c.right[k]
	}
	return c.wrong[k]
}

// relative returns c as a density relative to the uniform one. It normalises c by its average over
// these designs.
func (c *optimaDensity) relative(designs [][]float64) learned {
	l := learned{unnormalised: c}
	values, highest := make([]float64, len(designs)), math.Inf(-1)
	for i, x := range designs {
		values[i] = c.Value(x)
		highest = max(highest, values[i])
	}
	average := 0.0
	for _, value := range values {
		average += math.Exp(value-highest) / float64(len(designs))
	}
	l.level = highest + math.Log(average)
	return l
}
