package protocol

import (
	"math"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/fbo-node/fbo/internal/pb"
)

func exampleHyperparameters() Hyperparameters {
	return Hyperparameters{Means: []float64{-1.5, MaxLogHyperparameter, -5}, Precisions: []float64{0, 2.25, MaxPrecision}}
}

func hyperparameters(parameters int) codec[Hyperparameters] {
	return codec[Hyperparameters]{
		Hyperparameters.Encode,
		func(data []byte) (Hyperparameters, error) { return DecodeHyperparameters(data, parameters) },
	}
}

func TestHyperparametersSurviveTheWire(t *testing.T) {
	hyperparameters(2).refusesDamage(t, exampleHyperparameters(), 8*3+payloadOverhead, nil)
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
		if name != "one parameter more" {
			hyperparameters(2).unsendable(t, name, h)
		}
		payload, err := proto.Marshal(&pb.Hyperparameters{Means: toFloat32(h.Means), Precisions: toFloat32(h.Precisions)})
		if err != nil {
			t.Fatal(err)
		}
		hyperparameters(2).malformed(t, name, payload)
	}
}

func FuzzDecodeHyperparameters(f *testing.F) {
	hyperparameters(2).fuzz(f, exampleHyperparameters(), nil)
}
