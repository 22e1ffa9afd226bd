package protocol

import (
	"errors"
	"math"
	"reflect"
	"testing"
)

func exampleLatent() Latent {
	return Latent{
		Observations: 2,
		Lengthscales: []float64{0.25, 2},
		Rows:         [][]float64{{1, -2, MaxLatent}, {0, 0.5, 0}},
		Outputs:      []float64{-MaxLatent, 3},
	}
}

func TestLatentSurvivesTheWire(t *testing.T) {
	want := exampleLatent()
	payload, err := want.Encode(3)
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeLatent(payload, 2, 3)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	refusesBytes(t, payload, 4*(2+3+6)+roomBytes, func(payload []byte) error {
		_, err := DecodeLatent(payload, 2, 3)
		return err
	})
	if _, err := DecodeLatent(payload, 1, 3); !errors.Is(err, ErrMalformed) {
		t.Errorf("with another number of parameters: %v", err)
	}
	if _, err := DecodeLatent(payload, 2, 4); !errors.Is(err, ErrMalformed) {
		t.Errorf("with another number of points: %v", err)
	}
}

func TestLatentThatIsRefused(t *testing.T) {
	for name, change := range map[string]func(*Latent){
		"no observations":          func(l *Latent) { l.Observations = 0 },
		"more rows than observed":  func(l *Latent) { l.Observations = 1 },
		"an output less":           func(l *Latent) { l.Outputs = l.Outputs[1:] },
		"a number less":            func(l *Latent) { l.Rows[0] = l.Rows[0][1:] },
		"a number below the ramp":  func(l *Latent) { l.Rows[1][0] = 1 },
		"a number that is NaN":     func(l *Latent) { l.Rows[0][1] = math.NaN() },
		"a number too large":       func(l *Latent) { l.Rows[0][1] = -1.01 * MaxLatent },
		"an infinite output":       func(l *Latent) { l.Outputs[1] = math.Inf(1) },
		"lengthscale 0":            func(l *Latent) { l.Lengthscales[0] = 0 },
		"an infinite lengthscale":  func(l *Latent) { l.Lengthscales[1] = math.Inf(1) },
		"a lengthscale that's NaN": func(l *Latent) { l.Lengthscales[1] = math.NaN() },
	} {
		l := exampleLatent()
		change(&l)
		if _, err := l.Encode(3); err == nil {
			t.Errorf("%s: encoded", name)
		}
	}
}

func FuzzDecodeLatent(f *testing.F) {
	payload, err := exampleLatent().Encode(3)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(payload)
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := DecodeLatent(data, 2, 3)
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Fatalf("error %v does not wrap ErrMalformed", err)
			}
			return
		}
		again, err := l.Encode(3)
		if err != nil {
			t.Fatal(err)
		}
		if same, err := DecodeLatent(again, 2, 3); err != nil || !reflect.DeepEqual(same, l) {
			t.Fatalf("%+v became %+v, %v", l, same, err)
		}
	})
}
