package task

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
)

// Space is the search space of a task: an ordered list of parameters. It maps designs to points of
// the unit cube, on which surrogates and acquisition functions work, and back. It is immutable and
// safe for concurrent use.
//
// The cube has one coordinate for each float or int. A categorical has a one-hot block with a
// coordinate for each choice; a bool has a block with coordinates for false and true. The order of
// parameters and of choices is part of the space.
//
// Every combination of parameter values is a design, with three exceptions. If the space has a
// [Listing], only the listed designs are. A parameter with conditions ([Parameter.When]) has no value
// in designs in which it is inactive; its coordinates are then those of its centre, or of its first
// choice. Constraints among parameters ([Space.ParameterConstraints]) exclude designs.
type Space struct {
	parameters []Parameter
	index      map[string]int // position of each name in parameters
	blocks     []Block
	axes       []axis    // one per parameter; used for floats without steps or listed numbers
	grids      []grid    // one per parameter; used for all other ordered numbers
	listed     [][]Value // one per parameter; used for one-hot blocks
	dim        int
	listing    *Listing    // nil if every combination of values is a design
	order      []int       // positions of the parameters, parents first; nil without conditions
	rules      []rule      // constraints among parameters
	checks     *sync.Pool  // of *ruleCheck; nil without rules
	anchors    [][]float64 // some feasible designs; nil without rules
	whole      *Space      // set if this space has only the designs that one node can evaluate: the task's space; else nil
}

// Block describes the coordinates of an encoded design that belong to one parameter: Start to
// Start+Len-1.
type Block struct {
	Start, Len int

	// Kind defines the meaning of the coordinates. A Float is one coordinate, with any value in [0,
	// 1]. An Int is one coordinate with Count possible values; floats in steps and listed numbers
	// are Ints too. A Categorical is one-hot; bools are Categoricals too, since their two values
	// have no order. They have the same lengthscale as a categorical with two choices.
	Kind Kind

	Count int64 // number of possible values; 0 for Float
}

// NewSpace returns the space of the parameters, or an error that joins all their errors. It accepts
// 1 to 100 parameters. Their names must differ in more than upper and lower case, and one parameter
// must have two values.
//
// The constraints are expressions over the parameters, such as "workers * batch <= 512", which a
// design must satisfy. They have the operators + - * / % ** < <= > >= == != and or not in, cond ? a
// : b, and the functions abs, ceil, floor, max, min and round. Numbers are floats. A constraint does
// not apply to designs in which one of its parameters is inactive. There may be at most 32 of at most
// 256 characters.
func NewSpace(parameters []Parameter, constraints ...string) (*Space, error) {
	s, problems := newSpace(parameters, constraints)
	if err := problems.join(parameters); err != nil {
		return nil, err
	}
	return s, nil
}

// spaceProblems has the errors of a space's parts.
type spaceProblems struct {
	whole      []string // errors of all parameters together
	parameters map[int][]problem
	conditions []conditionProblem
	rules      []ruleProblem
}

func (p spaceProblems) join(parameters []Parameter) error {
	var all []error
	for _, message := range p.whole {
		all = append(all, fmt.Errorf("task: %s", message))
	}
	for i, parameter := range parameters {
		for _, one := range p.parameters[i] {
			all = append(all, fmt.Errorf("task: parameter %s: %s", quote(parameter.Name), one.message))
		}
	}
	for _, one := range p.conditions {
		all = append(all, fmt.Errorf("task: parameter %s: when: %s", quote(parameters[one.parameter].Name), one.message))
	}
	for _, one := range p.rules {
		all = append(all, fmt.Errorf("task: parameter_constraints: %s", one.message))
	}
	return errors.Join(all...)
}

func newSpace(parameters []Parameter, constraints []string) (*Space, spaceProblems) {
	var all spaceProblems
	if n := len(parameters); n < 1 || n > maxParameters {
		all.whole = append(all.whole, fmt.Sprintf("%d parameters, expected 1 to %d", n, maxParameters))
		return nil, all
	}
	all.parameters = map[int][]problem{}
	folded := map[string]string{}
	for i, p := range parameters {
		found := p.problems()
		if message := checkRepeated(folded, p.Name); message != "" {
			found = append(found, problem{"name", -1, message})
		}
		if len(found) > 0 {
			all.parameters[i] = found
		}
	}
	if len(all.parameters) > 0 {
		return nil, all
	}
	s := &Space{index: map[string]int{}}
	for i, p := range parameters {
		s.add(i, p.clone())
	}
	if !slices.ContainsFunc(s.blocks, func(b Block) bool { return b.Count != 1 }) {
		all.whole = append(all.whole, "every parameter has a single value; expected one with two or more")
		return nil, all
	}
	if all.conditions = s.checkConditions(); len(all.conditions) > 0 {
		return nil, all
	}
	if all.rules = s.compileRules(constraints); len(all.rules) > 0 {
		return nil, all
	}
	if message := s.findAnchors(); message != "" {
		all.rules = []ruleProblem{{-1, message}}
		return nil, all
	}
	return s, all
}

// checkRepeated adds a name to folded, or returns an error message if it is already there. Names
// that differ only in case count as equal, since they would be the same environment variable.
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
	case p.Kind == Categorical || p.Kind == Bool || p.Fixed != Value{}:
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

// normalised returns the unique form of a valid parameter, so that equal spaces have the same
// canonical form.
func (p Parameter) normalised() Parameter {
	p = p.single()
	for i, v := range p.Numbers {
		p.Numbers[i] = FloatValue(v).float
	}
	switch {
	case p.Kind != Float && p.Kind != Int || p.Fixed != Value{}:
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

// Blocks returns the blocks of coordinates, one for each parameter, in order.
func (s *Space) Blocks() []Block { return slices.Clone(s.blocks) }

// Encode returns the point in the unit cube for a design: Dim coordinates. It panics if d is not a
// design of this space (see Check).
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
		if v == (Value{}) {
			s.impute(u, i)
			continue
		}
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

// Decode returns the design at the point u. It panics if the length of u is not Dim. Any u gives a
// valid design. Coordinates below 0 count as 0, and those above 1 as 1. NaN counts as the lowest
// number: as 0 for a float or int, and never as the largest coordinate of a category. The
// coordinate 0 gives exactly the lower bound, 1 exactly the upper bound. A category is the choice
// with the largest coordinate in its block, the first of equals.
//
// Decoded floats are on a fine decimal grid. So for v = Decode(u), Decode(Encode(v)) is exactly v.
// A design from NewDesign or ParseDesign may have values off the grid. It keeps them, and Encode
// returns its exact point; only Decode would round them.
//
// With a Listing, Decode returns the listed design whose encoding has the smallest Euclidean
// distance from u, the first of equals. If the design at u violates a constraint among parameters,
// Decode returns a feasible one between u and another feasible design near u.
func (s *Space) Decode(u []float64) Design {
	s.checkDim(u)
	if l := s.present(); l != nil {
		return l.Design(l.nearest(clamped(u)))
	}
	if len(s.rules) > 0 {
		u = slices.Clone(u)
		s.Snap(u)
	}
	return Design{space: s, values: s.values(u)}
}

// Snap changes u, which has length Dim, in place to the encoding of a valid design. Coordinates of
// Kind Int move to one of their Count values, blocks of categories become one-hot, and floats move
// into [0, 1]. Coordinates of inactive parameters move to the centre, or the first choice. A design
// that violates constraints among parameters moves to the feasible one that Decode returns, for
// which Snap allocates memory. Snap does not round floats to the decimal grid of Decode. It treats NaN and values
// outside [0, 1] as Decode does, and otherwise does not allocate memory. With a Listing, u becomes
// the encoding of the design that Decode returns, and Snap may allocate memory.
func (s *Space) Snap(u []float64) {
	if !s.Settle(u) {
		s.repair(u)
	}
}

// round moves the coordinates of each parameter to those of a value.
func (s *Space) round(u []float64) {
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

// Place returns the coordinate of value number k, from 0, of a parameter. Its block must have Kind
// Int.
func (s *Space) Place(parameter int, k int64) float64 { return s.grids[parameter].coordinate(k) }

// Number returns the number, from 0, of the value to which Decode maps the coordinate u of a
// parameter. Its block must have Kind Int.
func (s *Space) Number(parameter int, u float64) int64 { return s.grids[parameter].index(u) }

// clamped returns a copy of u with all coordinates in [0, 1]. NaN becomes 0.
func clamped(u []float64) []float64 {
	inside := make([]float64, len(u))
	for i, x := range u {
		if x > 0 { // false for NaN
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

// largest returns the index of the largest number, the first of equals. NaN is smaller than all
// numbers.
func largest(u []float64) int {
	best, value := 0, math.Inf(-1)
	for i, x := range u {
		if x > value {
			best, value = i, x
		}
	}
	return best
}

// Finite returns the number of combinations of values if it is finite and small enough: the designs
// are listed, or no parameter is a float without a step and there are at most 1<<20 combinations.
// Otherwise ok is false. With conditions or constraints among parameters there are fewer designs.
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

// Combination writes the encoded combination of values with a number, from 0, to u, which has length
// Dim. The values are the digits of the number in mixed radix, the first parameter's digit the lowest.
// It ignores conditions, constraints among parameters and the listing, and panics if a block is a
// Float.
func (s *Space) Combination(u []float64, number int) {
	for i, block := range s.blocks {
		k := int(block.Count)
		if block.Kind == Categorical {
			part := u[block.Start : block.Start+block.Len]
			clear(part)
			part[number%k] = 1
		} else {
			u[block.Start] = s.grids[i].coordinate(int64(number % k))
		}
		number /= k
	}
}
