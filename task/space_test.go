package task

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawParameter covers extreme sizes, offsets, narrow and wide ranges; what
// NewSpace refuses is drawn again.
func drawParameter(name string) *rapid.Generator[Parameter] {
	return rapid.Custom(func(t *rapid.T) Parameter {
		p := Parameter{Name: name, Kind: rapid.SampledFrom([]Kind{Float, Int, Categorical, Bool}).Draw(t, "kind")}
		size := func(lowest, highest int, label string) float64 {
			digits := rapid.Float64Range(1, 10).Draw(t, label)
			return digits * math.Pow10(rapid.IntRange(lowest, highest).Draw(t, label+" exponent"))
		}
		p.Scale = rapid.SampledFrom([]Scale{Linear, Log}).Draw(t, "scale")
		if p.Kind != Bool && rapid.IntRange(0, 3).Draw(t, "listed") == 0 {
			p.Scale, p.Numbers = "", drawNumbers(t, p.Kind)
			return p
		}
		switch {
		case p.Kind == Bool:
			p.Scale = ""
		case p.Kind == Categorical:
			p.Scale = ""
			for i := range rapid.IntRange(2, 6).Draw(t, "choices") {
				p.Choices = append(p.Choices, fmt.Sprintf("c%d", i))
			}
		case p.Kind == Int && p.Scale == Log:
			p.Low = math.Trunc(size(0, 11, "low"))
			p.High = p.Low + math.Trunc(size(0, 11, "width"))
		case p.Kind == Int:
			p.Low = math.Trunc(size(0, 14, "low")) * float64(rapid.SampledFrom([]int{-1, 0, 1}).Draw(t, "sign"))
			p.High = p.Low + math.Trunc(size(0, 11, "width"))
		case p.Scale == Log:
			p.Low = size(-300, 298, "low")
			p.High = p.Low * (1 + size(-2, 9, "ratio"))
			if rapid.Bool().Draw(t, "wide") {
				p.High = size(-299, 299, "high")
			}
		default:
			p.Low = size(-300, 299, "low") * float64(rapid.SampledFrom([]int{-1, 0, 1}).Draw(t, "sign"))
			width := size(-289, 299, "width")
			if p.Low != 0 && rapid.Bool().Draw(t, "offset") {
				width = math.Abs(p.Low) * size(-12, 2, "relative width")
			}
			p.High = p.Low + width
		}
		if p.Scale == Linear && rapid.Bool().Draw(t, "steps") {
			p.Step = (p.High - p.Low) * min(1, size(-13, -1, "step"))
			if p.Kind == Int {
				p.Step = max(1, math.Trunc(p.Step))
			}
		}
		return p
	}).Filter(func(p Parameter) bool { return len(p.problems()) == 0 && p.single().Fixed == Value{} })
}

// drawNumbers returns listed numbers, in ascending order unless the kind is
// categorical.
func drawNumbers(t *rapid.T, kind Kind) []float64 {
	number := rapid.OneOf(rapid.Float64Range(-1e300, 1e300), rapid.SampledFrom([]float64{0, 1, 0.1, -1e-300, 1e21}))
	if kind == Int || kind == Categorical && rapid.Bool().Draw(t, "whole") {
		number = rapid.Map(rapid.Int64Range(-1<<53, 1<<53), func(v int64) float64 { return float64(v) })
	}
	all := rapid.SliceOfNDistinct(number, 2, 6, func(v float64) float64 { return v + 0 }).Draw(t, "numbers")
	if kind != Categorical {
		slices.Sort(all)
	}
	return all
}

func drawSpace(t *rapid.T) *Space {
	parameters := make([]Parameter, rapid.IntRange(1, 4).Draw(t, "parameters"))
	for i := range parameters {
		name := fmt.Sprintf("p%d", i)
		parameters[i] = drawParameter(name).Draw(t, name)
		if i > 0 && rapid.IntRange(0, 3).Draw(t, "fixed") == 0 {
			parameters[i] = Parameter{Name: name, Kind: Bool, Fixed: BoolValue(rapid.Bool().Draw(t, "value"))}
		}
	}
	s, err := NewSpace(parameters)
	if err != nil {
		t.Fatal(err)
	}
	if rapid.Bool().Draw(t, "conditions") {
		return drawConditions(t, s)
	}
	return s
}

// drawConditions returns the space with conditions that form a tree, and perhaps a constraint.
func drawConditions(t *rapid.T, s *Space) *Space {
	parameters := s.Parameters()
	order := rapid.Permutation([]int{0, 1, 2, 3}[:len(parameters)]).Draw(t, "order")
	for k := 1; k < len(order); k++ {
		parent := order[rapid.IntRange(0, k-1).Draw(t, "parent")]
		value := s.ValueAt(parent, drawPoint(t, s))
		condition := Equals(parameters[parent].Name, value)
		if kind := parameters[parent].Kind; kind == Float || kind == Int {
			condition = Between(parameters[parent].Name, value.size(), math.Inf(1))
		}
		parameters[order[k]].When = []Condition{condition}
	}
	var rules []string
	middle := slices.Repeat([]float64{.5}, s.Dim()) // on a log scale the mean of the ends would leave nearly nothing
	for i, p := range parameters {
		if p.Kind == Float && p.Fixed == (Value{}) && rapid.Bool().Draw(t, "rule") {
			rules = append(rules, fmt.Sprintf("%s >= %s", p.Name, strconv.FormatFloat(s.ValueAt(i, middle).size(), 'e', -1, 64)))
		}
	}
	conditional, err := NewSpace(parameters, rules...)
	if err != nil {
		t.Fatal(err)
	}
	return conditional
}

func drawPoint(t *rapid.T, s *Space) []float64 {
	coordinate := rapid.OneOf(rapid.Float64Range(0, 1), rapid.Float64(),
		rapid.SampledFrom([]float64{0, 1, 0.5, math.NaN(), math.Inf(1), math.Inf(-1), 1e-15, 1 - 1e-15, math.Nextafter(1, 0), math.SmallestNonzeroFloat64}))
	return rapid.SliceOfN(coordinate, s.Dim(), s.Dim()).Draw(t, "u")
}

func TestSpaceEncodeDecodeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSpace(t)
		for range 20 {
			d := s.Decode(drawPoint(t, s))
			if err := s.Check(d); err != nil {
				t.Fatal(err)
			}
			u := s.Encode(d)
			for i, x := range u {
				if !(x >= 0 && x <= 1) {
					t.Fatalf("coordinate %d of %v is %g", i, d, x)
				}
			}
			if again := s.Decode(u); !again.Equal(d) {
				t.Fatalf("%v became %v", d, again)
			}
			parsed, err := s.UnmarshalDesign([]byte(d.Key()))
			if err != nil || !parsed.Equal(d) || parsed.Key() != d.Key() {
				t.Fatalf("%v was read as %v, %v", d, parsed, err)
			}
		}
	})
}

// The grid must not cost more than 1e-9 of the range, or what float64 can hold.
func TestDecodeIsClose(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawParameter("x").Filter(func(p Parameter) bool { return p.Kind == Float && p.Step == 0 && p.Numbers == nil }).Draw(t, "x")
		s, err := NewSpace([]Parameter{p})
		if err != nil {
			t.Fatal(err)
		}
		u := rapid.Float64Range(0, 1).Draw(t, "u")
		back := s.Encode(s.Decode([]float64{u}))[0]
		allowed := 1e-10
		if p.Scale == Log {
			allowed += 1e-9 / math.Log(p.High/p.Low)
		} else {
			largest := math.Max(math.Abs(p.Low), math.Abs(p.High))
			allowed += 160 * (math.Nextafter(largest, math.Inf(1)) - largest) / (p.High - p.Low)
		}
		if math.Abs(back-u) > allowed {
			t.Fatalf("%g came back as %g", u, back)
		}
	})
}

func TestSnapIsEncodeOfDecode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSpace(t)
		u := drawPoint(t, s)
		design := s.Decode(u)
		snapped := slices.Clone(u)
		s.Snap(snapped)
		if again := s.Decode(snapped); !again.Equal(design) {
			t.Fatalf("%v decodes as %v, snapped as %v", u, design, again)
		}
		encoded := s.Encode(design)
		for i, b := range s.Blocks() {
			if part := snapped[b.Start : b.Start+b.Len]; b.Kind != Float && !slices.Equal(part, encoded[b.Start:b.Start+b.Len]) {
				t.Fatalf("parameter %d snapped to %v, encoded as %v", i, part, encoded)
			}
		}
		twice := slices.Clone(snapped)
		s.Snap(twice)
		if !slices.Equal(twice, snapped) {
			t.Fatalf("%v snapped to %v", snapped, twice)
		}
	})
}

func TestSnapDoesNotAllocate(t *testing.T) {
	s := exampleSpace(t)
	u := make([]float64, s.Dim())
	if n := testing.AllocsPerRun(100, func() { s.Snap(u) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

func exampleSpace(t testing.TB) *Space {
	s, err := NewSpace([]Parameter{
		{Name: "rate", Kind: Float, Low: 0.001, High: 1, Scale: Log},
		{Name: "momentum", Kind: Float, Low: 0, High: 1},
		{Name: "batch", Kind: Int, Low: 20, High: 100},
		{Name: "units", Kind: Int, Low: 1, High: 1024, Scale: Log},
		{Name: "optimizer", Kind: Categorical, Choices: []string{"sgd", "adam", "r m s"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestDecodeKnownPoints(t *testing.T) {
	s := exampleSpace(t)
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		u    []float64
		want string
	}{
		{[]float64{0, 0, 0, 0, 0, 0, 0}, "rate=0.001 momentum=0 batch=20 units=1 optimizer=sgd"},
		{[]float64{1, 1, 1, 1, 0, 1, 1}, "rate=1 momentum=1 batch=100 units=1024 optimizer=adam"},
		{[]float64{0.5, 0.1 + 0.2, 0.5, 0.5, 0.1, 0.2, 0.3}, `rate=0.0316227766 momentum=0.3 batch=60 units=23 optimizer="r m s"`},
		{[]float64{nan, nan, nan, nan, nan, nan, nan}, "rate=0.001 momentum=0 batch=20 units=1 optimizer=sgd"},
		{[]float64{-inf, -1, -inf, -1, nan, -inf, -5}, `rate=0.001 momentum=0 batch=20 units=1 optimizer="r m s"`},
		{[]float64{inf, 2, inf, 2, inf, inf, nan}, "rate=1 momentum=1 batch=100 units=1024 optimizer=sgd"},
	} {
		if got := s.Decode(c.u).String(); got != c.want {
			t.Errorf("%v decodes as %s, want %s", c.u, got, c.want)
		}
	}
}

// Every whole number has the same share of the unit interval on linear scale.
func TestIntBins(t *testing.T) {
	s, err := NewSpace([]Parameter{{Name: "n", Kind: Int, Low: -2, High: 3}})
	if err != nil {
		t.Fatal(err)
	}
	counts := map[int64]int{}
	for i := range 600 {
		counts[s.Decode([]float64{(float64(i) + 0.5) / 600}).Int("n")]++
	}
	for v := int64(-2); v <= 3; v++ {
		if counts[v] != 100 {
			t.Errorf("%d has %d of 600 points", v, counts[v])
		}
	}
}

func TestSpaceDecodeStaysInBounds(t *testing.T) {
	for _, p := range []Parameter{
		{Kind: Float, Low: 1e9, High: 1e9 + 1},
		{Kind: Float, Low: -1e300, High: 1e300},
		{Kind: Float, Low: 0, High: 1e-290},
		{Kind: Float, Low: 1e-300, High: 1e300, Scale: Log},
		{Kind: Float, Low: 0.12345678901234567, High: 0.9876543210987654},
		{Kind: Float, Low: 0.12345678901234567, High: 0.9876543210987654, Scale: Log},
		{Kind: Int, Low: -1 << 53, High: -1<<53 + 1<<40},
		{Kind: Int, Low: 1 << 40, High: 1 << 41, Scale: Log},
	} {
		p.Name = "x"
		s, err := NewSpace([]Parameter{p})
		if err != nil {
			t.Errorf("%+v: %v", p, err)
			continue
		}
		low, high := s.Decode([]float64{0}).Value("x"), s.Decode([]float64{1}).Value("x")
		wantLow, wantHigh := FloatValue(p.Low), FloatValue(p.High)
		if p.Kind == Int {
			wantLow, wantHigh = IntValue(int64(p.Low)), IntValue(int64(p.High))
		}
		if low != wantLow || high != wantHigh {
			t.Errorf("%+v: decodes to [%v, %v]", p, low, high)
		}
	}
}

func TestSpaceFiniteCount(t *testing.T) {
	n := func(count float64) Parameter { return Parameter{Name: "n", Kind: Int, Low: 1, High: count} }
	c := Parameter{Name: "c", Kind: Categorical, Choices: []string{"a", "b"}}
	for _, test := range []struct {
		parameters []Parameter
		count      int
		ok         bool
	}{
		{[]Parameter{c}, 2, true},
		{[]Parameter{n(10), c}, 20, true},
		{[]Parameter{n(1 << 19), c}, 1 << 20, true},
		{[]Parameter{n(1<<19 + 1), c}, 0, false},
		{[]Parameter{n(1 << 40), c}, 0, false},
		{[]Parameter{c, {Name: "f", Kind: Float, Low: 0, High: 1}}, 0, false},
	} {
		s, err := NewSpace(test.parameters)
		if err != nil {
			t.Fatal(err)
		}
		if count, ok := s.Finite(); count != test.count || ok != test.ok {
			t.Errorf("%+v: %d, %t", test.parameters, count, ok)
		}
	}
}

func TestNewSpaceErrors(t *testing.T) {
	for _, c := range []struct {
		parameters []Parameter
		want       string
	}{
		{nil, "task: 0 parameters, expected 1 to 100"},
		{[]Parameter{{Name: "x", Kind: Float, Low: 3, High: 1}}, `task: parameter "x": low 3 must be below high 1`},
		{[]Parameter{{Name: "x", Kind: Float, Low: math.NaN(), High: 1}}, `task: parameter "x": low must be a finite number`},
		{[]Parameter{{Name: "x", Kind: "real"}}, `task: parameter "x": unknown type "real"; accepted: float, int, categorical, bool`},
		{[]Parameter{{Name: "x", Kind: Bool, Low: 1}}, `task: parameter "x": low applies only with type: float or int`},
		{[]Parameter{{Name: "x", Kind: Bool, Choices: []string{"a", "b"}}}, `task: parameter "x": choices apply only with type: categorical, float or int`},
		{[]Parameter{{Name: "x", Kind: Float, Choices: []string{"a", "b"}}}, `task: parameter "x": choices must be numbers for type: float`},
		{[]Parameter{{Name: "x", Kind: Float, Numbers: []float64{1, 2}, Scale: Log}}, `task: parameter "x": choices are not accepted beside scale`},
		{[]Parameter{{Name: "x", Kind: Int, Numbers: []float64{1, 2}, Step: 1}}, `task: parameter "x": choices are not accepted beside step`},
		{[]Parameter{{Name: "x", Kind: Categorical, Numbers: []float64{1, math.NaN()}}}, `task: parameter "x": choice NaN must be a finite number from -1e+300 to 1e+300`},
		{[]Parameter{{Name: "x", Kind: Categorical, Numbers: []float64{1, 2}, Choices: []string{"a"}}}, `task: parameter "x": choices must be all texts or all numbers`},
		{[]Parameter{{Name: "x", Kind: Float, High: 1, Step: math.Inf(1)}}, `task: parameter "x": step +Inf must be a number above 0`},
		{[]Parameter{{Name: "x", Kind: Float, High: 1, Step: math.NaN()}}, `task: parameter "x": step NaN must be a number above 0`},
		{[]Parameter{{Name: "x", Kind: Int, Low: 1, High: 2, Scale: "ln"}}, `task: parameter "x": unknown scale "ln"; accepted: linear, log`},
	} {
		_, err := NewSpace(c.parameters)
		if err == nil || err.Error() != c.want {
			t.Errorf("%+v: %v, want %s", c.parameters, err, c.want)
		}
	}
	_, err := NewSpace([]Parameter{{Name: "a b", Kind: Categorical, Choices: []string{"x", "x"}}})
	if err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("not all is reported: %v", err)
	}
}
