package task

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func kindsSpace(t testing.TB) *Space {
	s, err := NewSpace([]Parameter{
		{Name: "momentum", Kind: Float, Low: 0.1, High: 0.95, Step: 0.1},
		{Name: "units", Kind: Int, Low: 16, High: 250, Step: 16},
		{Name: "c", Kind: Float, Numbers: []float64{0.1, 1, 10}},
		{Name: "batch", Kind: Int, Numbers: []float64{16, 32, 64}},
		{Name: "seed", Kind: Categorical, Numbers: []float64{7, 3}},
		{Name: "power", Kind: Categorical, Numbers: []float64{2, 0.5}},
		{Name: "nesterov", Kind: Bool},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Values come back as what they are: in Go, as text for arguments and CSV, in JSON.
func TestValuesOfAllKinds(t *testing.T) {
	s := kindsSpace(t)
	d := s.Decode([]float64{0.25, 0.99, 1, 0.4, 0, 1, 0.2, 0.7, 0, 1})
	if d.Float("momentum") != 0.3 || d.Int("units") != 240 || d.Float("c") != 10 || d.Int("batch") != 32 || d.Int("seed") != 3 || d.Float("power") != 0.5 || !d.Bool("nesterov") {
		t.Errorf("decoded %v", d)
	}
	if want := `{"momentum":0.3,"units":240,"c":10,"batch":32,"seed":3,"power":0.5,"nesterov":true}`; d.Key() != want {
		t.Errorf("%s, want %s", d.Key(), want)
	}
	if want := "momentum=0.3 units=240 c=10 batch=32 seed=3 power=0.5 nesterov=true"; d.String() != want {
		t.Errorf("%s, want %s", d, want)
	}
	if count, ok := s.Finite(); !ok || count != 9*15*3*3*2*2*2 {
		t.Errorf("%d designs, %t", count, ok)
	}
	if s.Dim() != 10 {
		t.Errorf("%d coordinates", s.Dim())
	}
}

// The values of a float with a step are the decimals that one would write down, and
// the last is the largest that is not above high.
func TestFloatStepValues(t *testing.T) {
	for _, c := range []struct {
		low, high, step float64
		want            string
	}{
		{0, 1, 0.1, "0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1"},
		{-1, 0, 0.25, "-1 -0.75 -0.5 -0.25 0"},
		{0, 1, 0.3, "0 0.3 0.6 0.9"},
		{0.05, 0.35, 0.1, "0.05 0.15 0.25 0.35"},
		{-0.3, 0.3, 0.1, "-0.3 -0.2 -0.1 0 0.1 0.2 0.3"},
		{18, 24, 2.5, "18 20.5 23"},
		{1e9, 1e9 + 1, 0.5, "1000000000 1000000000.5 1000000001"},
		{0, 1e-280, 5e-281, "0 5e-281 1e-280"},
	} {
		s, err := NewSpace([]Parameter{{Name: "x", Kind: Float, Low: c.low, High: c.high, Step: c.step}})
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		var got []string
		for k := range s.Blocks()[0].Count {
			got = append(got, s.Decode([]float64{s.Place(0, k)}).Value("x").String())
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%+v: %s", c, text)
		}
		if high := s.Parameters()[0].High; formatFloat(high) != got[len(got)-1] {
			t.Errorf("%+v: high is %g", c, high)
		}
	}
}

// Number and Place are inverse, and agree with Encode and Decode, at the ends of
// ranges of any size too.
func TestNumberAndPlaceAreInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawParameter("x").Filter(func(p Parameter) bool { return p.Kind == Int || p.Kind == Float && (p.Step != 0 || p.Numbers != nil) }).Draw(t, "x")
		s, err := NewSpace([]Parameter{p})
		if err != nil {
			t.Fatal(err)
		}
		last := s.Blocks()[0].Count - 1
		for _, k := range []int64{0, last, rapid.Int64Range(0, last).Draw(t, "k")} {
			u := s.Place(0, k)
			d := s.Decode([]float64{u})
			if s.Number(0, u) != k || s.Encode(d)[0] != u {
				t.Fatalf("value %d lies at %g, where number %d is; %v lies at %g", k, u, s.Number(0, u), d, s.Encode(d)[0])
			}
			if v := d.Value("x").size(); p.Numbers == nil && (v < p.Low || v > p.High) {
				t.Fatalf("value %d of %+v is %g", k, p, v)
			}
		}
	})
}

// A float with a step is read with the error of arithmetic, and no other.
func TestParseValueNearStep(t *testing.T) {
	s := kindsSpace(t)
	for text, want := range map[string]string{
		"0.30000000000000004": "0.3", "0.3000000001": "0.3", "3e-1": "0.3", "0.1": "0.1", "0.9": "0.9",
		"0.31": "", "0.95": "", "0": "", "1": "", "-1e300": "", "1e300": "", "x": "", "nan": "", "": "",
	} {
		v, err := s.ParseValue("momentum", text)
		if want == "" {
			if err == nil || !strings.HasSuffix(err.Error(), "is not accepted; it takes a number from 0.1 to 0.9 in steps of 0.1") {
				t.Errorf("%s: %v, %v", text, v, err)
			}
		} else if err != nil || v.String() != want {
			t.Errorf("%s: %v, %v", text, v, err)
		}
	}
	values := s.Decode(make([]float64, s.Dim())).Values()
	values[0] = FloatValue(0.1 + 0.2)
	d, err := s.NewDesign(values...)
	if err != nil || d.Float("momentum") != 0.3 {
		t.Errorf("%v, %v", d, err)
	}
}

func TestParseValue(t *testing.T) {
	s := kindsSpace(t)
	for _, c := range []struct{ name, text, want, message string }{
		{"nesterov", "true", "true", ""},
		{"nesterov", " False ", "false", ""},
		{"nesterov", "1", "", `task: parameter "nesterov": the text "1" is not accepted; it takes true or false`},
		{"batch", "32.0", "32", ""},
		{"batch", " 3.2e1 ", "32", ""},
		{"batch", "33", "", `task: parameter "batch": 33 is not accepted; it takes one of 16, 32, 64`},
		{"batch", "x", "", `task: parameter "batch": the text "x" is not accepted; it takes one of 16, 32, 64`},
		{"c", "10", "10", ""},
		{"seed", "3.0", "3", ""},
		{"seed", "3.5", "", `task: parameter "seed": 3.5 is not accepted; it takes one of 7, 3`},
		{"power", "2", "2", ""},
		{"units", "32", "32", ""},
		{"units", "33", "", `task: parameter "units": 33 is not accepted; it takes a whole number from 16 to 240 in steps of 16`},
		{"unit", "33", "", `task: unknown parameter "unit"; accepted: momentum, units, c, batch, seed, power, nesterov`},
	} {
		v, err := s.ParseValue(c.name, c.text)
		if c.message != "" && (err == nil || err.Error() != c.message) || c.message == "" && (err != nil || v.String() != c.want) {
			t.Errorf("%s = %q: %v, %v", c.name, c.text, v, err)
		}
	}
}

func TestParseDesignOfAllKinds(t *testing.T) {
	s := kindsSpace(t)
	good := map[string]any{"momentum": 0.5, "units": 32, "c": 1, "batch": json.Number("16"), "seed": 7.0, "power": BoolValue(true), "nesterov": false}
	if _, err := s.ParseDesign(good); err == nil || err.Error() != `task: parameter "power": true is not accepted; it takes one of 2, 0.5` {
		t.Errorf("a bool among numbers: %v", err)
	}
	good["power"] = FloatValue(2)
	if d, err := s.ParseDesign(good); err != nil || d.String() != "momentum=0.5 units=32 c=1 batch=16 seed=7 power=2 nesterov=false" {
		t.Errorf("%v, %v", d, err)
	}
	for name, wrong := range map[string]any{"nesterov": "true", "units": "32", "batch": true, "seed": "7", "c": math.NaN()} {
		values := map[string]any{}
		for k, v := range good {
			values[k] = v
		}
		values[name] = wrong
		if d, err := s.ParseDesign(values); err == nil {
			t.Errorf("%s = %v gives %v", name, wrong, d)
		}
	}
}

// What a value is written as, it is read from.
func TestTextRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSpace(t)
		d := s.Decode(drawPoint(t, s))
		for i, p := range s.Parameters() {
			v := d.Values()[i]
			if got, err := s.ParseValue(p.Name, v.String()); err != nil || got != v {
				t.Fatalf("%v was read as %v, %v", v, got, err)
			}
		}
	})
}
