package protocol

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/fbo-node/fbo/protocol/pb"
)

func exampleHyperparameters() Hyperparameters {
	return Hyperparameters{Means: []float64{-1.5, MaxLogHyperparameter, -5}, Precisions: []float64{0, 2.25, MaxPrecision}}
}

func TestHyperparametersSurviveTheWire(t *testing.T) {
	want := exampleHyperparameters()
	payload, err := want.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeHyperparameters(payload, 2)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	refusesBytes(t, payload, 8*3+roomBytes, func(payload []byte) error {
		_, err := DecodeHyperparameters(payload, 2)
		return err
	})
}

func TestHyperparametersThatAreRefused(t *testing.T) {
	for name, change := range map[string]func(*Hyperparameters){
		"a mean less":         func(h *Hyperparameters) { h.Means = h.Means[1:] },
		"a precision more":    func(h *Hyperparameters) { h.Precisions = append(h.Precisions, 1) },
		"one parameter more":  func(h *Hyperparameters) { h.Means, h.Precisions = append(h.Means, 0), append(h.Precisions, 0) },
		"nothing":             func(h *Hyperparameters) { *h = Hyperparameters{} },
		"a mean that is NaN":  func(h *Hyperparameters) { h.Means[0] = math.NaN() },
		"a mean too large":    func(h *Hyperparameters) { h.Means[0] = -20.1 },
		"infinite precision":  func(h *Hyperparameters) { h.Precisions[2] = math.Inf(1) },
		"precision too large": func(h *Hyperparameters) { h.Precisions[2] = 1.01 * MaxPrecision },
		"negative precision":  func(h *Hyperparameters) { h.Precisions[0] = -1e-9 },
		"precision NaN":       func(h *Hyperparameters) { h.Precisions[0] = math.NaN() },
	} {
		h := exampleHyperparameters()
		change(&h)
		if _, err := h.Encode(); err == nil && name != "one parameter more" {
			t.Errorf("%s: encoded", name)
		}
		payload, err := proto.Marshal(&pb.Hyperparameters{Means: narrow(h.Means), Precisions: narrow(h.Precisions)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := DecodeHyperparameters(payload, 2); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzDecodeHyperparameters(f *testing.F) {
	payload, err := exampleHyperparameters().Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(payload)
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := DecodeHyperparameters(data, 2)
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Fatalf("error %v does not wrap ErrMalformed", err)
			}
			return
		}
		again, err := h.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if same, err := DecodeHyperparameters(again, 2); err != nil || !reflect.DeepEqual(same, h) {
			t.Fatalf("%+v became %+v, %v", h, same, err)
		}
	})
}
