package securesum

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Up to (n−degree−1)/2 wrong answers of n, wherever and however they are wrong, are outvoted
// and named, and answers of which more are wrong at random are an error.
func TestWrongAnswersAreOutvoted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		members := rapid.IntRange(2, 14).Draw(t, "members")
		degree := rapid.IntRange(1, members-1).Draw(t, "degree")
		const dimension = 3
		v, random := vectorOf(t, dimension, "vector"), source(t)
		shares, err := deal(v, degree, members, random)
		if err != nil {
			t.Fatal(err)
		}
		most := (members - degree - 1) / 2
		wrong := rapid.Permutation(upTo(members)).Draw(t, "order")[:rapid.IntRange(0, min(most+1, members-degree-1)).Draw(t, "wrong")]
		slices.Sort(wrong)
		for _, k := range wrong {
			i := rapid.IntRange(0, dimension-1).Draw(t, "coordinate")
			shares[k][i] = add(shares[k][i], 1+element(rapid.Uint64Range(0, prime-2).Draw(t, "error")))
		}
		got, named, err := correct(answersOf(shares, upTo(members)), degree, random)
		if len(wrong) > most {
			// One more than can be outvoted may, by chance, look like others.
			if err == nil && len(named) > most || err != nil && !errors.Is(err, ErrInconsistent) {
				t.Fatalf("%d wrong of %d at degree %d: %v, %v", len(wrong), members, degree, named, err)
			}
			return
		}
		if err != nil || !slices.Equal(got, v) || !slices.Equal(named, wrong) {
			t.Fatalf("degree %d, %v of %d wrong: %v, named %v, %v; want %v", degree, wrong, members, got, named, err, v)
		}
	})
}

// Whatever the answers are, a result fits all but those that are named.
func FuzzCorrect(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8}, uint8(1))
	f.Add([]byte{0, 0, 0, 0, 0, 9}, uint8(2))
	f.Add([]byte{1, 2, 3, 4, 5, 0}, uint8(1))
	f.Fuzz(func(t *testing.T, values []byte, degree uint8) {
		n, d := len(values), int(degree%8)+1
		if n <= d || n > MaxMembers {
			return
		}
		var answers []answer
		for i, v := range values {
			answers = append(answers, answer{element(i + 1), []element{element(v), element(v) + 1}})
		}
		got, wrong, err := correct(answers, d, rand.NewChaCha8([32]byte{1}))
		if err != nil {
			return
		}
		var right []answer
		for i, a := range answers {
			if !slices.Contains(wrong, i) {
				right = append(right, a)
			}
		}
		if again, err := reconstruct(right, d); err != nil || !slices.Equal(again, got) || len(wrong) > (n-d-1)/2 {
			t.Errorf("%v at degree %d: %v without %v; %v, %v", values, d, got, wrong, again, err)
		}
	})
}
