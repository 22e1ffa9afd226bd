package compare

import (
	"math/rand/v2"
	"testing"

	"github.com/cloudflare/circl/group"
)

// shut returns the encoded list of the points, each raised to the secret of the same index.
func shut(points []group.Element, secrets []group.Scalar) []byte {
	for i, p := range points {
		p.Mul(p, secrets[i])
	}
	return list(points)
}

// secretsOf draws count secrets.
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

// A dishonest beginner reads the six leading bits of the threshold from one answer, as documented.
// It offers all prefixes of up to six bits, each with its own secret, and sees which of them the
// other party has. Answers are therefore counted.
func TestDishonestBeginnerReadsSixBits(t *testing.T) { checkDishonestBeginner(t, 1) }

// checkDishonestBeginner reads that many drawn thresholds.
func checkDishonestBeginner(t *testing.T, thresholds int) {
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
	for range thresholds {
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

// A dishonest answerer learns one bit, whatever its elements are: the beginner answers the same for
// values that have several of them and for values that have none.
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

// No party makes a pair without the discrete logarithm of the offered elements.
func TestReflectedElementsDoNotPair(t *testing.T) {
	c, offer, err := Begin(1<<64-1, conversation, source(12))
	if err != nil {
		t.Fatal(err)
	}
	if exceeds, err := c.End(append(offer[:OfferBytes:OfferBytes], offer...)); exceeds || err != nil {
		t.Errorf("%t, %v", exceeds, err)
	}
}
