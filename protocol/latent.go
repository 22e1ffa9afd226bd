package protocol

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/proto"

	"github.com/fbo-node/fbo/internal/pb"
)

// MaxLatent is the maximum absolute value of each number in Rows and Outputs.
const MaxLatent = 1e4

// Latent is the share with the likelihood of a latent function, given its author's observations.
// The likelihood has the form Outputs = Rows·v + e. The vector v holds the function's values at the
// task's points, in units in which they are independent a priori. The vector e is independent noise
// of variance 1.
type Latent struct {
	Observations int         // number of observations behind the likelihood, at least 1
	Lengthscales []float64   // lengthscales of the latent function, one per parameter; encoded as float32
	Rows         [][]float64 // matrix with one column per point; row i is zero before column i; encoded as float32
	Outputs      []float64   // one per row; encoded as float32
}

// Encode returns the payload: 4 bytes for each number that may differ from zero, and a few more. It
// returns an error for values that Decode would reject.
func (l Latent) Encode(points int) ([]byte, error) {
	if err := l.validate(len(l.Lengthscales), points); err != nil {
		return nil, err
	}
	message := &pb.Latent{Observations: uint32(l.Observations), Lengthscales: toFloat32(l.Lengthscales), Outputs: toFloat32(l.Outputs)}
	for i, row := range l.Rows {
		message.Rows = append(message.Rows, toFloat32(row[i:])...)
	}
	return proto.Marshal(message)
}

// DecodeLatent is the inverse of Encode, for the given numbers of parameters and points. It returns
// an error for other sizes.
func DecodeLatent(payload []byte, parameters, points int) (Latent, error) {
	if limit := 4*(parameters+points+points*(points+1)/2) + payloadOverhead; len(payload) > limit {
		return Latent{}, fmt.Errorf("%w: a share of a latent function has %d bytes, the limit for %d points is %d", ErrMalformed, len(payload), points, limit)
	}
	var message pb.Latent
	if err := proto.Unmarshal(payload, &message); err != nil {
		return Latent{}, fmt.Errorf("%w: latent function: %w", ErrMalformed, err)
	}
	count := len(message.Outputs)
	if want := count*points - count*(count-1)/2; count > points || len(message.Rows) != want {
		return Latent{}, fmt.Errorf("%w: a statement about a latent function has %d outputs and %d numbers in rows, expected up to %d outputs, and for this number %d numbers",
			ErrMalformed, count, len(message.Rows), points, want)
	}
	l := Latent{Observations: int(message.Observations), Lengthscales: toFloat64(message.Lengthscales), Outputs: toFloat64(message.Outputs)}
	for i, rest := 0, toFloat64(message.Rows); i < count; i++ {
		row := make([]float64, points)
		copy(row[i:], rest)
		l.Rows, rest = append(l.Rows, row), rest[points-i:]
	}
	if err := l.validate(parameters, points); err != nil {
		return Latent{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return l, nil
}

func (l Latent) validate(parameters, points int) error {
	if err := checkObservations("latent function", l.Observations); err != nil {
		return err
	}
	if len(l.Lengthscales) != parameters {
		return fmt.Errorf("a latent function with %d lengthscales, the task has %d parameters", len(l.Lengthscales), parameters)
	}
	for i, v := range l.Lengthscales {
		if !(v >= MinLengthscale && v <= MaxLengthscale) {
			return fmt.Errorf("lengthscale %d of a latent function is %g, expected %g to %g", i, v, MinLengthscale, MaxLengthscale)
		}
	}
	if len(l.Rows) != len(l.Outputs) || len(l.Rows) > min(points, l.Observations) {
		return fmt.Errorf("a share of a latent function after %d observations has %d rows and %d outputs; the numbers must be equal, up to the observations and the %d points", l.Observations, len(l.Rows), len(l.Outputs), points)
	}
	for i, row := range l.Rows {
		if len(row) != points {
			return fmt.Errorf("row %d of a share of a latent function has %d numbers, expected %d", i, len(row), points)
		}
		for k, v := range row {
			if !(math.Abs(v) <= MaxLatent) || k < i && v != 0 {
				return fmt.Errorf("number %d of row %d of a share of a latent function is %g, expected numbers up to %g in size, and 0 before number %d", k, i, v, MaxLatent, i)
			}
		}
		if !(math.Abs(l.Outputs[i]) <= MaxLatent) {
			return fmt.Errorf("output %d of a share of a latent function is %g, expected numbers up to %g in size", i, l.Outputs[i], MaxLatent)
		}
	}
	return nil
}
