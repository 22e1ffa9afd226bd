package protocol

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/pb"
	"github.com/fbo-node/fbo/task"
)

// halfStep is by how much a number of [0, 1] can move when it becomes a float32.
const halfStep = 1.0 / (1 << 25)

func spaceOf(t interface{ Fatal(...any) }, parameters ...task.Parameter) *task.Space {
	space, err := task.NewSpace(parameters)
	if err != nil {
		t.Fatal(err)
	}
	return space
}

// mixedSpace has two coordinates and two choices, not in this order.
func mixedSpace(t interface{ Fatal(...any) }) *task.Space {
	return spaceOf(t,
		task.Parameter{Name: "optimizer", Kind: task.Categorical, Choices: []string{"sgd", "adam", "rmsprop"}},
		task.Parameter{Name: "rate", Kind: task.Float, Low: 1e-4, High: 1, Scale: task.Log},
		task.Parameter{Name: "side", Kind: task.Categorical, Choices: []string{"left", "right"}},
		task.Parameter{Name: "batch", Kind: task.Int, Low: 20, High: 100},
	)
}

// mixedPoint is of mixedSpace. Its numbers are exact as float32.
func mixedPoint() Point {
	return Point{Coordinates: []float64{0.25, 1}, Choices: []int{2, 0}}
}

// choicesOf returns count different choices.
func choicesOf(count int) []string {
	all := make([]string, count)
	for i := range all {
		all[i] = fmt.Sprintf("c%d", i)
	}
	return all
}

// drawSpace draws from spaces whose ints all have fewer than 2^24 values, or on
// a log scale as few as PointOf says, so that they travel exactly.
func drawSpace(t *rapid.T) *task.Space {
	parameters := make([]task.Parameter, rapid.IntRange(1, 6).Draw(t, "parameters"))
	for i := range parameters {
		p := task.Parameter{Name: fmt.Sprintf("p%d", i)}
		switch rapid.IntRange(0, 8).Draw(t, "kind") {
		case 0:
			p.Kind, p.Low = task.Float, rapid.Float64Range(-1e6, 1e6).Draw(t, "low")
			p.High = p.Low + rapid.Float64Range(1e-3, 1e9).Draw(t, "width")
		case 1:
			p.Kind, p.Scale, p.Low = task.Float, task.Log, rapid.Float64Range(1e-9, 1e3).Draw(t, "low")
			p.High = p.Low * rapid.Float64Range(1.5, 1e12).Draw(t, "ratio")
		case 2:
			p.Kind, p.Low = task.Int, float64(rapid.Int64Range(-1<<50, 1<<50).Draw(t, "low"))
			p.High = p.Low + float64(rapid.Int64Range(1, 1<<24-2).Draw(t, "width"))
		case 3:
			p.Kind, p.Scale, p.Low = task.Int, task.Log, float64(rapid.Int64Range(1, 1000).Draw(t, "low"))
			p.High = p.Low + float64(rapid.Int64Range(1, 600_000).Draw(t, "width"))
		case 4:
			p.Kind, p.Choices = task.Categorical, choicesOf(rapid.IntRange(2, 64).Draw(t, "choices"))
		case 5:
			p.Kind = task.Bool
		case 6:
			p.Kind, p.Low = task.Float, float64(rapid.IntRange(-100, 100).Draw(t, "low"))
			p.High, p.Step = p.Low+10, rapid.Float64Range(1e-6, 10).Draw(t, "step")
		case 7:
			p.Kind, p.Numbers = task.Categorical, []float64{0.5, -2, 1e9}
		case 8:
			p.Kind, p.Numbers = task.Int, []float64{16, 32, 64}
		}
		parameters[i] = p
	}
	return spaceOf(t, parameters...)
}

func drawDesign(t *rapid.T, space *task.Space) task.Design {
	coordinate := rapid.OneOf(rapid.Float64Range(0, 1), rapid.SampledFrom([]float64{0, 1, 0.5, 1e-15, math.Nextafter(1, 0)}))
	return space.Decode(rapid.SliceOfN(coordinate, space.Dim(), space.Dim()).Draw(t, "u"))
}

// overTheWire returns the point as a receiver gets it.
func overTheWire(t interface{ Fatal(...any) }, p Point) Point {
	data, err := proto.Marshal(p.message())
	if err != nil {
		t.Fatal(err)
	}
	var m pb.Point
	if err := proto.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	return pointFrom(&m)
}

func TestPointsOfDesignsSurviveTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		space := drawSpace(t)
		design := drawDesign(t, space)
		p := PointOf(space, design)
		got := overTheWire(t, p)
		if !reflect.DeepEqual(got, p) {
			t.Fatalf("%+v became %+v", p, got)
		}
		if err := got.check(space); err != nil {
			t.Fatal(err)
		}
		if size := proto.Size(p.message()); size > pointBytes(space) {
			t.Fatalf("a point of %d bytes, the bound is %d", size, pointBytes(space))
		}
		encoded := got.Encoded(space)
		for i, u := range space.Encode(design) {
			if !(math.Abs(encoded[i]-u) <= halfStep) {
				t.Fatalf("coordinate %d: %g became %g", i, u, encoded[i])
			}
		}
		decoded := space.Decode(encoded)
		for i, q := range space.Parameters() {
			want, is := design.Value(q.Name), decoded.Value(q.Name)
			if space.Blocks()[i].Kind != task.Float {
				if is != want {
					t.Fatalf("%s: %v became %v", q.Name, want, is)
				}
				continue
			}
			start := space.Blocks()[i].Start
			was, became := space.Encode(design)[start], space.Encode(decoded)[start]
			if !(math.Abs(became-was) <= halfStep+gridStep(q)) {
				t.Fatalf("%s: %v became %v", q.Name, want, is)
			}
		}
	})
}

// gridStep bounds by how much the decimal grid of decoded floats moves a
// coordinate: half of 10 digits on a log scale; on a linear one 1e-10 of the
// range, or what a float64 of this offset can hold.
func gridStep(p task.Parameter) float64 {
	if p.Scale == task.Log {
		return 1e-10 + 1e-9/math.Log(p.High/p.Low)
	}
	largest := max(math.Abs(p.Low), math.Abs(p.High))
	return 1e-10 + 160*(math.Nextafter(largest, math.Inf(1))-largest)/(p.High-p.Low)
}

// The ints at the top are those for which a float32 is coarsest.
func TestWhichIntsTravelExactly(t *testing.T) {
	for _, c := range []struct {
		high  float64
		scale task.Scale
		off   int64 // by how much at most
	}{
		{1<<24 - 2, task.Linear, 0},
		{1<<40 - 1, task.Linear, 1 << 15},
		{600_000, task.Log, 0},
		{1 << 40, task.Log, 1 << 20}, // ln(2^41)/2^25 of the value
	} {
		low := 0.0
		if c.scale == task.Log {
			low = 1
		}
		space := spaceOf(t, task.Parameter{Name: "n", Kind: task.Int, Low: low, High: c.high, Scale: c.scale})
		worst := int64(0)
		for i := range int64(5000) {
			for _, n := range []int64{int64(low) + i, int64(c.high)/2 + i, int64(c.high) - i} {
				design, err := space.NewDesign(task.IntValue(n))
				if err != nil {
					t.Fatal(err)
				}
				got := space.Decode(overTheWire(t, PointOf(space, design)).Encoded(space)).Int("n")
				worst = max(worst, got-n, n-got)
			}
		}
		if worst > c.off || worst == 0 && c.off > 0 {
			t.Errorf("up to %g on %s scale: off by %d, want %d", c.high, c.scale, worst, c.off)
		}
	}
}

func TestEncodedPutsEveryParameterInItsPlace(t *testing.T) {
	space := mixedSpace(t)
	want := []float64{0, 0, 1, 0.25, 1, 0, 1}
	if got := mixedPoint().Encoded(space); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := PointOf(space, space.Decode(want)); !reflect.DeepEqual(got.Choices, mixedPoint().Choices) {
		t.Errorf("choices %v", got.Choices)
	}
}

// pointsThatAreRefused is what mixedSpace does not have.
func pointsThatAreRefused() map[string]*pb.Point {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	coordinates := func(values ...float32) *pb.Point { return &pb.Point{Coordinates: values, Choices: []uint32{2, 0}} }
	choices := func(values ...uint32) *pb.Point {
		return &pb.Point{Coordinates: []float32{0.25, 1}, Choices: values}
	}
	return map[string]*pb.Point{
		"no point":               nil,
		"an empty point":         {},
		"no coordinates":         coordinates(),
		"one coordinate less":    coordinates(0.25),
		"one coordinate more":    coordinates(0.25, 1, 0),
		"one-hot coordinates":    coordinates(0, 0, 1, 0.25, 1, 0, 1),
		"below the cube":         coordinates(-math.SmallestNonzeroFloat32, 1),
		"above the cube":         coordinates(0.25, math.Nextafter32(1, 2)),
		"a huge coordinate":      coordinates(math.MaxFloat32, 1),
		"a NaN":                  coordinates(0.25, nan),
		"an infinite coordinate": coordinates(inf, 1),
		"minus infinite":         coordinates(0.25, -inf),
		"no choices":             choices(),
		"one choice less":        choices(2),
		"one choice more":        choices(2, 0, 0),
		"unknown first choice":   choices(3, 0),
		"unknown second choice":  choices(2, 2),
		"huge choice":            choices(1<<31, 0),
		"largest choice":         choices(2, math.MaxUint32),
	}
}

func TestPointsThatCannotBeSent(t *testing.T) {
	space := mixedSpace(t)
	if err := mixedPoint().check(space); err != nil {
		t.Fatal(err)
	}
	for name, m := range pointsThatAreRefused() {
		p := pointFrom(m)
		if p.check(space) == nil {
			t.Errorf("%s: accepted", name)
		}
		candidates(space, 1).unsendable(t, name, Candidate{Round: 1, Point: p})
		nearOptimals(space).unsendable(t, name, NearOptimal{Observations: 1, Point: p})
		densities(space).unsendable(t, name, Density{Observations: 1, Components: []Component{{1, 0.5, p}}})
	}
	for name, p := range map[string]Point{
		"negative choice":              {[]float64{0.25, 1}, []int{-1, 0}},
		"what is 1 only as a float32":  {[]float64{0.25, 1 + 1e-12}, []int{2, 0}},
		"what is 0 only as a float32":  {[]float64{-1e-300, 1}, []int{2, 0}},
		"what a float32 cannot exceed": {[]float64{1e300, 1}, []int{2, 0}},
	} {
		if p.check(space) == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// ballast returns the payload with an unknown field behind it, of size bytes.
func ballast(t *testing.T, payload []byte, size int) []byte {
	t.Helper()
	small := protowire.AppendVarint(protowire.AppendTag(slices.Clone(payload), 101, protowire.VarintType), 1)
	for _, start := range [][]byte{payload, small} { // where the length takes a byte more at just this size, another field helps
		tagged := protowire.AppendTag(slices.Clone(start), 100, protowire.BytesType)
		for length := 1; length < 5; length++ {
			filler := size - len(tagged) - length
			if filler >= 0 && protowire.SizeVarint(uint64(filler)) == length {
				return protowire.AppendBytes(tagged, make([]byte, filler))
			}
		}
	}
	t.Fatalf("no ballast makes %d of %d bytes", size, len(payload))
	return nil
}

// eachLargestPoint calls check with points of the largest spaces that a task can have.
func eachLargestPoint(t *testing.T, check func(t *testing.T, space *task.Space, point Point)) {
	for kind, p := range map[string]task.Parameter{
		"floats":       {Kind: task.Float, Low: 0, High: 1},
		"categoricals": {Kind: task.Categorical, Choices: choicesOf(64)},
	} {
		t.Run(kind, func(t *testing.T) {
			parameters := make([]task.Parameter, 100)
			for i := range parameters {
				parameters[i] = p
				parameters[i].Name = fmt.Sprintf("p%d", i)
			}
			space := spaceOf(t, parameters...)
			u := make([]float64, space.Dim())
			for i := range u {
				u[i] = float64(i%64) / 64 // the last choice
			}
			check(t, space, PointOf(space, space.Decode(u)))
		})
	}
}

func TestLargestPointsFit(t *testing.T) {
	eachLargestPoint(t, func(t *testing.T, space *task.Space, point Point) {
		response := -math.Pi
		candidates(space, math.MaxInt32).survives(t, Candidate{Round: math.MaxInt32, Point: point, Response: &response, VisiblePeers: maxNeighbours})
		nearOptimals(space).survives(t, NearOptimal{Observations: math.MaxInt32, Point: point, Bound: &response})
		density := Density{Observations: math.MaxInt32}
		for range MaxComponents {
			density.Components = append(density.Components, Component{1.0 / MaxComponents, 0.5, point})
		}
		densities(space).survives(t, density)
	})
}
