package securesum

import (
	"errors"
	"fmt"
	"io"
)

// ErrInconsistent means that the sums of a round's committee do not belong to one polynomial, and
// that too many are wrong to be outvoted: members have sent wrong ones, which cannot be identified.
var ErrInconsistent = errors.New("the committee's sums contradict each other")

// deal shares a vector among members: result[k] holds member k's values, those at point k+1 of one
// polynomial of the given degree per coordinate. Its value at 0 is the vector's, and its other
// coefficients are uniform (Shamir 1979). The reader yields the coefficients of x, then of x², and
// so on, each for all coordinates.
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

// evaluate returns the polynomials' values at x, by Horner's rule.
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

// answer is one member's share of the sum: values at its point.
type answer struct {
	point  element
	values []element
}

// reconstruct returns the values at 0 of the polynomials of the given degree through the answers,
// which have different points. More answers than degree+1 are a check: an error wraps
// ErrInconsistent unless all of them fit. Exactly degree+1 answers always fit.
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

// interpolate returns, by Lagrange's formula, the values at x of the polynomials of lowest degree
// through the answers.
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
