package density

import (
	"math"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/task"
)

// layout says which coordinates of the cube are numbers and which are choices.
type layout struct {
	dim        int
	numbers    []int // coordinates of floats and ints
	categories []task.Block
}

func newLayout(space *task.Space) *layout {
	l := &layout{dim: space.Dim()}
	for _, block := range space.Blocks() {
		if block.Kind == task.Categorical {
			l.categories = append(l.categories, block)
		} else {
			l.numbers = append(l.numbers, block.Start)
		}
	}
	return l
}

// component is a weighted normal, made ready to evaluate. All densities are
// relative to the uniform one on the designs.
type component struct {
	level     float64   // logarithm of the weight and of all that normalises the numbers
	precision float64   // 1/spread²
	centre    []float64 // encoded
	same      []float64 // per categorical: the density of the centre's choice
	other     []float64 // and that of every other one
}

func newComponent(l *layout, weight, spread float64, centre []float64) component {
	c := component{level: math.Log(weight), precision: 1 / (spread * spread), centre: centre}
	scale := 1 / (math.Sqrt2 * spread)
	for _, i := range l.numbers {
		// Of a normal around a point of the unit interval both terms are positive,
		// so that nothing cancels.
		inside := (math.Erf(scale*(1-centre[i])) + math.Erf(scale*centre[i])) / 2
		c.level -= math.Log(spread*math.Sqrt(2*math.Pi)) + math.Log(inside)
	}
	for _, block := range l.categories {
		choices := float64(block.Len)
		inMiddle := math.Erf(scale/2/choices) / math.Erf(scale/2)
		c.same = append(c.same, choices*inMiddle)
		c.other = append(c.other, choices*(1-inMiddle)/(choices-1))
	}
	return c
}

// log returns the logarithm of weight times density at x, which may be -Inf. In a
// categorical block the density is linear, and so defined between the choices
// too.
func (c *component) log(l *layout, x []float64) float64 {
	square := 0.0
	for _, i := range l.numbers {
		d := x[i] - c.centre[i]
		square += d * d
	}
	value := c.level - c.precision*square/2
	for k, block := range l.categories {
		value += math.Log(c.choice(k, block, x))
	}
	return value
}

// choice returns the density of categorical k at x.
func (c *component) choice(k int, block task.Block, x []float64) float64 {
	density := 0.0
	for i := block.Start; i < block.Start+block.Len; i++ {
		density += c.at(k, i) * x[i]
	}
	return density
}

// at returns the density of the choice at coordinate i, which is one of
// categorical k.
func (c *component) at(k, i int) float64 {
	if c.centre[i] == 1 {
		return c.same[k]
	}
	return c.other[k]
}

// addGradient adds factor times the gradient of log, which must be finite.
func (c *component) addGradient(grad []float64, l *layout, x []float64, factor float64) {
	for _, i := range l.numbers {
		grad[i] -= factor * c.precision * (x[i] - c.centre[i])
	}
	for k, block := range l.categories {
		perChoice := factor / c.choice(k, block, x)
		for i := block.Start; i < block.Start+block.Len; i++ {
			grad[i] += perChoice * c.at(k, i)
		}
	}
}

// mixture is a density. It is immutable.
type mixture struct {
	layout     *layout
	components []component // at most protocol.MaxComponents
}

// newMixture reads a density whose centres are points of the space.
func newMixture(l *layout, space *task.Space, d protocol.Density) *mixture {
	m := &mixture{layout: l}
	for _, c := range d.Components {
		m.components = append(m.components, newComponent(l, c.Weight, c.Spread, c.Centre.Encoded(space)))
	}
	return m
}

// logs are the logarithms of the components at one point.
type logs [protocol.MaxComponents]float64

// log returns the logarithm of the density at x, which may be -Inf, and fills in
// those of the components.
func (m *mixture) log(each *logs, x []float64) float64 {
	largest := math.Inf(-1)
	for k := range m.components {
		each[k] = m.components[k].log(m.layout, x)
		largest = max(largest, each[k])
	}
	if math.IsInf(largest, -1) {
		return largest
	}
	sum := 0.0
	for _, v := range each[:len(m.components)] {
		sum += math.Exp(v - largest)
	}
	return largest + math.Log(sum)
}

// addGradient adds factor times the gradient of log, which has returned total and
// each. Where total is -Inf the factor must be 0.
func (m *mixture) addGradient(grad, x []float64, each *logs, total, factor float64) {
	if factor == 0 {
		return
	}
	for k := range m.components {
		if share := math.Exp(each[k] - total); share > 0 {
			m.components[k].addGradient(grad, m.layout, x, factor*share)
		}
	}
}
