package protocol

import (
	"fmt"
	"math"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/fbo-node/fbo/internal/pb"
)

// Limits of a lengthscale in a share, in the unit cube.
const (
	MinLengthscale = 1e-3
	MaxLengthscale = 1e6
)

// MaxUnit is the maximum absolute value of Level and Scale of a Mean, and of other numbers in the
// objective's units. The square of such a number does not overflow.
const MaxUnit = 1e100

// Mean is the share with the mean of its author's posterior, as weights of the task's shared
// features.
type Mean struct {
	Observations     int       // number of observations behind the posterior, at least 1
	Explained        float64   // fraction of the prior variance that the observations remove, averaged over the search space; 0 to 1
	Level            float64   // prior mean of the objective, in its own units, signed so that larger is better
	Scale            float64   // factor that converts Values to the objective's units; positive
	Lengthscales     []float64 // lengthscales that the author has fitted, one per parameter of the task; nil if its surrogate fits none
	Values           []float64 // weights of the standardised posterior mean, one per shared feature; encoded as float32
	ExplainedWeights []float64 // weights of a function of the design: the fraction of the prior variance removed there, minus Explained; encoded as Values
}

// Encode returns the payload: 4 bytes for each number and a few more. It returns an error for
// values that Decode would reject.
func (m Mean) Encode() ([]byte, error) {
	if err := m.validate(len(m.Values), len(m.Lengthscales)); err != nil {
		return nil, err
	}
	return proto.Marshal(&pb.Mean{
		Observations:     uint32(m.Observations),
		Explained:        float32(m.Explained),
		Level:            m.Level,
		Scale:            m.Scale,
		Lengthscales:     toFloat32(m.Lengthscales),
		Values:           toFloat32(m.Values),
		ExplainedWeights: toFloat32(m.ExplainedWeights),
	})
}

// DecodeMean is the inverse of Encode. There must be exactly the given number of features, and
// lengthscales for all of the given number of parameters or none. All numbers must be finite and
// within the limits.
func DecodeMean(payload []byte, features, parameters int) (Mean, error) {
	if limit := 4*(2*features+parameters) + payloadOverhead; len(payload) > limit {
		return Mean{}, fmt.Errorf("%w: a mean of %d bytes, the limit for %d features is %d", ErrMalformed, len(payload), features, limit)
	}
	var message pb.Mean
	if err := proto.Unmarshal(payload, &message); err != nil {
		return Mean{}, fmt.Errorf("%w: mean: %w", ErrMalformed, err)
	}
	m := Mean{
		Observations:     int(message.Observations),
		Explained:        float64(message.Explained),
		Level:            message.Level,
		Scale:            message.Scale,
		Lengthscales:     toFloat64(message.Lengthscales),
		Values:           toFloat64(message.Values),
		ExplainedWeights: toFloat64(message.ExplainedWeights),
	}
	if err := m.validate(features, parameters); err != nil {
		return Mean{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return m, nil
}

func (m Mean) validate(features, parameters int) error {
	switch {
	case m.Observations < 1 || m.Observations > math.MaxInt32:
		return fmt.Errorf("a mean resting on %d observations, expected 1 to %d", m.Observations, math.MaxInt32)
	case !(m.Explained >= 0 && m.Explained <= 1):
		return fmt.Errorf("a mean that explains %g of the variance, expected 0 to 1", m.Explained)
	case math.IsNaN(m.Level) || math.Abs(m.Level) > MaxUnit:
		return fmt.Errorf("a mean of level %g, expected numbers up to %g in size", m.Level, MaxUnit)
	case !(m.Scale > 0 && m.Scale <= MaxUnit):
		return fmt.Errorf("a mean of scale %g, expected positive numbers up to %g", m.Scale, MaxUnit)
	case len(m.Values) != features:
		return fmt.Errorf("a mean of %d weights, the task has %d features", len(m.Values), features)
	case len(m.ExplainedWeights) != features:
		return fmt.Errorf("explained_weights of a mean has %d weights, the task has %d features", len(m.ExplainedWeights), features)
	case len(m.Lengthscales) != 0 && len(m.Lengthscales) != parameters:
		return fmt.Errorf("a mean with %d lengthscales, the task has %d parameters", len(m.Lengthscales), parameters)
	}
	for i, v := range slices.Concat(m.Values, m.ExplainedWeights) {
		if math.IsNaN(v) || math.Abs(v) > MaxWeight {
			return fmt.Errorf("weight %d of a mean is %g, expected numbers up to %g in size", i, v, MaxWeight)
		}
	}
	for i, l := range m.Lengthscales {
		if !(l >= MinLengthscale && l <= MaxLengthscale) {
			return fmt.Errorf("lengthscale %d of a mean is %g, expected %g to %g", i, l, MinLengthscale, MaxLengthscale)
		}
	}
	return nil
}

func toFloat32(values []float64) []float32 {
	narrowed := make([]float32, len(values))
	for i, v := range values {
		narrowed[i] = float32(v)
	}
	return narrowed
}

func toFloat64(values []float32) []float64 {
	if len(values) == 0 {
		return nil
	}
	widened := make([]float64, len(values))
	for i, v := range values {
		widened[i] = float64(v)
	}
	return widened
}
