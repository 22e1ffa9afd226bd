package optprior

import (
	"math"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/task"
)

// Layout defines which coordinates of the encoded unit cube belong to numbers and which to choices.
type Layout struct {
	Dim        int
	Numbers    []int // indices of the coordinates of floats and ints
	Categories []task.Block

	space *task.Space // nil if all parameters are always active
}

// NewLayout returns the layout of a space.
func NewLayout(space *task.Space) *Layout {
	l := &Layout{Dim: space.Dim()}
	if space.Conditional() {
		l.space = space
	}
	for _, block := range space.Blocks() {
		if block.Kind == task.Categorical {
			l.Categories = append(l.Categories, block)
		} else {
			l.Numbers = append(l.Numbers, block.Start)
		}
	}
	return l
}

// Active holds, for each coordinate of a point, whether its parameter is active there. Nil means
// that all are.
type Active []bool

// At reports whether the parameter of coordinate i is active.
func (a Active) At(i int) bool { return a == nil || a[i] }

// Active returns the activity at an encoded point.
func (l *Layout) Active(x []float64) Active {
	if l.space == nil {
		return nil
	}
	parameters, active := make([]bool, l.space.Len()), make(Active, l.Dim)
	l.space.Active(parameters, x)
	for i, block := range l.space.Blocks() {
		for k := range block.Len {
			active[block.Start+k] = parameters[i]
		}
	}
	return active
}

// Normal is a weighted normal distribution, truncated to the unit cube and prepared for evaluation.
// All densities are relative to the uniform density on the designs.
//
// A parameter that is inactive at the centre, or at the point of evaluation, has the factor 1, its
// uniform density. So designs of another branch of a conditional space get the density of the
// parameters that both branches have.
type Normal struct {
	level     float64   // logarithm of the weight and of the constants of all parameters that are active at the centre
	precision float64   // 1/spread²
	centre    []float64 // encoded
	active    Active    // at the centre
	constants []float64 // by number: logarithm of its normalising constant
	same      []float64 // by categorical parameter: density of the centre's choice
	other     []float64 // by categorical parameter: density of each other choice
}

// NewNormal returns the normal around an encoded design, with standard deviation spread in every
// coordinate.
func NewNormal(l *Layout, weight, spread float64, centre []float64) Normal {
	c := Normal{level: math.Log(weight), precision: 1 / (spread * spread), centre: centre, active: l.Active(centre)}
	scale := 1 / (math.Sqrt2 * spread)
	for _, i := range l.Numbers {
		// Both terms are positive, since the centre lies in the unit interval. So there is no
		// cancellation.
		inside := (math.Erf(scale*(1-centre[i])) + math.Erf(scale*centre[i])) / 2
		constant := math.Log(spread*math.Sqrt(2*math.Pi)) + math.Log(inside)
		c.constants = append(c.constants, constant)
		if c.active.At(i) {
			c.level -= constant
		}
	}
	for _, block := range l.Categories {
		choices := float64(block.Len)
		inMiddle := math.Erf(scale/2/choices) / math.Erf(scale/2)
		c.same = append(c.same, choices*inMiddle)
		c.other = append(c.other, choices*(1-inMiddle)/max(choices-1, 1))
	}
	return c
}

// Log returns the logarithm of weight times density at x, which may be -Inf. In the coordinates of
// a categorical parameter the density is linear, so it is also defined between the choices.
func (c *Normal) Log(l *Layout, x []float64) float64 { return c.log(l, x, l.Active(x)) }

// log is Log with the activity at x.
func (c *Normal) log(l *Layout, x []float64, here Active) float64 {
	square, level := 0.0, c.level
	for k, i := range l.Numbers {
		switch {
		case !c.active.At(i):
		case !here.At(i):
			level += c.constants[k]
		default:
			d := x[i] - c.centre[i]
			square += d * d
		}
	}
	value := level - c.precision*square/2
	for k, block := range l.Categories {
		if c.active.At(block.Start) && here.At(block.Start) {
			value += math.Log(c.choice(k, block, x))
		}
	}
	return value
}

// choice returns the factor of the density at x for categorical parameter k.
func (c *Normal) choice(k int, block task.Block, x []float64) float64 {
	density := 0.0
	for i := block.Start; i < block.Start+block.Len; i++ {
		density += c.at(k, i) * x[i]
	}
	return density
}

// at returns the density of the choice at coordinate i, which belongs to categorical parameter k.
func (c *Normal) at(k, i int) float64 {
	if c.centre[i] == 1 {
		return c.same[k]
	}
	return c.other[k]
}

// addGradient adds factor times the gradient of Log at x to grad. Log must be finite there.
func (c *Normal) addGradient(grad []float64, l *Layout, x []float64, here Active, factor float64) {
	for _, i := range l.Numbers {
		if c.active.At(i) && here.At(i) {
			grad[i] -= factor * c.precision * (x[i] - c.centre[i])
		}
	}
	for k, block := range l.Categories {
		if !c.active.At(block.Start) || !here.At(block.Start) {
			continue
		}
		perChoice := factor / c.choice(k, block, x)
		for i := block.Start; i < block.Start+block.Len; i++ {
			grad[i] += perChoice * c.at(k, i)
		}
	}
}

// Mixture is a density over the designs: a mixture of normals. It is immutable.
type Mixture struct {
	layout     *Layout
	components []Normal // at most protocol.MaxComponents
}

// NewMixture returns the mixture that a shared density describes. Its centres must be points of the
// space.
func NewMixture(l *Layout, space *task.Space, d protocol.Density) *Mixture {
	m := &Mixture{layout: l}
	for _, c := range d.Components {
		m.components = append(m.components, NewNormal(l, c.Weight, c.Std, c.Center.Encoded(space)))
	}
	return m
}

// Around returns a mixture of a single normal around an encoded design.
func Around(l *Layout, spread float64, x []float64) *Mixture {
	return &Mixture{layout: l, components: []Normal{NewNormal(l, 1, spread, x)}}
}

// Value returns the logarithm of the density at x, which may be -Inf.
func (m *Mixture) Value(x []float64) float64 {
	var each Logs
	return m.Log(&each, x)
}

// Gradient fills grad with the gradient of Value, 0 where the density is 0, and returns the value.
func (m *Mixture) Gradient(grad, x []float64) float64 {
	clear(grad)
	var each Logs
	total := m.Log(&each, x)
	if !math.IsInf(total, -1) {
		m.AddGradient(grad, x, &each, total, 1)
	}
	return total
}

// Centres returns the encoded centres of the normals. Callers must not change them.
func (m *Mixture) Centres() (all [][]float64) {
	for _, c := range m.components {
		all = append(all, c.centre)
	}
	return all
}

// Logs holds the logarithms of the components at one point.
type Logs [protocol.MaxComponents]float64

// Log returns the logarithm of the density at x, which may be -Inf. It fills each with the
// logarithms of the components.
func (m *Mixture) Log(each *Logs, x []float64) float64 {
	largest, here := math.Inf(-1), m.layout.Active(x)
	for k := range m.components {
		each[k] = m.components[k].log(m.layout, x, here)
		largest = max(largest, each[k])
	}
	if math.IsInf(largest, -1) || len(m.components) == 1 {
		return largest
	}
	sum := 0.0
	for _, v := range each[:len(m.components)] {
		sum += math.Exp(v - largest)
	}
	return largest + math.Log(sum)
}

// AddGradient adds factor times the gradient of Log at x to grad. total and each must be the
// results of Log at x. If total is -Inf, factor must be 0.
func (m *Mixture) AddGradient(grad, x []float64, each *Logs, total, factor float64) {
	if factor == 0 {
		return
	}
	here := m.layout.Active(x)
	for k := range m.components {
		share := 1.0
		if each[k] != total {
			share = math.Exp(each[k] - total)
		}
		if share > 0 {
			m.components[k].addGradient(grad, m.layout, x, here, factor*share)
		}
	}
}
