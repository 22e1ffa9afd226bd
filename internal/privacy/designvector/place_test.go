package designvector

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/task"
)

func spaceOf(t testing.TB, parameters ...task.Parameter) *task.Space {
	t.Helper()
	space, err := task.NewSpace(parameters)
	if err != nil {
		t.Fatal(err)
	}
	return space
}

func mixed(t testing.TB) *task.Space {
	return spaceOf(t,
		task.Parameter{Name: "optimizer", Kind: task.Categorical, Choices: []string{"sgd", "adam", "rmsprop"}},
		task.Parameter{Name: "rate", Kind: task.Float, Low: 1e-4, High: 1, Scale: task.Log},
		task.Parameter{Name: "nesterov", Kind: task.Bool},
		task.Parameter{Name: "batch", Kind: task.Int, Low: 20, High: 100},
	)
}

func norm(v []float64) float64 {
	square := 0.0
	for _, x := range v {
		square += x * x
	}
	return math.Sqrt(square)
}

// Without noise a design comes back as it was.
func TestVectorsComeBackAsTheirPoints(t *testing.T) {
	space := mixed(t)
	rng := random.SeedOf(1).Stream("designs", 0)
	for range 200 {
		p := protocol.PointOf(space, space.Decode(acquisition.Sample(space, rng)))
		if got := Point(space, Vector(space, p)); !reflect.DeepEqual(got, p) {
			t.Fatalf("%+v came back as %+v", p, got)
		}
	}
}

// No vector is longer than Norm, some are as long, and opposite corners are as far apart as
// the diagonal.
func TestNormIsHalfTheDiagonal(t *testing.T) {
	plane := spaceOf(t, task.Parameter{Name: "x", Kind: task.Float, Low: 0, High: 1}, task.Parameter{Name: "b", Kind: task.Bool})
	if got := Norm(plane); math.Abs(got-math.Sqrt2/2) > 1e-15 {
		t.Errorf("a number and a bool: %g", got)
	}
	a := Vector(plane, protocol.Point{Coordinates: []float64{0}, Choices: []int{0}})
	b := Vector(plane, protocol.Point{Coordinates: []float64{1}, Choices: []int{1}})
	apart := make([]float64, len(a))
	for i := range a {
		apart[i] = a[i] - b[i]
	}
	if d := norm(apart); math.Abs(d-math.Sqrt2) > 1e-15 {
		t.Errorf("the corners are %g apart", d)
	}
	space, longest := mixed(t), 0.0
	rng := random.SeedOf(2).Stream("designs", 0)
	for range 500 {
		u := acquisition.Sample(space, rng)
		for i := range u {
			u[i] = math.Round(u[i]) // a corner
		}
		longest = max(longest, norm(Vector(space, protocol.PointOf(space, space.Decode(u)))))
	}
	if want := Norm(space); longest > want*(1+1e-12) || longest < want-0.01 { // the ints' corners are the middles of their bins
		t.Errorf("the longest of many is %g, Norm says %g", longest, want)
	}
	if r := Release(space); r.Numbers != space.Dim() || r.Norm != Norm(space) || !r.Place {
		t.Errorf("%+v", r)
	}
}

// Whatever noise does, a point of the space comes back.
func TestNoisyVectorsAreInTheSpace(t *testing.T) {
	space := mixed(t)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		v := make([]float64, space.Dim())
		for i := range v {
			v[i] = 3 * rng.NormFloat64()
		}
		n := protocol.NearOptimal{Observations: 1, Point: Point(space, v)}
		if _, err := n.Encode(space); err != nil {
			t.Fatalf("%v: %v", v, err)
		}
	}
	if got := Point(space, []float64{0, 0, 0, 7, 1, 1, -1e6}); !slices.Equal(got.Coordinates, []float64{1, 0}) || !slices.Equal(got.Choices, []int{0, 0}) {
		t.Errorf("%+v", got)
	}
}

// The wrong one of two choices is told as often as the package says.
func TestChoicesAreRandomisedResponse(t *testing.T) {
	space := spaceOf(t, task.Parameter{Name: "b", Kind: task.Bool})
	rng := rand.New(rand.NewPCG(3, 4))
	const sigma, runs = 0.7, 200_000
	wrong := 0
	for range runs {
		v := Vector(space, protocol.Point{Choices: []int{1}})
		for i := range v {
			v[i] += sigma * rng.NormFloat64()
		}
		if Point(space, v).Choices[0] == 0 {
			wrong++
		}
	}
	want := math.Erfc(1/(2*sigma)/math.Sqrt2) / 2
	if got := float64(wrong) / runs; math.Abs(got-want) > 5*math.Sqrt(want/runs) {
		t.Errorf("wrong in %.4f of the cases, want %.4f", got, want)
	}
}
