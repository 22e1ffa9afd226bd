package protocol

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/proto"

	"github.com/fbo-node/fbo/internal/pb"
)

// Limits of the numbers in Hyperparameters.
const (
	MaxLogHyperparameter = 20.0 // absolute value of a logarithm
	MaxPrecision         = 1e4
)

// Hyperparameters is the share with an author's estimates of the logarithms of hyperparameters, and
// the precisions of these estimates. There is one lengthscale for each parameter of the task, and last
// the noise.
type Hyperparameters struct {
	Means      []float64 // estimated logarithms; encoded as float32
	Precisions []float64 // precision (inverse variance) of each estimate, 0 to MaxPrecision; encoded as float32
}

// Encode returns the payload: 8 bytes for each hyperparameter and a few more. It returns an error
// for values that Decode would reject.
func (h Hyperparameters) Encode() ([]byte, error) {
	if err := h.validate(len(h.Means) - 1); err != nil {
		return nil, err
	}
	return proto.Marshal(&pb.Hyperparameters{Means: toFloat32(h.Means), Precisions: toFloat32(h.Precisions)})
}

// DecodeHyperparameters is the inverse of Encode, for a task with the given number of parameters.
func DecodeHyperparameters(payload []byte, parameters int) (Hyperparameters, error) {
	if limit := 8*(parameters+1) + payloadOverhead; len(payload) > limit {
		return Hyperparameters{}, fmt.Errorf("%w: hyperparameters of %d bytes, the limit for %d parameters is %d", ErrMalformed, len(payload), parameters, limit)
	}
	var message pb.Hyperparameters
	if err := proto.Unmarshal(payload, &message); err != nil {
		return Hyperparameters{}, fmt.Errorf("%w: hyperparameters: %w", ErrMalformed, err)
	}
	h := Hyperparameters{Means: toFloat64(message.Means), Precisions: toFloat64(message.Precisions)}
	if err := h.validate(parameters); err != nil {
		return Hyperparameters{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return h, nil
}

func (h Hyperparameters) validate(parameters int) error {
	if parameters < 1 || len(h.Means) != parameters+1 || len(h.Precisions) != parameters+1 {
		return fmt.Errorf("hyperparameters with %d means and %d precisions, expected one mean and one precision for each parameter of the task and for the noise", len(h.Means), len(h.Precisions))
	}
	for i, mean := range h.Means {
		if !(math.Abs(mean) <= MaxLogHyperparameter) {
			return fmt.Errorf("mean %d of hyperparameters is %g, expected numbers up to %g in size", i, mean, MaxLogHyperparameter)
		}
		if precision := h.Precisions[i]; !(precision >= 0 && precision <= MaxPrecision) {
			return fmt.Errorf("precision %d of hyperparameters is %g, expected 0 to %g", i, precision, MaxPrecision)
		}
	}
	return nil
}
