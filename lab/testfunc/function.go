package testfunc

import (
	"fmt"

	"github.com/fbo-node/fbo/task"
)

// Function is a function over a task's space, to be minimised.
//
// A point x has one natural coordinate per parameter, in the order of the space: the value of a
// float or int, and the index of the choice of a categorical. A point may lie outside the space as
// far as Reach allows.
type Function struct {
	Name  string
	Space *task.Space

	// Value returns the function at a point. It neither keeps nor alters x.
	Value func(x []float64) float64

	// Optimum is the smallest value in the space, and also within Reach outside it.
	Optimum float64

	// Minimizers are points of the space at which Value is Optimum: at least one, but not always
	// all.
	Minimizers [][]float64

	// Deviation is the standard deviation of Value at a uniform point of the space, for the
	// published function; [Shifted] and [Noisy] do not change it. It is 0 if it is unknown: for
	// Ackley's function of more than 20 floats, and for Shekel's function of fewer than ten wells.
	Deviation float64

	// Reach is the distance outside the space up to which Value is defined and not below Optimum.
	// Its unit is each float's or int's range. It is 0 or more, and may be infinite. Choices cannot
	// lie outside.
	Reach float64
}

// At returns the function's value at a design of its space.
func (f Function) At(d task.Design) float64 { return f.Value(f.Coordinates(d)) }

// Coordinates returns the natural coordinates of a design. It panics if the design is not in the
// function's space.
func (f Function) Coordinates(d task.Design) []float64 {
	if err := f.Space.Check(d); err != nil {
		panic(fmt.Sprintf("testfunc: %s: %v", f.Name, err))
	}
	x := make([]float64, f.Space.Len())
	values := d.Values()
	for i, p := range f.Space.Parameters() {
		switch p.Kind {
		case task.Float:
			x[i] = values[i].Float()
		case task.Int:
			x[i] = float64(values[i].Int())
		default:
			for choice, name := range p.Choices {
				if name == values[i].Choice() {
					x[i] = float64(choice)
				}
			}
		}
	}
	return x
}

// Design returns the design at a point of the space. It returns an error for the first coordinate
// that lies outside the space or must be whole and is not.
func (f Function) Design(x []float64) (task.Design, error) {
	parameters := f.Space.Parameters()
	if len(x) != len(parameters) {
		return task.Design{}, fmt.Errorf("%s: %d coordinates given; accepted: %d", f.Name, len(x), len(parameters))
	}
	values := make([]task.Value, len(x))
	for i, p := range parameters {
		whole := x[i] == float64(int64(x[i]))
		switch {
		case p.Kind == task.Float:
			values[i] = task.FloatValue(x[i])
		case !whole:
			return task.Design{}, fmt.Errorf("%s: coordinate %g of %s must be whole", f.Name, x[i], p.Name)
		case p.Kind == task.Int:
			values[i] = task.IntValue(int64(x[i]))
		case x[i] < 0 || x[i] >= float64(len(p.Choices)):
			return task.Design{}, fmt.Errorf("%s: choice %g of %s must be from 0 to %d", f.Name, x[i], p.Name, len(p.Choices)-1)
		default:
			values[i] = task.ChoiceValue(p.Choices[int(x[i])])
		}
	}
	return f.Space.NewDesign(values...)
}

// mustSpace returns the space of the parameters and panics on an error. The spaces of this package
// are fixed except for their number of parameters, so errors are impossible.
func mustSpace(parameters []task.Parameter) *task.Space {
	space, err := task.NewSpace(parameters)
	if err != nil {
		panic("testfunc: " + err.Error())
	}
	return space
}

// box returns the space of d floats x1 to xd with the same bounds.
func box(d int, low, high float64) *task.Space {
	parameters := make([]task.Parameter, d)
	for i := range parameters {
		parameters[i] = task.Parameter{Name: fmt.Sprintf("x%d", i+1), Kind: task.Float, Low: low, High: high}
	}
	return mustSpace(parameters)
}

// filled returns the point whose d coordinates are all v.
func filled(d int, v float64) []float64 {
	x := make([]float64, d)
	for i := range x {
		x[i] = v
	}
	return x
}
