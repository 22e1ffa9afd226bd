package coarsen

import (
	"reflect"
	"testing"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
)

const branches = "{name: m, type: categorical, choices: [a, b]}, {name: n, type: int, low: 1, high: 9}, " +
	"{name: y, type: float, low: 0, high: 1, when: {m: a}}, {name: c, type: categorical, choices: [p, q, r], when: {n: {low: 4}}}, " +
	"{name: fixed, type: categorical, choices: [x]}"

// Points with the same coarse parents, in which a parameter is inactive, have the same coarse value
// of it. If it is inactive by the coarse parents, that is the value of inactive parameters, also if
// it is active in the point.
func TestCoarseInactiveParameters(t *testing.T) {
	spec := newTask(t, "a", branches)
	revived, dropped := 0, 0
	for key := range 40 {
		g := newGrid(t, key, spec)
		rng := random.SeedOf(uint64(key)).Stream("points", 0)
		values := map[[2]bool]map[any]bool{} // coarse values of y and c, where inactive in the point and active in the coarse one
		for range 50 {
			p := protocol.PointAt(spec.Space, acquisition.Sample(spec.Space, rng))
			coarse := g.Coarse(p)
			before, after := make([]bool, spec.Space.Len()), make([]bool, spec.Space.Len())
			spec.Space.Active(before, p.Encoded(spec.Space))
			u := coarse.Encoded(spec.Space)
			spec.Space.Active(after, u)
			imputed := append([]float64(nil), u...)
			spec.Space.Impute(imputed)
			if !reflect.DeepEqual(u, imputed) || !reflect.DeepEqual(protocol.PointAt(spec.Space, imputed), coarse) {
				t.Fatalf("%v: inactive parameters of %v are not imputed", p, coarse)
			}
			for i, value := range map[int]any{2: coarse.Coordinates[1], 3: coarse.Choices[1]} {
				switch {
				case !before[i] && after[i]:
					revived++
					which := [2]bool{i == 2, true}
					if values[which] == nil {
						values[which] = map[any]bool{}
					}
					values[which][value] = true
				case before[i] && !after[i]:
					dropped++
				}
			}
		}
		for which, seen := range values {
			if len(seen) != 1 {
				t.Errorf("key %d, parameter %v: %d values in place of an inactive one", key, which, len(seen))
			}
		}
	}
	if revived < 20 || dropped < 20 {
		t.Errorf("%d parameters became active and %d inactive; expected both often", revived, dropped)
	}
}

// Over keys, the value in place of an inactive parameter is spread as coarse values are.
func TestCoarseInactiveValuesDifferBetweenKeys(t *testing.T) {
	spec := newTask(t, "a", "{name: m, type: categorical, choices: [a, b]}, {name: y, type: float, low: 0, high: 1, when: {m: a}}")
	seen := map[float64]int{}
	for key := range 200 {
		p := protocol.PointOf(spec.Space, spec.Space.Decode([]float64{0, 1, 0.5}))
		coarse := newGrid(t, key, spec).Coarse(p)
		if coarse.Choices[0] == 0 { // active by the coarse choice
			seen[coarse.Coordinates[0]]++
		}
	}
	if len(seen) < 20 {
		t.Errorf("%d different values over %d keys", len(seen), len(seen))
	}
}
