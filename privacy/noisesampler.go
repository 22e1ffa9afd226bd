package privacy

import (
	"errors"
	"fmt"
	"io"
)

// MaxSigma is the largest noise scale, in grid units. With maxGeometric it bounds
// the noise: it is below 2^60, so that sums with clipped integers fit an int64.
const MaxSigma = 1 << 44

// maxValue bounds what noise may be added to, so that the sum fits.
const maxValue = 1 << 62

// Sampler draws discrete Gaussian noise: the integer x with probability
// proportional to exp(−x²/2σ²), exactly, from random bits and integers below 2^61
// alone. It must not be copied, for a copy repeats noise, nor used by two
// goroutines at once.
type Sampler struct {
	sigma uint64
	bits  entropy
}

// NewSampler returns a sampler of scale sigma, in grid units, 1 to MaxSigma. The
// source must be the Reader of crypto/rand; anything repeatable, as in tests, makes
// every promise void. Sixty-four bytes are read at a time.
func NewSampler(sigma int64, source io.Reader) (*Sampler, error) {
	if sigma < 1 || sigma > MaxSigma {
		return nil, fmt.Errorf("parameter %q: %d must lie in [1, %d]", "sigma", sigma, int64(MaxSigma))
	}
	if source == nil {
		return nil, errors.New("parameter \"source\": nil must be a reader of random bytes")
	}
	return &Sampler{sigma: uint64(sigma), bits: newEntropy(source)}, nil
}

// AddTo adds independent noise to every value. Values must lie in [−2^62, 2^62].
// After an error all values are zero, so that nothing leaves without its noise; an
// error of the source stays.
func (s *Sampler) AddTo(values []int64) error {
	for _, v := range values {
		if v < -maxValue || v > maxValue {
			clear(values)
			return fmt.Errorf("parameter %q: %d must lie in [-2^62, 2^62]", "values", v)
		}
	}
	for i := range values {
		noise, err := s.Sample()
		if err != nil {
			clear(values)
			return err
		}
		values[i] += noise
	}
	return nil
}

// Sample draws one number, below 2^60 in size.
//
// It is Algorithm 3 of CKS 2020 with t = σ, which any t ≥ 1 permits and which keeps
// all quantities small: a discrete Laplace number of scale σ, accepted with
// probability exp(−(|y|−σ)²/2σ²).
func (s *Sampler) Sample() (int64, error) {
	for range maxAttempts {
		u, v, ok := s.laplace()
		negative := s.bits.coin()
		if ok && negative && u == 0 && v == 0 {
			ok = false // zero has one sign, or it would come twice as often
		}
		accepted := ok && s.accept(u, v)
		if s.bits.err != nil {
			return 0, s.bits.err
		}
		if !accepted {
			continue
		}
		y := int64(u + s.sigma*v)
		if negative {
			y = -y
		}
		return y, nil
	}
	s.bits.fail()
	return 0, s.bits.err
}

// laplace draws the size y = u + σ·v, u < σ, of a discrete Laplace number of scale
// σ (CKS 2020, Algorithm 2). ok is false if the attempt was rejected.
func (s *Sampler) laplace() (u, v uint64, ok bool) {
	u = s.bits.below(s.sigma)
	if !s.bits.expMinus(func() bool { return s.bits.fraction(u, s.sigma) }) {
		return 0, 0, false
	}
	for s.bits.expMinus(func() bool { return true }) {
		if v++; v == maxGeometric {
			s.bits.fail()
		}
		if s.bits.err != nil {
			return 0, 0, false
		}
	}
	return u, v, true
}

// accept is true with probability exp(−(y−σ)²/2σ²), y = u + σ·v. With
// |y−σ| = σ·q + r, r < σ, the exponent falls into q²/2 + q·r/σ + (r/σ)²/2, and
// each part into throws whose numbers stay below σ.
func (s *Sampler) accept(u, v uint64) bool {
	var q, r uint64
	switch {
	case v > 0:
		q, r = v-1, u
	case u == 0:
		q = 1
	default:
		r = s.sigma - u
	}
	for range q * q {
		if !s.bits.expMinus(s.bits.coin) {
			return false
		}
	}
	ratio := func() bool { return s.bits.fraction(r, s.sigma) }
	for range q {
		if !s.bits.expMinus(ratio) {
			return false
		}
	}
	return s.bits.expMinus(func() bool { return s.bits.coin() && ratio() && ratio() })
}
