package attack

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/sim"
)

// TestExactSumsDiscloseOneNodeToAllOthers checks what docs/privacy.md states about sums without
// noise: if all other nodes collude, they compute the values of one node from its parts, and its
// designs only to their cells.
func TestExactSumsDiscloseOneNodeToAllOthers(t *testing.T) {
	ids, err := sim.Roster(random.SeedOf(1), 5)
	if err != nil {
		t.Fatal(err)
	}
	var roster []string
	for _, id := range ids {
		roster = append(roster, id.String())
	}
	summed := newTask(t, 2, fmt.Sprintf("surrogate: {features: 64}\nstrategy: {type: peer-prior, share: sum, roster: [%s]}", strings.Join(roster, ", ")))
	r := report(t, Plan{Task: summed, Observations: []int{8}, Repeats: 1, Seed: 1, Noises: []float64{0}})
	alone := r.lineOf(t, "inversion of one node's part, all other nodes collude").Found
	union := r.lineOf(t, "inversion of sums, max_colluding nodes subtract theirs").Found
	if alone.Inputs != 8 || alone.Found > 4 || alone.Values < 5 {
		t.Errorf("%g of %g inputs found from the parts of one node, expected at most 4; %g values, expected at least 5", alone.Found, alone.Inputs, alone.Values)
	}
	if union.Inputs != 24 {
		t.Errorf("%g inputs in the sums of three nodes, expected 24", union.Inputs)
	}
	if err := (Plan{Task: summed, Observations: []int{3}, Repeats: 1, Noises: []float64{0}}).Check(); err == nil || !strings.Contains(err.Error(), "expected 4 to 200") {
		t.Errorf("%v", err)
	}
}
