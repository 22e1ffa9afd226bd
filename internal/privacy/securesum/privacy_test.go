package securesum

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Two worlds with other contributions but the same sum: for whatever agents with
// as many members as the threshold among them see in the first, down to the last
// byte, there is exactly one choice of two contributors' random coefficients in
// the second that shows them the same. So the views are equally likely: the
// traitors learn the sum and nothing else. Commitments are ideal here, they say
// nothing of what they hide; SHA-256 stands for such.
func TestTraitorsSeeTheSumAlone(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := rapid.SampledFrom(attacked).Draw(rt, "case")
		cfg := configOf(t, c.n, committeeOf(t, c.members, c.threshold))
		seed := rapid.Uint64().Draw(rt, "seed")
		order := rapid.Permutation(upTo(c.members)).Draw(rt, "order")
		shift := vectorOf(rt, cfg.Dimension, "shift")
		if slices.Equal(shift, make([]element, cfg.Dimension)) {
			shift[0] = 1
		}

		first := newTwin(t, cfg, seed)
		traitors, honest := order[:c.threshold], order[c.threshold:]
		views := first.run(traitors)
		extra := first.agents[first.elected(1)[honest[0]]].received.Bytes()

		// What one contributor gives more, another gives less; a polynomial that is
		// 1 at 0 and 0 at the traitors' points hides it.
		answers := []answer{{0, shift}}
		for _, rank := range traitors {
			answers = append(answers, answer{element(rank + 1), make([]element, cfg.Dimension)})
		}
		change := through(answers, c.threshold, cfg.Dimension)
		second := newTwin(t, cfg, seed)
		second.change(second.elected(1)[honest[0]], shift, change, 1)
		second.change(second.elected(1)[honest[1]], shift, change, prime-1)
		if again := second.run(traitors); !bytes.Equal(views, again) {
			rt.Fatalf("%v see a difference", traitors)
		}
		if o := second.agents[0].outcomes; !slices.Equal(o[0].Sum, first.agents[0].outcomes[0].Sum) {
			rt.Fatalf("the sums differ: %v", o)
		}
		// One member more would see it.
		if bytes.Equal(extra, second.agents[second.elected(1)[honest[0]]].received.Bytes()) {
			rt.Fatal("nobody could have seen a difference")
		}
	})
}

// twin is a world whose contributions and coefficients are known, those of the masks, too.
type twin struct {
	*world
	vectors      [][]element   // by contributor
	coefficients [][][]element // by contributor and degree
}

func newTwin(t testing.TB, cfg Config, seed uint64) *twin {
	w := &twin{world: newWorld(t, cfg, seed)}
	random := rand.NewChaCha8([32]byte{byte(seed)})
	for i, a := range w.agents {
		a.exchange.commit = func(context []byte, rank int, p part) [32]byte {
			return hashed(context, rank, part{salt: p.salt})
		}
		rows := make([][]element, cfg.Committee.Threshold+1)
		for k := range rows {
			rows[k] = make([]element, cfg.Dimension+masks)
			if err := draw(rows[k], random); err != nil {
				t.Fatal(err)
			}
		}
		for k, v := range w.vector(i, 1) {
			rows[0][k] = encode(v)
		}
		w.vectors, w.coefficients = append(w.vectors, rows[0]), append(w.coefficients, rows[1:])
	}
	return w
}

// change adds multiples of the shift and of the polynomials to what an agent contributes, and
// to its masks what keeps the combinations as they are.
func (w *twin) change(i int, shift []element, polynomials [][]element, times element) {
	weights := w.agents[i].exchange.weights(dealing{1, i}, w.deals(i).header.commitments)
	rows := append([][]element{w.vectors[i]}, w.coefficients[i]...)
	for degree, change := range append([][]element{shift}, polynomials...) {
		for k, c := range change {
			c = multiply(times, c)
			rows[degree][k] = add(rows[degree][k], c)
			for m := range masks {
				rows[degree][w.cfg.Dimension+m] = subtract(rows[degree][w.cfg.Dimension+m], multiply(weights[m][k], c))
			}
		}
	}
}

func (w *twin) deals(i int) deals {
	shares, err := deal(w.vectors[i], w.cfg.Committee.Threshold, w.cfg.Committee.Members, asReader(w.coefficients[i]...))
	if err != nil {
		w.t.Fatal(err)
	}
	var parts []part
	for rank, values := range shares {
		parts = append(parts, part{bytes.Repeat([]byte{byte(rank)}, saltBytes), values})
	}
	d, err := w.agents[i].exchange.seal(1, parts)
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}

// run plays the round and returns all that the traitors, by rank, received, and
// everything but shares that anybody did.
func (w *twin) run(traitors []int) []byte {
	var public bytes.Buffer
	w.sent = func(_, _ int, data []byte) {
		if data[1] != kindShare {
			public.Write(data)
		}
	}
	for _, a := range w.agents {
		a.received = &bytes.Buffer{}
	}
	for i, a := range w.agents {
		e := a.exchange
		if e.current == nil {
			e.open(1)
		}
		e.current.contribute(w.deals(i))
		w.carry(i, e.take())
	}
	w.pass(5 * time.Second)
	for _, rank := range traitors {
		public.Write(w.agents[w.elected(1)[rank]].received.Bytes())
	}
	return public.Bytes()
}
