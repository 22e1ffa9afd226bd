package securesum

import (
	"io"
)

// Shares of one polynomial are a Reed–Solomon code word (McEliece and Sarwate 1981). Let e =
// (n−degree−1)/2, rounded down. If at most e of n answers are wrong, the correct answers determine
// the polynomial: two polynomials that both fit n−e of the answers have more than `degree` points
// in common.

// correct returns the same as reconstruct, but tolerates up to (n−degree−1)/2 wrong answers of n.
// It also returns the indices of the wrong answers. An error wraps ErrInconsistent if more answers
// are wrong. Colluding members can avoid this error and cause a wrong result: n−degree of them,
// minus the number of wrong answers that correct tolerates, are sufficient.
//
// An answer that is wrong in one coordinate counts as wrong in all. A random combination of the
// coordinates identifies the wrong answers, except with a probability of n in 2⁶¹. So only one code
// word must be decoded. The vectors of the other answers are then checked in full.
func correct(answers []answer, degree int, random io.Reader) (values []element, wrong []int, err error) {
	most := (len(answers) - degree - 1) / 2
	if values, err = reconstruct(answers, degree); err == nil || most < 1 {
		return values, nil, err
	}
	weights := make([]element, len(answers[0].values))
	if err := draw(weights, random); err != nil {
		return nil, nil, err
	}
	word := make([]answer, len(answers))
	for i, a := range answers {
		word[i] = answer{a.point, []element{0}}
		for k, v := range a.values {
			word[i].values[0] = add(word[i].values[0], multiply(weights[k], v))
		}
	}
	base := unlocated(word, degree, most)
	if len(base) <= degree {
		return nil, nil, ErrInconsistent
	}
	base = base[:degree+1]
	var right []answer
	for i, a := range word {
		if interpolate(base, a.point)[0] == a.values[0] {
			right = append(right, answers[i])
		} else {
			wrong = append(wrong, i)
		}
	}
	if len(wrong) > most {
		return nil, nil, ErrInconsistent
	}
	if values, err = reconstruct(right, degree); err != nil {
		return nil, nil, err
	}
	return values, wrong, nil
}

// unlocated returns the correct points of a code word with at most `errors` wrong points, by the
// key equation of Berlekamp and Welch. E is a polynomial of degree `errors` that is zero at the
// wrong points of the word y, and Q = P·E, where P is the correct polynomial. Then Q(x) = y·E(x)
// holds at all points, and every solution has the same Q/E. The result also omits points at which E
// happens to be zero. It is meaningless if more points are wrong.
func unlocated(word []answer, degree, errors int) (right []answer) {
	unknowns := degree + 2*errors + 1 // degree+errors+1 coefficients of Q, and the coefficients of E below its leading 1
	rows := make([][]element, len(word))
	for i, a := range word {
		power, row := element(1), make([]element, unknowns+1)
		for k := range degree + errors + 1 {
			row[k] = power
			if k < errors {
				row[degree+errors+1+k] = subtract(0, multiply(a.values[0], power))
			}
			if k == errors {
				row[unknowns] = multiply(a.values[0], power)
			}
			power = multiply(power, a.point)
		}
		rows[i] = row
	}
	solution := solve(rows, unknowns)
	locator := append(solution[degree+errors+1:], 1)
	for _, a := range word {
		value := element(0)
		for k := len(locator) - 1; k >= 0; k-- {
			value = add(multiply(value, a.point), locator[k])
		}
		if value != 0 {
			right = append(right, a)
		}
	}
	return right
}

// solve returns one solution of linear equations by Gaussian elimination. The last column of each
// row is the right side. Free unknowns are zero. If there is no solution, the result is
// meaningless. solve overwrites the rows.
func solve(rows [][]element, unknowns int) []element {
	solution, pivots := make([]element, unknowns), 0
	var columns []int
	for column := 0; column < unknowns && pivots < len(rows); column++ {
		found := pivots
		for found < len(rows) && rows[found][column] == 0 {
			found++
		}
		if found == len(rows) {
			continue
		}
		rows[pivots], rows[found] = rows[found], rows[pivots]
		pivot := rows[pivots]
		scale := invert(pivot[column])
		for k := column; k <= unknowns; k++ {
			pivot[k] = multiply(pivot[k], scale)
		}
		for i, row := range rows {
			if factor := row[column]; i != pivots && factor != 0 {
				for k := column; k <= unknowns; k++ {
					row[k] = subtract(row[k], multiply(factor, pivot[k]))
				}
			}
		}
		columns = append(columns, column)
		pivots++
	}
	for i, column := range columns {
		solution[column] = rows[i][unknowns]
	}
	return solution
}
