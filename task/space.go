package task

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Space is the search space of a task: an ordered list of parameters, and the
// map between designs and points of the unit cube on which surrogates and
// acquisition functions work. It is immutable and safe for concurrent use.
//
// The cube has one coordinate per float or int and a one-hot block per categorical
// or bool, with a coordinate for each choice, and for false and true. The order of
// parameters and of choices is part of the space.
//
// Every combination of the parameters' values is a design. With a [Listing] only the listed ones are.
type Space struct {
	parameters []Parameter
	index      map[string]int // name -> position in parameters
	blocks     []Block
	axes       []axis    // one per parameter; used for floats of any value
	grids      []grid    // one per parameter; used for other numbers with an order
	listed     [][]Value // one per parameter; used for one-hot blocks
	dim        int
	listing    *Listing // nil when every combination is a design
	whole      *Space   // the task's space, if this one has only the designs that one node can evaluate; else nil
}

// Block is the part of an encoded point that belongs to one parameter:
// coordinates Start to Start+Len-1.
type Block struct {
	Start, Len int

	// Kind defines the meaning of the coordinates. Float is one coordinate, any of [0, 1].
	// Int is one coordinate with Count possible values, also for floats in steps and listed
	// numbers. Categorical is one-hot, also for bools. The two values of a bool are unordered
	// like those of a categorical with two choices, and have the same lengthscale.
	Kind Kind

	Count int64 // number of the parameter's values; 0 for Float
}

// NewSpace returns the space of the parameters, or an error that joins all errors in
// them. It accepts 1 to 100 parameters, with names that differ in more than upper and
// lower case.
func NewSpace(parameters []Parameter) (*Space, error) {
	if n := len(parameters); n < 1 || n > maxParameters {
		return nil, fmt.Errorf("task: %d parameters given; accepted: 1 to %d", n, maxParameters)
	}
	var all []error
	folded := map[string]string{}
	for _, p := range parameters {
		for _, problem := range p.problems() {
			all = append(all, fmt.Errorf("task: parameter %s: %s", quote(p.Name), problem.message))
		}
		if message := checkRepeated(folded, p.Name); message != "" {
			all = append(all, fmt.Errorf("task: parameter %s: %s", quote(p.Name), message))
		}
	}
	if len(all) > 0 {
		return nil, errors.Join(all...)
	}
	s := &Space{index: map[string]int{}}
	for i, p := range parameters {
		s.add(i, p.clone())
	}
	return s, nil
}

// checkRepeated returns an error message if a name is in folded, and otherwise adds it. Names that
// differ only in case would collide as environment variables.
func checkRepeated(folded map[string]string, name string) string {
	key := strings.ToUpper(name)
	first, taken := folded[key]
	switch {
	case !taken:
		folded[key] = name
		return ""
	case first == name:
		return "the name is repeated"
	}
	return fmt.Sprintf("the name differs from %q only in upper and lower case; both would be the environment variable FBO_PARAM_%s", first, key)
}

func (s *Space) add(i int, p Parameter) {
	block := Block{Start: s.dim, Len: 1}
	p = p.normalised()
	var a axis
	var g grid
	var listed []Value
	switch {
	case p.Kind == Categorical || p.Kind == Bool:
		listed = p.listed()
		block.Kind, block.Len, block.Count = Categorical, len(listed), int64(len(listed))
	case p.Kind == Float && p.Step == 0 && p.Numbers == nil:
		a, block.Kind = newAxis(p.Low, p.High, p.Scale), Float
	default:
		g = newGrid(p)
		block.Kind, block.Count = Int, g.count
	}
	s.index[p.Name] = i
	s.parameters = append(s.parameters, p)
	s.blocks = append(s.blocks, block)
	s.axes = append(s.axes, a)
	s.grids = append(s.grids, g)
	s.listed = append(s.listed, listed)
	s.dim += block.Len
}

// normalised returns the unique form of a valid parameter, so that equal spaces have equal canonical
// forms.
func (p Parameter) normalised() Parameter {
	for i, v := range p.Numbers {
		p.Numbers[i] = FloatValue(v).float
	}
	switch {
	case p.Kind != Float && p.Kind != Int:
		return p
	case p.Numbers != nil:
		p.Low, p.High = p.Numbers[0], p.Numbers[len(p.Numbers)-1]
		return p
	case p.Scale == "":
		p.Scale = Linear
	}
	p.Low, p.High = FloatValue(p.Low).float, FloatValue(p.High).float
	if p.Kind == Int && p.Step == 1 {
		p.Step = 0
	}
	if p.Step != 0 {
		g := newGrid(p)
		p.High = g.value(g.count - 1).size()
	}
	return p
}

// Parameters returns a copy of the parameters, in order.
func (s *Space) Parameters() []Parameter {
	all := make([]Parameter, len(s.parameters))
	for i, p := range s.parameters {
		all[i] = p.clone()
	}
	return all
}

// Len returns the number of parameters.
func (s *Space) Len() int { return len(s.parameters) }

// Dim returns the number of coordinates of an encoded design.
func (s *Space) Dim() int { return s.dim }

// Blocks returns which coordinates belong to which parameter, in order.
func (s *Space) Blocks() []Block { return slices.Clone(s.blocks) }

// Encode returns the point of d in the unit cube, of length Dim. It panics if d is not a design of
// this space (see Check).
func (s *Space) Encode(d Design) []float64 {
	if d.space != s {
		if err := s.Check(d); err != nil {
			panic(err)
		}
	}
	return s.encode(d.values)
}

func (s *Space) encode(values []Value) []float64 {
	u := make([]float64, s.dim)
	for i, v := range values {
		block := s.blocks[i]
		switch block.Kind {
		case Float:
			u[block.Start] = s.axes[i].encode(v.float)
		case Int:
			k, _ := s.grids[i].number(v)
			u[block.Start] = s.grids[i].coordinate(k)
		case Categorical:
			u[block.Start+slices.Index(s.listed[i], v)] = 1
		}
	}
	return u
}

// Decode returns the design at u, which must have length Dim; otherwise it panics. Any u
// gives a valid design: coordinates outside [0, 1] move to the nearer end, and NaN
// counts as the lowest number (a bound, and never a category's maximum). A coordinate of
// 0 gives exactly low, 1 exactly high. A category is the largest coordinate of its block,
// the first of equals.
//
// Decoded floats are on a fine decimal grid, so that for v = Decode(u), Decode(Encode(v))
// is exactly v. A design with values off the grid (NewDesign, ParseDesign) keeps its
// values. Encode returns its exact point, and only Decode would round it.
//
// With a Listing the design is the listed one whose encoding has the smallest Euclidean
// distance from u, the first of equals, with the listed values.
func (s *Space) Decode(u []float64) Design {
	s.checkDim(u)
	if l := s.present(); l != nil {
		return l.Design(l.nearest(clamped(u)))
	}
	values := make([]Value, len(s.parameters))
	for i, block := range s.blocks {
		switch block.Kind {
		case Float:
			values[i] = FloatValue(s.axes[i].decode(u[block.Start]))
		case Int:
			values[i] = s.grids[i].value(s.grids[i].index(u[block.Start]))
		case Categorical:
			values[i] = s.listed[i][largest(u[block.Start:block.Start+block.Len])]
		}
	}
	return Design{space: s, values: values}
}

// Snap changes u, of length Dim, in place to the encoding of a valid design. Coordinates of
// Kind Int move to one of their Count values, categories become one-hot, and floats move
// into [0, 1]. Snap does not round floats to Decode's decimal grid. It treats NaN and values
// outside [0, 1] like Decode, and does not allocate. With a Listing it changes u to the
// encoding of Decode's design, and may allocate.
func (s *Space) Snap(u []float64) {
	s.checkDim(u)
	if l := s.present(); l != nil {
		l.Encode(u, l.nearest(clamped(u)))
		return
	}
	for i, block := range s.blocks {
		switch block.Kind {
		case Float:
			if x := u[block.Start]; !(x > 0) {
				u[block.Start] = 0
			} else if x > 1 {
				u[block.Start] = 1
			}
		case Int:
			g := &s.grids[i]
			u[block.Start] = g.coordinate(g.index(u[block.Start]))
		case Categorical:
			part := u[block.Start : block.Start+block.Len]
			chosen := largest(part)
			clear(part)
			part[chosen] = 1
		}
	}
}

// Place returns the coordinate of value number k, from 0, of a parameter whose block has Kind Int.
func (s *Space) Place(parameter int, k int64) float64 { return s.grids[parameter].coordinate(k) }

// Number returns the number, from 0, of the value at coordinate u for a parameter whose block has Kind
// Int, as in Decode.
func (s *Space) Number(parameter int, u float64) int64 { return s.grids[parameter].index(u) }

// clamped returns u within the cube.
func clamped(u []float64) []float64 {
	inside := make([]float64, len(u))
	for i, x := range u {
		if x > 0 { // not NaN
			inside[i] = math.Min(x, 1)
		}
	}
	return inside
}

func (s *Space) checkDim(u []float64) {
	if len(u) != s.dim {
		panic(fmt.Sprintf("task: a point of %d coordinates given; the space has %d", len(u), s.dim))
	}
}

// largest returns the index of the largest number, the first of equals. NaN is
// below all numbers.
func largest(u []float64) int {
	best, value := 0, math.Inf(-1)
	for i, x := range u {
		if x > value {
			best, value = i, x
		}
	}
	return best
}

// Finite returns the number of designs if they are listed, or if all parameters have finitely many
// values (no float without a step) and there are at most 1<<20 designs. Otherwise ok is false.
func (s *Space) Finite() (count int, ok bool) {
	if s.listing != nil {
		return s.listing.count, true
	}
	const most = 1 << 20
	all := int64(1)
	for _, block := range s.blocks {
		if block.Kind == Float || block.Count > most || all*block.Count > most {
			return 0, false
		}
		all *= block.Count
	}
	return int(all), true
}
