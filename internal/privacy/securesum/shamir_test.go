package securesum

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func vectorOf(t *rapid.T, n int, label string) []element {
	return rapid.SliceOfN(anyElement(), n, n).Draw(t, label)
}

func source(t *rapid.T) *rand.ChaCha8 {
	return rand.NewChaCha8([32]byte{byte(rapid.IntRange(0, 255).Draw(t, "seed"))})
}

// asReader gives elements to draw.
func asReader(rows ...[]element) *bytes.Reader {
	var data []byte
	for _, row := range rows {
		for _, x := range row {
			data = binary.LittleEndian.AppendUint64(data, uint64(x))
		}
	}
	return bytes.NewReader(data)
}

func answersOf(shares [][]element, ranks []int) []answer {
	var answers []answer
	for _, k := range ranks {
		answers = append(answers, answer{element(k + 1), shares[k]})
	}
	return answers
}

// subsets calls f with every subset of 0…n−1.
func subsets(n int, f func([]int)) {
	for mask := range 1 << n {
		var s []int
		for i := range n {
			if mask>>i&1 == 1 {
				s = append(s, i)
			}
		}
		f(s)
	}
}

// Sums of shares of several vectors reconstruct to the vectors' sum, from every
// subset that is large enough, and from none that is not.
func TestEverySubsetReconstructsTheSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		members := rapid.IntRange(2, 7).Draw(t, "members")
		degree := rapid.IntRange(1, members-1).Draw(t, "degree")
		const dimension = 3
		random := source(t)
		want := make([]element, dimension)
		sums := make([][]element, members)
		for k := range sums {
			sums[k] = make([]element, dimension)
		}
		for range rapid.IntRange(1, 4).Draw(t, "contributors") {
			v := vectorOf(t, dimension, "vector")
			shares, err := deal(v, degree, members, random)
			if err != nil {
				t.Fatal(err)
			}
			addTo(want, v)
			for k := range sums {
				addTo(sums[k], shares[k])
			}
		}
		subsets(members, func(ranks []int) {
			got, err := reconstruct(answersOf(sums, ranks), degree)
			if len(ranks) <= degree {
				if err == nil {
					t.Fatalf("%d answers gave a sum at degree %d", len(ranks), degree)
				}
				return
			}
			if err != nil || !slices.Equal(got, want) {
				t.Fatalf("%v: %v, %v; want %v", ranks, got, err, want)
			}
		})
	})
}

// As long as degree+1 answers are right, wrong ones among the others never go
// unnoticed: a polynomial through all would agree with the right one at degree+1
// points, and so be it.
func TestContradictionsAreSeen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		members := rapid.IntRange(3, 9).Draw(t, "members")
		degree := rapid.IntRange(1, members-2).Draw(t, "degree")
		shares, err := deal(vectorOf(t, 2, "vector"), degree, members, source(t))
		if err != nil {
			t.Fatal(err)
		}
		wrong := rapid.IntRange(1, members-degree-1).Draw(t, "wrong")
		order := rapid.Permutation(upTo(members)).Draw(t, "order")
		for _, k := range order[:wrong] {
			i := rapid.IntRange(0, 1).Draw(t, "coordinate")
			shares[k][i] = add(shares[k][i], 1+element(rapid.Uint64Range(0, prime-2).Draw(t, "error")))
		}
		if got, err := reconstruct(answersOf(shares, upTo(members)), degree); !errors.Is(err, ErrInconsistent) {
			t.Fatalf("%v, %v", got, err)
		}
	})
}

func upTo(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

// What t members see is independent of the vector, exactly: whatever they see of
// one vector, for any other vector there is one and only one choice of
// coefficients that shows them the same. Coefficients are uniform, so both
// vectors show it with the same probability.
func TestSharesOfThresholdMembersSayNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		members := rapid.IntRange(2, 8).Draw(t, "members")
		degree := rapid.IntRange(1, members-1).Draw(t, "degree")
		const dimension = 2
		v, other := vectorOf(t, dimension, "vector"), vectorOf(t, dimension, "other")
		shares, err := deal(v, degree, members, source(t))
		if err != nil {
			t.Fatal(err)
		}
		colluders := rapid.Permutation(upTo(members)).Draw(t, "order")[:degree]

		// The polynomial through the other vector at 0 and what the colluders saw.
		coefficients := through(append(answersOf(shares, colluders), answer{0, other}), degree, dimension)
		again, err := deal(other, degree, members, asReader(coefficients...))
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range colluders {
			if !slices.Equal(again[k], shares[k]) {
				t.Fatalf("member %d of colluders %v can tell %v from %v", k, colluders, v, other)
			}
		}
		// One member more can tell, unless there is nothing to tell.
		if k := slices.IndexFunc(upTo(members), func(k int) bool { return !slices.Contains(colluders, k) }); slices.Equal(again[k], shares[k]) != slices.Equal(v, other) {
			t.Fatalf("shares of %d members fit both %v and %v", degree+1, v, other)
		}
	})
}

// through returns the coefficients of x, x², … of the polynomials through
// degree+1 answers, one of them at 0, by Gaussian elimination.
func through(answers []answer, degree, dimension int) [][]element {
	n := degree + 1
	matrix := make([][]element, n) // powers of the point, then values
	for i, a := range answers {
		power := element(1)
		for range n {
			matrix[i] = append(matrix[i], power)
			power = multiply(power, a.point)
		}
		matrix[i] = append(matrix[i], a.values...)
	}
	for column := range n {
		pivot := column
		for matrix[pivot][column] == 0 {
			pivot++
		}
		matrix[column], matrix[pivot] = matrix[pivot], matrix[column]
		scale := invert(matrix[column][column])
		for j := range matrix[column] {
			matrix[column][j] = multiply(matrix[column][j], scale)
		}
		for i := range matrix {
			if factor := matrix[i][column]; i != column && factor != 0 {
				for j := range matrix[i] {
					matrix[i][j] = subtract(matrix[i][j], multiply(factor, matrix[column][j]))
				}
			}
		}
	}
	var coefficients [][]element
	for _, row := range matrix[1:] {
		coefficients = append(coefficients, row[n:n+dimension])
	}
	return coefficients
}

func TestDealNeedsRandomBytes(t *testing.T) {
	if _, err := deal(make([]element, 4), 2, 3, asReader(make([]element, 7))); err == nil {
		t.Error("shares were dealt without enough random bytes")
	}
}
