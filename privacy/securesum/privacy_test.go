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
// traitors learn the sum and nothing else.
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
		mask := through(answers, c.threshold, cfg.Dimension)
		second := newTwin(t, cfg, seed)
		second.change(second.elected(1)[honest[0]], shift, mask, add)
		second.change(second.elected(1)[honest[1]], shift, mask, subtract)
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

// twin is a world whose contributions and coefficients are known.
type twin struct {
	*world
	vectors, coefficients map[int][][]element
}

func newTwin(t testing.TB, cfg Config, seed uint64) *twin {
	w := &twin{world: newWorld(t, cfg, seed), vectors: map[int][][]element{}, coefficients: map[int][][]element{}}
	random := rand.NewChaCha8([32]byte{byte(seed)})
	for i := range w.agents {
		vector := make([]element, cfg.Dimension)
		for k, v := range w.vector(i, 1) {
			vector[k] = encode(v)
		}
		w.vectors[i] = [][]element{vector}
		for range cfg.Committee.Threshold {
			row := make([]element, cfg.Dimension)
			if err := draw(row, random); err != nil {
				t.Fatal(err)
			}
			w.coefficients[i] = append(w.coefficients[i], row)
		}
	}
	return w
}

func (w *twin) change(i int, shift []element, mask [][]element, by func(a, b element) element) {
	for k, s := range shift {
		w.vectors[i][0][k] = by(w.vectors[i][0][k], s)
		for degree, row := range mask {
			w.coefficients[i][degree][k] = by(w.coefficients[i][degree][k], row[k])
		}
	}
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
		deals, err := deal(w.vectors[i][0], w.cfg.Committee.Threshold, w.cfg.Committee.Members, asReader(w.coefficients[i]...))
		if err != nil {
			w.t.Fatal(err)
		}
		e := a.exchange
		if e.current == nil {
			e.open(1)
		}
		e.current.contribute(deals)
		w.carry(i, e.take())
	}
	w.pass(5 * time.Second)
	for _, rank := range traitors {
		public.Write(w.agents[w.elected(1)[rank]].received.Bytes())
	}
	return public.Bytes()
}
