package peerprior

import (
	"math"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
)

// Before the first observation all parts are equal. Observations with one peak give three false peers
// that agree a smaller part than one peer near the peak.
func TestUsefulParts(t *testing.T) {
	l, s := newCoarseLab(t, plane)
	peers := []protocol.Density{l.place(0.3, 9), l.place(0.95, 9), l.place(0.95, 9), l.place(0.95, 9)}
	for _, count := range []int{0, 12} {
		view := l.view(l.designs(count, random.SeedOf(5)), bump(0.3))
		o, err := s.mixtureOf(saying(view, peers...), 1, random.SeedOf(1))
		if err != nil {
			t.Fatal(err)
		}
		total := 0.0
		for _, part := range o.densityParts {
			total += part
		}
		if math.Abs(total-1) > 1e-12 {
			t.Errorf("after %d observations parts %g, expected a sum of 1", count, o.densityParts)
		}
		if count == 0 && o.densityParts[0] != 0.25 {
			t.Errorf("parts %g, expected equal ones before the first observation", o.densityParts)
		}
		if count > 0 && o.densityParts[0] < 0.5 {
			t.Errorf("after %d observations parts %g, expected at least .5 of the first", count, o.densityParts)
		}
	}
}
