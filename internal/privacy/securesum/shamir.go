package securesum

import (
	"errors"
	"fmt"
	"io"
)

// ErrInconsistent means that the sums of a round's committee do not belong to one polynomial, and
// that too many of them are wrong to be outvoted. Members have sent wrong sums, and these members
// cannot be identified.
var ErrInconsistent = errors.New("the committee's sums contradict each other")

// deal divides a vector into shares for the members. There is one polynomial of the given degree
// per coordinate, and result[k] holds the values of all polynomials at point k+1. The value of a
// polynomial at 0 is the coordinate of the vector, and its other coefficients are uniformly
// distributed (Shamir 1979). The coefficients of x are drawn first, for all coordinates, then those
// of x², and so on.
func deal(vector []element, degree, members int, random io.Reader) ([][]element, error) {
	coefficients := make([][]element, degree)
	for k := range coefficients {
		coefficients[k] = make([]element, len(vector))
		if err := draw(coefficients[k], random); err != nil {
			return nil, err
		}
	}
	shares := make([][]element, members)
	for k := range shares {
		shares[k] = evaluate(vector, coefficients, element(k+1))
	}
	return shares, nil
}

// evaluate returns the values of the polynomials at x, by Horner's rule.
func evaluate(vector []element, coefficients [][]element, x element) []element {
	values := make([]element, len(vector))
	for k := len(coefficients) - 1; k >= 0; k-- {
		for i, c := range coefficients[k] {
			values[i] = multiply(add(values[i], c), x)
		}
	}
	addTo(values, vector)
	return values
}

// answer is one member's share of the sum: the values of the polynomials at the member's point.
type answer struct {
	point  element
	values []element
}

// reconstruct returns the values at 0 of the polynomials of the given degree through the answers,
// which must have different points. Answers beyond degree+1 are a check: unless all of them fit,
// the error wraps ErrInconsistent. Exactly degree+1 answers always fit.
func reconstruct(answers []answer, degree int) ([]element, error) {
	if len(answers) <= degree {
		return nil, fmt.Errorf("%d answers cannot determine polynomials of degree %d", len(answers), degree)
	}
	base, rest := answers[:degree+1], answers[degree+1:]
	for _, extra := range rest {
		expected := interpolate(base, extra.point)
		for i, v := range expected {
			if v != extra.values[i] {
				return nil, ErrInconsistent
			}
		}
	}
	return interpolate(base, 0), nil
}

// interpolate returns the values at x of the polynomials of lowest degree through the answers, by
// Lagrange's formula.
func interpolate(answers []answer, x element) []element {
	result := make([]element, len(answers[0].values))
	for i, a := range answers {
		above, below := element(1), element(1)
		for j, b := range answers {
			if j != i {
				above = multiply(above, subtract(x, b.point))
				below = multiply(below, subtract(a.point, b.point))
			}
		}
		weight := multiply(above, invert(below))
		for k, v := range a.values {
			result[k] = add(result[k], multiply(weight, v))
		}
	}
	return result
}
