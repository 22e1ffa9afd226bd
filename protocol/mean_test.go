package protocol

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"
)

func exampleMean() Mean {
	return Mean{
		Observations: 7,
		Explained:    0.25,
		Level:        -3.5e7,
		Scale:        1e-3,
		Lengthscales: []float64{0.5, 2},
		Values:       []float64{1, -2, 0.5, 0},
		Known:        []float64{0.125, 0, -0.25, 1},
	}
}

func TestMeanSurvivesTheWire(t *testing.T) {
	for name, change := range map[string]func(*Mean){
		"full":               func(*Mean) {},
		"no lengthscales":    func(m *Mean) { m.Lengthscales = nil },
		"explains all":       func(m *Mean) { m.Explained = 1 },
		"knows nothing":      func(m *Mean) { m.Explained = 0 },
		"at the bounds":      func(m *Mean) { m.Values[0], m.Level, m.Scale = MaxWeight, -MaxUnit, MaxUnit },
		"extreme smoothness": func(m *Mean) { m.Lengthscales[0] = float64(float32(MaxLengthscale)) },
	} {
		want := exampleMean()
		change(&want)
		payload, err := want.Encode()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := DecodeMean(payload, 4, 2)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, want)
		}
	}
}

func TestMeansThatAreRefused(t *testing.T) {
	tooMany := math.MaxInt32
	tooMany++ // negative where an int has 32 bits, and refused there too
	for name, change := range map[string]func(*Mean){
		"no observations":      func(m *Mean) { m.Observations = 0 },
		"too many":             func(m *Mean) { m.Observations = tooMany },
		"explains too much":    func(m *Mean) { m.Explained = 1.01 },
		"explains NaN":         func(m *Mean) { m.Explained = math.NaN() },
		"no scale":             func(m *Mean) { m.Scale = 0 },
		"infinite scale":       func(m *Mean) { m.Scale = math.Inf(1) },
		"huge level":           func(m *Mean) { m.Level = 2 * MaxUnit },
		"NaN level":            func(m *Mean) { m.Level = math.NaN() },
		"too few values":       func(m *Mean) { m.Values = m.Values[1:] },
		"too much known":       func(m *Mean) { m.Known = append(m.Known, 0) },
		"NaN value":            func(m *Mean) { m.Values[3] = math.NaN() },
		"huge known":           func(m *Mean) { m.Known[0] = -2 * MaxWeight },
		"one lengthscale less": func(m *Mean) { m.Lengthscales = m.Lengthscales[:1] },
		"zero lengthscale":     func(m *Mean) { m.Lengthscales[1] = 0 },
		"infinite lengthscale": func(m *Mean) { m.Lengthscales[0] = math.Inf(1) },
	} {
		m := exampleMean()
		change(&m)
		if err := m.validate(4, 2); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	payload, err := exampleMean().Encode()
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"nothing":   nil,
		"garbage":   {0xff, 0xff, 0xff},
		"cut short": payload[:len(payload)-3],
		"ballast":   append(slices.Clone(payload), make([]byte, 200)...),
	} {
		if _, err := DecodeMean(data, 4, 2); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := DecodeMean(payload, 6, 2); !errors.Is(err, ErrMalformed) {
		t.Errorf("for a task with more features: %v", err)
	}
}

// Whatever is accepted is within bounds and can be sent again.
func FuzzDecodeMean(f *testing.F) {
	payload, err := exampleMean().Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(payload)
	f.Add(payload[:9])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := DecodeMean(data, 4, 2)
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Errorf("the error %v is not ErrMalformed", err)
			}
			return
		}
		again, err := m.Encode()
		if err != nil {
			t.Fatalf("%+v was accepted and cannot be sent: %v", m, err)
		}
		if back, err := DecodeMean(again, 4, 2); err != nil || !reflect.DeepEqual(back, m) {
			t.Errorf("%+v came back as %+v, %v", m, back, err)
		}
	})
}
