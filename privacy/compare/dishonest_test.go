package compare

import (
	"math/rand/v2"
	"testing"

	"github.com/cloudflare/circl/group"

	"github.com/fbo-node/fbo/internal/race"
)

// shut returns the list of points, each raised to the secret at its place, and where in
// the list each of them is.
func shut(points []group.Element, secrets []group.Scalar) []byte {
	for i, p := range points {
		p.Mul(p, secrets[i])
	}
	return list(points)
}

// secretsOf draws so many.
func secretsOf(t testing.TB, count int, random *rand.ChaCha8) []group.Scalar {
	secrets := make([]group.Scalar, count)
	for i := range secrets {
		var err error
		if secrets[i], err = newSecret(random); err != nil {
			t.Fatal(err)
		}
	}
	return secrets
}

// Whoever begins dishonestly reads the six leading bits of the threshold from one answer,
// as the documentation says: it offers all prefixes of up to six bits, each with a secret
// of its own, and sees which of them the other party has. That this works, and with so
// many elements only for so many bits, is why answers are counted.
func TestDishonestBeginnerReadsSixBits(t *testing.T) {
	race.Skip(t)
	random := source(10)
	numbers := rand.New(random)
	var set []element // at index i > 0 the one whose prefix is the node i of a binary tree, continued by 1
	set = append(set, element{owner: beginner})
	for length := range 6 {
		for prefix := range uint64(1) << length {
			set = append(set, element{without: byte(Bits - 1 - length), prefix: prefix<<1 | 1})
		}
	}
	if len(set) != Bits {
		t.Fatalf("%d elements", len(set))
	}
	for range 5 {
		threshold := numbers.Uint64()
		secrets := secretsOf(t, Bits, random)
		answer, err := Answer(threshold, conversation, shut(hashed(set, conversation), secrets), random)
		if err != nil {
			t.Fatal(err)
		}
		has := make([]bool, Bits)
		for i, secret := range secrets {
			theirs, err := parse("", answer[OfferBytes:])
			if err != nil {
				t.Fatal(err)
			}
			has[i] = common(answer[:OfferBytes], list(raise(theirs, secret))) == 1
		}
		node := 1
		for range 6 {
			if has[node] {
				node = 2 * node // the next bit is 0
			} else {
				node = 2*node + 1
			}
		}
		if got, want := uint64(node-1<<6), threshold>>(Bits-6); got != want {
			t.Errorf("read %06b, the threshold begins with %06b", got, want)
		}
	}
}

// Whoever answers dishonestly learns one bit, whatever its elements are: of values which
// have several of them, and of those that have none, the beginner says the same to it.
func TestDishonestAnswererLearnsOneBit(t *testing.T) {
	random := source(11)
	value := uint64(0b1011) << 60
	all := ones(value, Bits) // what only who knows the value could take
	for pairs, exceeds := range []bool{false, true, false, false} {
		c, offer, err := Begin(value, conversation, random)
		if err != nil {
			t.Fatal(err)
		}
		offered, err := parse("", offer)
		if err != nil {
			t.Fatal(err)
		}
		set := zeros(1<<64-1, Bits) // nothing but what fills it up
		for i := range pairs {
			place := []int{60, 61, 63}[i]
			set[place] = all[place]
		}
		secret := secretsOf(t, 1, random)[0]
		answer := append(list(raise(offered, secret)), list(raise(hashed(set, conversation), secret))...)
		got, err := c.End(answer)
		if got != exceeds || (err != nil) != (pairs > 1) {
			t.Errorf("with %d elements of the beginner's: %t, %v", pairs, got, err)
		}
	}
}

// Without the discrete logarithm of the offered elements nobody makes a pair.
func TestReflectedElementsDoNotPair(t *testing.T) {
	c, offer, err := Begin(1<<64-1, conversation, source(12))
	if err != nil {
		t.Fatal(err)
	}
	if exceeds, err := c.End(append(offer[:OfferBytes:OfferBytes], offer...)); exceeds || err != nil {
		t.Errorf("%t, %v", exceeds, err)
	}
}
