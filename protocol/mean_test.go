package protocol

import (
	"math"
	"slices"
	"testing"
)

func exampleMean() Mean {
	return Mean{
		Observations:     7,
		Explained:        0.25,
		Level:            -3.5e7,
		Scale:            1e-3,
		Lengthscales:     []float64{0.5, 2},
		Values:           []float64{1, -2, 0.5, 0},
		ExplainedWeights: []float64{0.125, 0, -0.25, 1},
	}
}

func means(features int) codec[Mean] {
	return codec[Mean]{Mean.Encode, func(data []byte) (Mean, error) { return DecodeMean(data, features, 2) }}
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
		t.Run(name, func(t *testing.T) {
			m := exampleMean()
			change(&m)
			means(4).survives(t, m)
		})
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
		"too much known":       func(m *Mean) { m.ExplainedWeights = append(m.ExplainedWeights, 0) },
		"NaN value":            func(m *Mean) { m.Values[3] = math.NaN() },
		"huge known":           func(m *Mean) { m.ExplainedWeights[0] = -2 * MaxWeight },
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
	payload := means(4).encoded(t, exampleMean())
	for name, data := range map[string][]byte{
		"nothing":   nil,
		"garbage":   {0xff, 0xff, 0xff},
		"cut short": payload[:len(payload)-3],
		"ballast":   append(slices.Clone(payload), make([]byte, 200)...),
	} {
		means(4).malformed(t, name, data)
	}
	means(6).malformed(t, "for a task with more features", payload)
}

func FuzzDecodeMean(f *testing.F) { means(4).fuzz(f, exampleMean(), nil) }
