package attack

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/sim"
)

// Attackers who subtract all that they know from private sums keep the noise that the privacy
// guarantee needs. At that noise they find nothing, and by the bound no attack does.
func TestPrivateSumsDiscloseNothingOfOneNode(t *testing.T) { checkPrivateSums(t, 4, 1) }

// checkPrivateSums attacks that many federations, each node with that many observations.
func checkPrivateSums(t *testing.T, observations, repeats int) {
	ids, err := sim.Roster(random.SeedOf(1), 8)
	if err != nil {
		t.Fatal(err)
	}
	var roster []string
	for _, id := range ids {
		roster = append(roster, id.String())
	}
	summed := newTask(t, 2, fmt.Sprintf("surrogate: {features: 64}\nstrategy: {type: fts-de}\nprivacy: {mechanism: aggregate, epsilon: 4, releases: 6, roster: [%s]}", strings.Join(roster, ", ")))
	noise, err := promised(summed)
	if err != nil {
		t.Fatal(err)
	}
	r := report(t, Plan{Task: summed, Observations: []int{observations}, Repeats: repeats, Seed: 1, Noises: []float64{0}})
	for _, line := range r.Lines {
		if line.Bound && (line.Found.Found > 0 || line.Found.Values > 0) || line.Found.Found > max(line.Baseline.Found, 2) {
			t.Errorf("%s", line.Text())
		}
	}
	r.lineOf(t, boundName)
	// One release holds less signal than noise by its clip norm.
	clip := summed.Privacy.Clip
	if !(noise*math.Sqrt(64) > clip) {
		t.Errorf("noise %g on each of 64 weights, clipped to norm %g", noise, clip)
	}
}
