package privacy

import (
	"errors"
	"fmt"
	"io"
)

// MaxSigma is the largest noise scale, in grid units. Together with maxGeometric it bounds the
// noise below 2^60, so that sums with clipped integers fit an int64.
const MaxSigma = 1 << 44

// maxValue is the largest absolute value to which noise may be added, so that the sum fits an
// int64.
const maxValue = 1 << 62

// Sampler draws discrete Gaussian noise: the integer x with probability proportional to
// exp(−x²/2σ²). The distribution is exact, since the sampler uses only random bits and integers
// below 2^61. A Sampler must not be copied, since the copy would repeat noise, and must not be used
// concurrently.
type Sampler struct {
	sigma uint64
	bits  entropy
}

// NewSampler returns a sampler of scale sigma, in grid units, 1 to MaxSigma. source must be the
// Reader of crypto/rand. With a repeatable source, as in tests, there is no privacy. The sampler
// reads 64 bytes at a time.
func NewSampler(sigma int64, source io.Reader) (*Sampler, error) {
	if sigma < 1 || sigma > MaxSigma {
		return nil, fmt.Errorf("parameter %q: %d must lie in [1, %d]", "sigma", sigma, int64(MaxSigma))
	}
	if source == nil {
		return nil, errors.New("parameter \"source\": nil must be a reader of random bytes")
	}
	return &Sampler{sigma: uint64(sigma), bits: newEntropy(source)}, nil
}

// AddTo adds independent noise to every value. Values must lie in [−2^62, 2^62]. After an error all
// values are zero, so that none is released without noise. After an error of the source all further
// calls fail.
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

// Sample draws one number of noise. Its absolute value is below 2^60.
//
// The method is Algorithm 3 of Canonne, Kamath and Steinke (CKS 2020) with t = σ. The algorithm
// permits any t ≥ 1, and this one keeps all quantities small. A discrete Laplace number y of scale
// σ is accepted with probability exp(−(|y|−σ)²/2σ²).
func (s *Sampler) Sample() (int64, error) {
	for range maxAttempts {
		u, v, ok := s.laplace()
		negative := s.bits.coin()
		if ok && negative && u == 0 && v == 0 {
			ok = false // −0 is rejected; otherwise zero would be drawn twice as often
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

// laplace draws the absolute value y = u + σ·v, with u < σ, of a discrete Laplace number of scale σ
// (CKS 2020, Algorithm 2). ok is false if the attempt was rejected.
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

// accept returns true with probability exp(−(y−σ)²/2σ²), where y = u + σ·v. With |y−σ| = σ·q + r
// and r < σ, the exponent is the sum of q²/2, q·r/σ and (r/σ)²/2. Each part is decided by coin
// throws whose numbers are at most σ.
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
