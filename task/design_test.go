package task

import (
	"encoding/json"
	"math"
	"testing"
)

func TestParseDesignErrors(t *testing.T) {
	s := exampleSpace(t)
	good := func() map[string]any {
		return map[string]any{"rate": 0.1, "momentum": 0, "batch": 32.0, "units": json.Number("1e2"), "optimizer": "adam"}
	}
	d, err := s.ParseDesign(good())
	if err != nil || d.String() != "rate=0.1 momentum=0 batch=32 units=100 optimizer=adam" {
		t.Fatalf("%v, %v", d, err)
	}
	for _, c := range []struct {
		name  string
		value any
		want  string
	}{
		{"speed", 1, `task: unknown parameter "speed"; accepted: rate, momentum, batch, units, optimizer`},
		{"rate", 2.0, `task: parameter "rate": 2 is not accepted; it takes a number from 0.001 to 1`},
		{"rate", math.NaN(), `task: parameter "rate": NaN is not accepted; it takes a number from 0.001 to 1`},
		{"rate", "0.1", `task: parameter "rate": the text "0.1" is not accepted; it takes a number from 0.001 to 1`},
		{"rate", json.Number("1e999"), `task: parameter "rate": 1e999 is not accepted; it takes a number from 0.001 to 1`},
		{"rate", nil, `task: parameter "rate": null is not accepted; it takes a number from 0.001 to 1`},
		{"batch", 32.5, `task: parameter "batch": 32.5 is not accepted; it takes a whole number from 20 to 100`},
		{"batch", int64(101), `task: parameter "batch": 101 is not accepted; it takes a whole number from 20 to 100`},
		{"batch", json.Number("99999999999999999999"), `task: parameter "batch": 99999999999999999999 is not accepted; it takes a whole number from 20 to 100`},
		{"batch", true, `task: parameter "batch": true is not accepted; it takes a whole number from 20 to 100`},
		{"batch", uint64(math.MaxUint64), `task: parameter "batch": 18446744073709551615 is not accepted; it takes a whole number from 20 to 100`},
		{"optimizer", "lion", `task: parameter "optimizer": "lion" is not accepted; it takes one of "sgd", "adam", "r m s"`},
		{"optimizer", 1, `task: parameter "optimizer": 1 is not accepted; it takes one of "sgd", "adam", "r m s"`},
		{"optimizer", []any{}, `task: parameter "optimizer": a list is not accepted; it takes one of "sgd", "adam", "r m s"`},
	} {
		values := good()
		values[c.name] = c.value
		if _, err := s.ParseDesign(values); err == nil || err.Error() != c.want {
			t.Errorf("%s = %v: %v, want %s", c.name, c.value, err, c.want)
		}
	}
	values := good()
	delete(values, "batch")
	if _, err := s.ParseDesign(values); err == nil || err.Error() != `task: parameter "batch": no value given; it takes a whole number from 20 to 100` {
		t.Errorf("missing: %v", err)
	}
}

func TestUnmarshalDesignErrors(t *testing.T) {
	s, err := NewSpace([]Parameter{{Name: "x", Kind: Float, Low: 0, High: 1}})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		``:                  `task: the design must be a JSON object {"name": value, ...}`,
		`[1]`:               `task: the design must be a JSON object {"name": value, ...}`,
		`{"x":1,"x":1}`:     `task: parameter "x": given twice`,
		`{"x":1}{}`:         `task: there is text after the design's JSON object`,
		`{"x":1} x`:         `task: there is text after the design's JSON object`,
		`{}`:                `task: parameter "x": no value given; it takes a number from 0 to 1`,
		`{"x":{"y":[1,2]}}`: `task: parameter "x": an object is not accepted; it takes a number from 0 to 1`,
	} {
		if _, err := s.UnmarshalDesign([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	for _, text := range []string{`{"x":1`, `{"x"}`, `{"x":}`, `{x:1}`, `{"x":01}`, `{"x":1,}`} {
		if d, err := s.UnmarshalDesign([]byte(text)); err == nil {
			t.Errorf("%s is read as %v", text, d)
		}
	}
}

// Values given by a user are kept, on the decimal grid or not.
func TestGivenValuesAreKept(t *testing.T) {
	s, err := NewSpace([]Parameter{{Name: "x", Kind: Float, Low: 0, High: 1}})
	if err != nil {
		t.Fatal(err)
	}
	const v = 0.12345678901234567
	d, err := s.NewDesign(FloatValue(v))
	if err != nil || d.Float("x") != v || s.Encode(d)[0] != v {
		t.Errorf("%v, %v", d, err)
	}
	again, err := s.UnmarshalDesign([]byte(d.Key()))
	if err != nil || !again.Equal(d) {
		t.Errorf("%v, %v", again, err)
	}
}

func TestCheckDesignOfAnotherSpace(t *testing.T) {
	space := func(parameters ...Parameter) *Space {
		s, err := NewSpace(parameters)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	x := Parameter{Name: "x", Kind: Float, Low: 0, High: 1}
	wide := Parameter{Name: "x", Kind: Float, Low: 0, High: 10}
	whole := Parameter{Name: "x", Kind: Int, Low: 0, High: 1}
	y := Parameter{Name: "y", Kind: Float, Low: 0, High: 1}
	s := space(x)
	for _, c := range []struct {
		d    Design
		want string
	}{
		{Design{}, "task: the design has no values"},
		{space(wide).Decode([]float64{1}), `task: parameter "x": 10 is not accepted; it takes a number from 0 to 1`},
		{space(whole).Decode([]float64{1}), `task: parameter "x": 1 is not accepted; it takes a number from 0 to 1`},
		{space(y).Decode([]float64{1}), `task: parameter "y" of the design is not in this place in the space; accepted: x`},
		{space(x, y).Decode([]float64{1, 1}), `task: parameter "y" of the design is not in this place in the space; accepted: x`},
		{space(wide).Decode([]float64{0.1}), ""},
		{space(x).Decode([]float64{0.5}), ""},
	} {
		err := s.Check(c.d)
		if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("%v: %v, want %s", c.d, err, c.want)
		}
	}
	if err := space(x, y).Check(s.Decode([]float64{1})); err == nil || err.Error() != `task: parameter "y": the design has no value for it` {
		t.Errorf("too few: %v", err)
	}
	if !space(x).Decode([]float64{0.5}).Equal(s.Decode([]float64{0.5})) {
		t.Error("the same design of equal spaces is not equal")
	}
	if space(y).Decode([]float64{0.5}).Equal(s.Decode([]float64{0.5})) {
		t.Error("designs with other names are equal")
	}
}

func TestDesignIsImmutable(t *testing.T) {
	s := exampleSpace(t)
	d := s.Decode(make([]float64, s.Dim()))
	d.Values()[0] = FloatValue(9)
	s.Parameters()[4].Choices[0] = "changed"
	s.Blocks()[0].Len = 9
	if d.String() != "rate=0.001 momentum=0 batch=20 units=1 optimizer=sgd" || s.Check(d) != nil {
		t.Errorf("changed to %v", d)
	}
}

func TestProgrammersFaultsPanic(t *testing.T) {
	s := exampleSpace(t)
	d := s.Decode(make([]float64, s.Dim()))
	for name, f := range map[string]func(){
		"unknown name":   func() { d.Value("speed") },
		"wrong kind":     func() { d.Int("rate") },
		"zero design":    func() { Design{}.Value("rate") },
		"short point":    func() { s.Decode([]float64{1}) },
		"snap":           func() { s.Snap(nil) },
		"foreign design": func() { s.Encode(Design{}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

func TestValueText(t *testing.T) {
	for want, v := range map[string]Value{
		"0.3": FloatValue(0.3), "0": FloatValue(math.Copysign(0, -1)), "100": FloatValue(100), "1e-300": FloatValue(1e-300),
		"0.0001": FloatValue(1e-4), "-7": IntValue(-7), "adam": ChoiceValue("adam"), "": {},
	} {
		if v.String() != want {
			t.Errorf("%s, want %s", v, want)
		}
	}
	if _, err := json.Marshal(FloatValue(math.NaN())); err == nil {
		t.Error("NaN is written as JSON")
	}
	if _, err := json.Marshal(Value{}); err == nil {
		t.Error("a value without a kind is written as JSON")
	}
}

// What is read as a design is valid and is written so that it reads the same.
func FuzzUnmarshalDesign(f *testing.F) {
	s := exampleSpace(f)
	f.Add([]byte(s.Decode(make([]float64, s.Dim())).Key()))
	f.Add([]byte(`{"rate":1e-2,"momentum":0.5,"batch":3.2e1,"units":1,"optimizer":"r m s"}`))
	f.Add([]byte(`{"rate":null,"momentum":"x","batch":[],"units":{},"optimizer":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := s.UnmarshalDesign(data)
		if err != nil {
			if !d.IsZero() {
				t.Fatalf("%v with %v", d, err)
			}
			return
		}
		if err := s.Check(d); err != nil {
			t.Fatal(err)
		}
		again, err := s.UnmarshalDesign([]byte(d.Key()))
		if err != nil || !again.Equal(d) || again.Key() != d.Key() {
			t.Fatalf("%v was read as %v, %v", d, again, err)
		}
		s.Encode(d)
	})
}
