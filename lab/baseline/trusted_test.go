package baseline

import (
	"math"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/strategy/all"
)

func serverOf(t *testing.T, members int, settings Trusted) *Server {
	t.Helper()
	parsed, err := all.Strategies().Parse("task", []byte(`
name: trusted
goal: maximize
parameters: [{name: x, type: float, low: 0, high: 1}, {name: y, type: float, low: 0, high: 1}]
surrogate: {features: 8}
strategy: {type: ts, initial_designs: 2}`))
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewServer(parsed, members, settings, random.SeedOf(3))
	if err != nil {
		t.Fatal(err)
	}
	for member := range s.samples {
		s.samples[member] = make([]float64, 8)
		for i := range s.samples[member] {
			s.samples[member][i] = float64(member + 1)
		}
	}
	return s
}

// By hand: at first each cell has the average of its own members, in the end all
// have that of everybody.
func TestAveragesOfATrustedServer(t *testing.T) {
	s := serverOf(t, 6, Trusted{Cells: 2, Clip: 1e6, Rate: 1})
	for _, c := range []struct {
		round uint64
		want  [2]float64
	}{{1, [2]float64{3, 4}}, {41, [2]float64{3.5, 3.5}}} {
		for cell, average := range s.averages(c.round) {
			for _, v := range average {
				if math.Abs(v-c.want[cell]) > 1e-5 {
					t.Errorf("round %d, cell %d: %v, want %g", c.round, cell, average, c.want[cell])
					break
				}
			}
		}
	}
	s.samples[5] = nil // it has not begun: its place is empty, not divided among the others
	if got := s.aggregate(41)[0][0]; math.Abs(got-15.0/6) > 1e-9 {
		t.Errorf("without the last one %g, want 2.5", got)
	}
}

// The noise on each weight has the deviation z·w_max·S/q. Over 50 rounds of 2·8
// numbers the estimate is within 15 % with a probability of more than 1 - 1e-4.
func TestNoiseOfATrustedServer(t *testing.T) {
	for _, members := range []int{4, 40} {
		s := serverOf(t, members, Trusted{Cells: 2, Clip: 5, Rate: 0.5, Noise: 3})
		clear(s.samples)
		square, count := 0.0, 0
		for round := range uint64(50) {
			for _, average := range s.averages(round + 100) { // all cells count the same by then
				for _, v := range average {
					square += v * v
					count++
				}
			}
		}
		want := 3 * 5 / 0.5 / float64(members)
		if got := math.Sqrt(square / float64(count)); math.Abs(got/want-1) > 0.15 {
			t.Errorf("%d members: deviation %g, want %g", members, got, want)
		}
	}
}

// Each member is in a round's sum with probability q, and counts 1/q then: the mean
// over rounds is that without selection. Its standard error is 2 % here.
func TestSelectionOfATrustedServerIsUnbiased(t *testing.T) {
	s := serverOf(t, 10, Trusted{Cells: 1, Clip: 1e6, Rate: 0.35})
	sum := 0.0
	const rounds = 400
	for round := range uint64(rounds) {
		sum += s.averages(round + 1)[0][0] / rounds
	}
	if math.Abs(sum/5.5-1) > 0.08 {
		t.Errorf("mean %g, want 5.5", sum)
	}
	if a, b := s.averages(7)[0][0], s.averages(7)[0][0]; a != b {
		t.Errorf("a round has the averages %g and %g", a, b)
	}
}
