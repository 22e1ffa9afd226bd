package attack

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/race"
	"github.com/fbo-node/fbo/random"
	"github.com/fbo-node/fbo/sim"
)

// Of private sums attackers who subtract all that they know keep the noise that the promise
// rests on, at which nothing is found, and nothing could be.
func TestPrivateSumsTellNothingOfOneNode(t *testing.T) {
	race.Skip(t)
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
	r := report(t, Plan{Task: summed, Observations: []int{8}, Repeats: 2, Seed: 1, Noises: []float64{0}})
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
